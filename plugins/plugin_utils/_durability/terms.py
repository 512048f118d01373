# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rewords messages for power cuts. Their files are planned with the variables of a sweep, but users set other
variables."""

from __future__ import annotations

import re

_CUT_VARIABLES = {
    "sweep_block_sizes": "cut_block_size",
    "sweep_file_size": "cut_file_size",
    "sweep_files": "cut_files",
    "sweep_queue_managers": "cut_queue_managers",
}


def in_terms_of_cuts(message: str) -> str:
    """Return a message about variables of the sweep, reworded for the variables of power cuts."""
    return re.sub("|".join(_CUT_VARIABLES), lambda found: _CUT_VARIABLES[found[0]], message)
