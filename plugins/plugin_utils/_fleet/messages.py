# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prints messages on the screen, and passes what steps find out from Ansible's workers to the callback."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from ansible import constants
from ansible.utils.color import stringc

from .._run.environment import as_started
from .follow_up import inventory_sources, playbooks_in

try:
    from ansible.module_utils.secrets import mask_secrets
except ImportError:  # before version 2.22 of ansible-core

    def mask_secrets(value: str) -> str:
        return value


WIDEST = 200
"""The largest number of characters of a line of text."""

SCREEN = "screen"
"""The kind of a notice with a text to print."""

ANSIBLE_DISPLAY = "ansible.utils.display"
"""The module that defines the printing method."""

JSON_CALLBACKS = ("json", "jsonl", "ndjson")
"""Stdout callbacks, by the last part of their names, whose output is read by programs, so nothing else may be
printed."""

_said: set[str] = set()


def first_to_say(what: str) -> bool:
    """Return True only for the first call with each ``what``, because the callback can be loaded twice in one process,
    by the configuration and by the shim in the playbooks' folder."""
    first = what not in _said
    _said.add(what)
    return first


def say(display: Any, text: str, color: str | None = None, places: Iterable[str] = ()) -> None:
    """Print ``text``, with playbooks named as in this command and long lines wrapped, unless standard output belongs
    to a callback that prints JSON.

    From version 2.22 on, ansible-core masks secrets wherever they occur, for example a password "ansible" below
    /home/ansible. ``places`` are the paths in the text that stay as they are, because commands and links need them.
    """
    if is_json(constants.DEFAULT_STDOUT_CALLBACK):
        return
    directory = playbooks_in()
    whole = "\n".join(map(_wrapped, as_started(text, directory).split("\n")))
    shown = _with_places(whole, [*places, *inventory_sources(), directory or ""])
    in_worker = multiprocessing.parent_process() is not None
    if shown == mask_secrets(whole) or (in_worker and _notices is None):
        printer(display)(whole, color=color)
    elif in_worker:
        tell({"kind": SCREEN, "text": shown, "color": color})
    else:
        show_unmasked(shown, color)


def _with_places(text: str, places: Iterable[str]) -> str:
    """Return a text in which secrets are masked, except in the places. A place that is a part of a longer word, such as
    the inventory "prod" in a password "prod-1", may belong to a secret."""
    known = sorted(filter(None, places), key=len, reverse=True)
    words = rf"(?<![^\s='\"])({'|'.join(map(re.escape, known))})(?![^\s/'\"])"
    parts = re.split(words, text) if known else [text]
    return "".join(part if number % 2 else mask_secrets(part) for number, part in enumerate(parts))


def show_unmasked(text: str, color: str | None) -> None:
    """Print a text in the main process, past Ansible's display, which would mask places."""
    sys.stdout.write(f"{stringc(text, color) if color else text}\n")


_notices: int | None = None
_read_bytes = 0


def listen() -> None:
    """Let the workers of this process tell it something: they inherit an open file. The results of tasks would not do,
    because ansible-core masks them before callbacks see them."""
    global _notices
    if _notices is None:
        made, path = tempfile.mkstemp(prefix="logdisk-")
        _notices = os.open(path, os.O_RDWR | os.O_APPEND)
        os.close(made)
        os.unlink(path)


def tell(notice: Mapping[str, Any]) -> None:
    """Tell the main process something, if it listens."""
    if _notices is not None:
        os.write(_notices, f"{json.dumps(notice, default=str)}\n".encode())


def told() -> list[dict[str, Any]]:
    """Return what was told since the last call."""
    global _read_bytes
    if _notices is None:
        return []
    # Processes share the position of the file, so it is not used.
    lines = os.pread(_notices, os.fstat(_notices).st_size - _read_bytes, _read_bytes)
    _read_bytes += len(lines)
    return [json.loads(line) for line in lines.splitlines()]


def _wrapped(line: str) -> str:
    """Return a line, wrapped into lines that are not too wide. Commands can still be copied, and words such as paths
    are never broken."""
    if len(line) <= WIDEST:
        return line
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    end = " \\" if text.startswith("ansible-playbook ") else ""
    more = {"break_long_words": False, "break_on_hyphens": False}
    lines = textwrap.wrap(text, WIDEST - len(end), initial_indent=indent, subsequent_indent=f"{indent}  ", **more)
    return f"{end}\n".join(lines)


def printer(display: Any) -> Callable[..., None]:
    """Return the method that prints. In a worker of Ansible, this is the method of ansible-core, which sends the text
    to the main process.

    ansible-runner before 2.4.2 wraps this method. Its wrapper also writes to the standard output of the worker, and
    newer versions of ansible-core complain about that.
    """
    method = inner = display.display
    while (
        multiprocessing.parent_process()
        and hasattr(inner, "__wrapped__")
        and inner.__globals__["__name__"] != ANSIBLE_DISPLAY
    ):
        inner = inner.__wrapped__
    return method if inner is method else partial(inner, display)


def is_json(stdout_callback: str | None) -> bool:
    """True if the stdout callback with this name prints JSON."""
    return str(stdout_callback).rpartition(".")[2] in JSON_CALLBACKS
