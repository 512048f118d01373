#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: history
short_description: Maintain the history of certificates
description:
  - Imports certificates from run directories, imports results of IBM's mqldt, revokes a certificate or a volume, and
    removes old entries, in this order.
  - At least one of O(import_runs), O(import_mqldt), O(revoke) and O(prune_before) is required.
  - A history can be rebuilt from run directories and mqldt's files at any time. Entries that already exist are not
    changed.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
  - mqops.logdisk.controller.history
options:
  import_runs:
    description:
      - Run directories on the controller, or directories that contain run directories.
      - A record or a certificate is refused if its tables contradict it.
    type: list
    elements: str
  import_mqldt:
    description:
      - CSV files on the controller that mqldt wrote with C(--csvFile). Each run in them becomes an entry that changes
        no state.
      - The mean latency of mqldt is biased, so it is stored under another name. Throughput, and the smallest and
        largest latency, can be compared.
    type: list
    elements: str
  mqldt_host:
    description:
      - The inventory name of the host on which O(import_mqldt) was measured.
      - If it is empty, each file's name must contain it, for example C(db07-2019-05-04.csv) or
        C(QM1_db07_2019-05-04.csv) for the host C(db07).
    type: str
    default: ""
  mqldt_dates:
    description:
      - The times at which the runs in O(import_mqldt) were measured, one for each run, in the order of the file.
        O(import_mqldt) must then be a single file. Each is a day such as V(2019-05-04), or a time in UTC such as
        V(2019-05-04T13:00:00Z).
      - If a file contains a single run, its name can contain the day instead.
    type: list
    elements: str
  mqldt_volume:
    description: The name of the volume on which O(import_mqldt) was measured.
    type: str
    default: log
  revoke:
    description:
      - The certificate to withdraw, given by its SHA-256 or the beginning of it.
      - Alternatively, a volume that is no longer needed, given by host and mount point such as V(db07:/mnt/old), or
        V(db07/data:/mnt/old) for the volume C(data). All entries of the volume are withdrawn, so that it no longer
        needs to be certified.
    type: str
  reason:
    description: The reason for the withdrawal with O(revoke).
    type: str
    default: ""
  prune_before:
    description:
      - A day such as V(2026-11-21). Entries that were judged before this time are removed, and so are older run
        directories in O(report_dir) that no longer have an entry.
      - Entries that determine the present state of a volume are kept, together with their run directories. Runs that
        are not in the history are also kept.
    type: str
  report_dir:
    description: Directory on the controller that contains the run directories.
    type: str
    required: true
attributes:
  check_mode:
    description: In check mode, the module does nothing.
    support: none
"""

EXAMPLES = r"""
- name: Rebuild the history from the reports
  mqops.logdisk.history:
    import_runs: [reports]
    report_dir: reports

- name: Import two runs of mqldt from one file
  mqops.logdisk.history:
    import_mqldt: [san_log.csv]
    mqldt_host: db07
    mqldt_dates: ["2019-05-04", "2020-05-09"]
    report_dir: reports
"""

RETURN = r"""
done:
  description: Sentences that say what was done.
  returned: if the history can be opened
  type: list
  elements: str
problems:
  description: One sentence for each run, volume or file that could not be imported.
  returned: if the history can be opened
  type: list
  elements: str
"""
