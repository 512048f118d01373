# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of runs, a folder each, with everything that only runs of this kind need. ``_run/kinds.py`` lists the
kinds and finds their modules. Only the steps, and the other modules of the folder, import these modules directly."""
