# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The samples of a source about a live queue manager, and the data that is derived from them: intervals, the tester's
tables, text. This package never reads a clock."""
