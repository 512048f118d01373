# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Estimates what queue managers can expect from a volume, from a latency sweep. An estimate is never a verdict.
docs/estimates.md explains the model."""
