# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Power cuts: what was seen of the writes before a cut, what the disks held after it, and what the two show together.
Only the witness reads clocks and files."""
