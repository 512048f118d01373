# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Programs that run on hosts over a separate connection while an action continues, and commands of the user on the
controller. Tests of locks and power cuts use both."""
