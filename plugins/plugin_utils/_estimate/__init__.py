# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What queue managers can expect from a volume: estimates from a latency sweep, never a verdict.
docs/estimates.md explains the model."""
