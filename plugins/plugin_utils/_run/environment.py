# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines where the controller runs (in a shell, under ansible-runner, in AWX), and how messages name playbooks."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ...module_utils import _mounts
from .files import absolute

REPORTS = "reports"
"""The default directory of reports, in the working directory."""
_ARTIFACTS = "AWX_ISOLATED_DATA_DIR"
"""The directory whose files ansible-runner returns: artifacts/<ident> in its private directory. Jobs of AWX also have
it, but AWX deletes it."""
_JOB = "JOB_ID"
"""Only AWX sets this variable."""


def in_awx() -> bool:
    """Whether this is a job of AWX or Automation Platform."""
    return bool(os.environ.get(_ARTIFACTS) and os.environ.get(_JOB))


def report_directory(named: str) -> str:
    """Return the absolute path of the directory of reports that gate_report_dir names. If gate_report_dir is empty,
    this is the directory whose files ansible-runner returns."""
    artifacts = os.environ.get(_ARTIFACTS)
    return absolute(named or (os.path.join(artifacts, "logdisk") if artifacts and not in_awx() else REPORTS))


def vanishes(path: str) -> bool:
    """Whether a path is deleted with the job, because it is in the job's own directory, or in the container but outside
    its mounts."""
    if not in_awx():
        return False
    private = os.path.realpath(os.path.join(os.environ[_ARTIFACTS], os.pardir, os.pardir))
    path = os.path.realpath(path)
    if os.path.commonpath((private, path)) == private:
        return True
    # st_dev would not do: a directory of the same file system may be mounted, and a subvolume has its own number.
    mount = _mounts.mount_of(path)
    return not mount or mount == _mounts.mount_of(os.sep)


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
