# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a source on a host said about a live queue manager, and what follows from it: intervals, the tester's tables,
text. It reads samples and no clock."""
