# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes plain data as text that is always the same, so that its SHA-256 identifies it."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(content: Any) -> str:
    """Return plain data as canonical text: JSON in ASCII with sorted keys, indented by one blank, with numbers as
    Python writes them, and a final line end."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"


def fingerprint(content: Any) -> str:
    """Return the SHA-256 of plain data in its canonical text."""
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()
