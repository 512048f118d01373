# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Locks: who is tested with whom, the conversation with the lockers on both hosts, and the steps of the test. The steps
state what happened; limits and verdicts belong to the judge. Only agents and commands touch processes and clocks."""
