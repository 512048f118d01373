# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines how messages name playbooks: by a path if the command was started with a path, and otherwise by their name
in the collection.

All sentences refer to playbooks of this collection in the form ``playbooks/status.yml``. Code that prints or renders
them calls ``as_started``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

FOLDER = "playbooks"
_PLAYBOOKS = frozenset(path.name for path in (Path(__file__).parents[3] / FOLDER).glob("*.yml"))
_NAMED = re.compile(rf"(?<![\w./-]){FOLDER}/({'|'.join(sorted(name[:-4] for name in _PLAYBOOKS))})\.yml\b")
_PLAIN = re.compile(r"[\w./+-]+")
"""A directory whose name needs no quotes in a shell or on a page."""


def has_playbooks(directory: str) -> bool:
    """Whether a directory contains the playbooks of this collection. In an AWX project, they do not belong to the same
    copy of the collection as the running plugins."""
    return bool(_PLAIN.fullmatch(directory)) and os.path.isdir(directory) and set(os.listdir(directory)) >= _PLAYBOOKS


def as_started(text: str, directory: Any) -> str:
    """Return ``text`` with playbooks named as in the command that was started. If ``directory`` cannot be a directory
    of playbooks, the text is returned unchanged."""
    if not isinstance(directory, str) or FOLDER not in text or (directory and not _PLAIN.fullmatch(directory)):
        return text
    return _NAMED.sub(
        lambda found: os.path.join(directory, f"{found[1]}.yml") if directory else f"mqops.logdisk.{found[1]}", text
    )
