# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures and settings for all unit tests."""

from __future__ import annotations

from hypothesis import settings

# Hypothesis has no deadline, because a timeout on a slow machine proves nothing about the code.
settings.register_profile("unit", deadline=None)
settings.load_profile("unit")
