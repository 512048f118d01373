# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sources that observe a live queue manager. Each module in this package reads the samples that the module with the
same name in module_utils/_sources collects. Each has read(), SOURCE (its name), TITLE (what it sees) and CAVEAT (what
its figures do not show).
"""

from __future__ import annotations

from typing import Any

from . import amqsrua, bpftrace, prometheus

SOURCES: dict[str, Any] = {module.SOURCE: module for module in (prometheus, amqsrua, bpftrace)}
