# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Moments as run directories write them."""

from __future__ import annotations

import datetime

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""How a moment is written: ISO 8601 in UTC, whole seconds, with Z."""


def utc_now() -> str:
    """Return the current time as run directories write it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime(MOMENT)


def utc_text(epoch_s: float) -> str:
    """Return seconds since 1970 as run directories write a moment."""
    return datetime.datetime.fromtimestamp(epoch_s, datetime.timezone.utc).strftime(MOMENT)
