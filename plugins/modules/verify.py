#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: verify
short_description: Verify signed runs
description:
  - Verifies with C(ssh-keygen) who signed a run, compares every file in its directory with the signed list, and prints
    the result. No host is contacted.
  - Fails if a run is not signed, if its signature is not valid, if it was not made by an allowed signer, or if a file
    was changed, added or removed after signing.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
options:
  runs:
    description: Run directories on the controller. The task fails if it is empty.
    type: list
    elements: str
  signers:
    description:
      - File of allowed signers on the controller, as described in C(ssh-keygen(1)). A key that has expired, or that is
        not allowed in the namespace C(run@mqops.logdisk), is not an allowed signer.
      - The task fails if it is empty.
    type: str
    default: ""
  principal:
    description: The principal who must have signed the run. If empty, any allowed signer is accepted.
    type: str
    default: ""
  date:
    description:
      - The time at which the key of the signer must be valid, as a day such as V(2026-11-21) or a time such as
        V(2026-11-21T10:49:35Z). If empty, the current time is used.
      - A signature does not prove when it was made. Set a time only if you know from another source that the signature
        existed then.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Verify the newest run
  mqops.logdisk.verify:
    runs: [reports/latest]
    signers: allowed_signers
"""

RETURN = r"""
verified:
  description: The IDs of the runs that have a valid signature and have not changed since they were signed.
  returned: if the file of allowed signers can be read
  type: list
  elements: str
problems:
  description: The reasons why runs could not be verified, one sentence for each file. Only the first few reasons for
    each run are listed.
  returned: if the file of allowed signers can be read
  type: list
  elements: str
"""
