# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sources that observe a live queue manager: for each the module that reads its samples.

Such a module has read(), and SOURCE, its name; TITLE, what it sees; CAVEAT, what its figures do not show; OF_AVERAGES,
whether it reads what MQ publishes.
"""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe import amqsrua, bpftrace, prometheus

SOURCES = {each.SOURCE: each for each in (prometheus, amqsrua, bpftrace)}
