# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Formats times for run directories."""

from __future__ import annotations

import datetime

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""The format of times: ISO 8601 in UTC, in whole seconds, with Z."""


def utc_now() -> str:
    """Return the current time in the format of run directories."""
    return datetime.datetime.now(datetime.timezone.utc).strftime(MOMENT)


def utc_text(epoch_s: float) -> str:
    """Return a time, given in seconds since 1970, in the format of run directories."""
    return datetime.datetime.fromtimestamp(epoch_s, datetime.timezone.utc).strftime(MOMENT)
