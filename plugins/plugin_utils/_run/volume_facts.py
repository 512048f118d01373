# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facts about a volume that are true under every profile. Lost writes would be another such fact, but power cuts have
separate results."""

from __future__ import annotations

IO_ERROR = "io_error"
STALL = "stall"
WRONG_DATA = "wrong_data"

WORDS = {IO_ERROR: "had an I/O error", STALL: "stalled beyond the limit", WRONG_DATA: "read back wrong data"}
"""Phrases about what a volume did, by fact."""
