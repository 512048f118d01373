# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The test of locks: which hosts are tested with each other, the communication with the lockers on both hosts, and the
steps of the test. The steps report what happened; ``_judge`` applies limits and decides verdicts. Only agents and
commands use processes and clocks."""
