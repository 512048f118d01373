# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The test of locks: whether two hosts that share a directory exclude each other, and how soon one of them takes over
when the other one is lost."""
