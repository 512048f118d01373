# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: logdisk_report
type: aggregate
short_description: Loads the report callback for the playbooks of mqops.logdisk
description:
  - Ansible loads the plugins in this directory for all playbooks beside it, whether or not the
    configuration enables them.
  - If the configuration also enables the report callback, the summary is printed only once.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.report
"""

from ansible_collections.mqops.logdisk.plugins.callback.report import CallbackModule as ReportCallback


class CallbackModule(ReportCallback):
    """The report callback, which is enabled automatically for these playbooks."""

    CALLBACK_NAME = "logdisk_report"
    CALLBACK_NEEDS_ENABLED = False
