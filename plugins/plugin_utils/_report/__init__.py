# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This code is private to the collection and may change at any time.

"""The report of a run directory: every format from one model, written aside and renamed, and nothing at all where it is up to date.

render() serves the gate, the callback and the playbook that reports again; it needs nothing but the run directory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .._files import read_file, write_file, written_aside
from .._run_directory import RunDirectory
from . import _csv, _html, _json, _junit, _markdown, _text
from ._model import Model, build_model

RENDERERS: dict[str, Callable[[Model], Iterator[str]]] = {
    'report.json': _json.render,
    'results.csv': _csv.render,
    'junit.xml': _junit.render,
    'report.md': _markdown.render,
    'index.html': _html.render,
    'summary.txt': _text.render,
}
"""The report's files and who writes them."""

_STATE = '.rendered.json'
_STATE_VERSION = 1
_MAX_SMALL_BYTES = 64 << 20


@dataclass(frozen=True)
class Report:
    """A rendered report: the absolute path of each file by its name, the summary's text, and whether anything was written."""

    paths: dict[str, str]
    summary: str
    changed: bool


def render(run_directory: RunDirectory | str, force: bool = False) -> Report:
    """Write every file of the report; with force also where it is complete and up to date. Raises OSError where it cannot be read or written."""
    run_directory = _opened(run_directory)
    paths = {name: os.path.join(run_directory.path, name) for name in RENDERERS}
    digest = _digest(run_directory)
    changed = force or not _is_current(run_directory, digest)
    if changed:
        model = build_model(run_directory)
        for name, write in RENDERERS.items():
            _write(paths[name], write(model))
        sizes = {name: os.path.getsize(path) for name, path in paths.items()}
        write_file(os.path.join(run_directory.path, _STATE), json.dumps({'version': _STATE_VERSION, 'digest': digest, 'sizes': sizes}).encode('ascii'))
    return Report(paths, _summary(run_directory), changed)


def summary(run_directory: RunDirectory | str) -> str:
    """Return the text to show after the play recap; the report is rendered first where it is not complete and up to date. Raises OSError."""
    return render(run_directory).summary


def _opened(run_directory: RunDirectory | str) -> RunDirectory:
    return run_directory if isinstance(run_directory, RunDirectory) else RunDirectory.open(run_directory)


def _summary(run_directory: RunDirectory) -> str:
    text = read_file(os.path.join(run_directory.path, 'summary.txt'), _MAX_SMALL_BYTES).decode('utf-8')
    return f'{text}  report   {os.path.join(run_directory.path, "index.html")}\n'


def _write(path: str, pieces: Iterator[str]) -> None:
    with written_aside(path) as file:
        for piece in pieces:
            file.write(piece.encode('utf-8', 'backslashreplace'))


def _digest(run_directory: RunDirectory) -> str:
    """Return a digest of all that the report is made from: run, verdict, and which records were filed when."""
    digest = hashlib.sha256()
    for name in ('run.json', 'verdict.json'):
        path = os.path.join(run_directory.path, name)
        digest.update(read_file(path, _MAX_SMALL_BYTES) if os.path.lexists(path) else b'absent')
        digest.update(b'\0')
    for folder in run_directory.folders():
        status = os.lstat(os.path.join(run_directory.path, folder, 'record.json'))
        digest.update(f'{folder}\0{status.st_size}\0{status.st_mtime_ns}\0'.encode('utf-8', 'surrogateescape'))
    return digest.hexdigest()


def _is_current(run_directory: RunDirectory, digest: str) -> bool:
    state = _state(run_directory)
    if (state.get('version'), state.get('digest')) != (_STATE_VERSION, digest):
        return False
    sizes = state.get('sizes') or {}
    paths = {name: os.path.join(run_directory.path, name) for name in RENDERERS}
    return all(os.path.isfile(path) and os.path.getsize(path) == sizes.get(name) for name, path in paths.items())


def _state(run_directory: RunDirectory) -> dict[str, Any]:
    try:
        state = json.loads(read_file(os.path.join(run_directory.path, _STATE), _MAX_SMALL_BYTES))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
