# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


class ModuleDocFragment:
    """Options of the modules that work on a run on a host."""

    DOCUMENTATION = r"""
options:
  run_id:
    description: ID of the run.
    type: str
    required: true
"""

    STATE_DIR = r"""
options:
  state_dir:
    description: Directory on the host for the state and the tables of runs. If possible, choose a file system
      other than the one under test.
    type: str
    required: true
"""

    USER = r"""
options:
  user:
    description: The user that this module must run as. The module fails if it runs as another user. If
      empty, any user is accepted.
    type: str
    default: ""
"""

    TESTER = r"""
options:
  source_dir:
    description: Directory on the controller that contains the sources of the tester.
    type: path
  method:
    description: Whether to compile the tester on the host or to copy a static binary to it.
    type: str
    choices: [compile, binary]
    default: compile
  binary:
    description: Path of the static binary on the controller, for O(method=binary). If empty, one
      is built on the controller.
    type: path
    default: ""
"""

    QUEUE_MANAGERS = r"""
options:
  mqs_ini:
    description: Path of the file that lists the queue managers.
    type: path
    default: /var/mqm/mqs.ini
  planned_queue_managers:
    description:
      - Queue managers that are to be created. They are returned with the others. If one of them already exists, its
        files are used instead.
      - If a setting is left out, the value in C(LogDefaults) of C(mqs.ini) is used, or else the product's default.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the queue manager.
        type: str
        required: true
      log_path:
        description: Directory of the recovery log. It need not exist. If left out, it is a new directory below the
          default directory of logs.
        type: path
      log_file_pages:
        description: Size of a log file in pages of 4096 bytes.
        type: int
      log_primary_files:
        description: Number of primary log files.
        type: int
      log_secondary_files:
        description: Number of secondary log files. MQ allows up to 511 files together.
        type: int
      log_buffer_pages:
        description: Size of the log buffer in pages of 4096 bytes. V(0) means 512 pages.
        type: int
"""
