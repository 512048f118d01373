# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes calls that may hang in the kernel, for example on a file system whose storage no longer answers. Each call runs
in its own process.

Private to this collection; it may change at any time.
"""

import json
import os
import select
import signal
import time

from . import _process


class TimeLimitError(Exception):
    """A call did not answer in time, or it failed. The message says which."""


class NoAnswerError(TimeLimitError):
    """A call did not answer in time."""


def call_all(functions, limit_s, undo=None):
    """Call all functions at the same time, without arguments. Return the result of each function, or a TimeLimitError.

    Functions may return only what JSON can represent. A process that cannot be killed is left behind. It ends when its
    call returns. With ``undo``, no process is killed. Instead, if a function answers too late, ``undo`` is called with
    its result, to remove what the function created.
    """
    children = [_start(function, undo) for function in functions]
    deadline_s = time.monotonic() + limit_s
    try:
        texts = _read_all([descriptor for dummy, descriptor in children], deadline_s)
    finally:
        # All processes are ended first. Otherwise, one of them could still write an answer while another is being
        # waited for, and this answer would be neither read nor undone.
        for dummy, descriptor in children:
            os.close(descriptor)
        for pid, dummy in children:
            _end(pid, kill=not undo)
    return [_answer(text, limit_s) for text in texts]


def _start(function, undo):
    """Return the process, and the descriptor from which its answer can be read."""
    reader, writer = os.pipe()
    # Only the parent may hold the reading end. Otherwise, a process that hangs would prevent the others from noticing
    # that there is no longer a reader.
    pid = _process.detached(lambda: _tell(writer, _called(function), undo), (writer,))
    os.close(writer)
    return pid, reader


def _tell(writer, content, undo):
    """Write the answer of a function. If the answer is no longer read, undo the function's work."""
    text = json.dumps(content).encode("utf-8", "surrogateescape")
    try:
        while text:
            text = text[os.write(writer, text) :]
    except OSError:
        if undo and "value" in content:
            undo(content["value"])


def _called(function):
    try:
        return dict(value=function())
    except Exception as error:  # the parent reports any exception
        return dict(error=str(error) or type(error).__name__)


def _read_all(descriptors, deadline_s):
    """Return the complete text from each descriptor; None if it was not complete in time."""
    texts, open_ones = dict((descriptor, b"") for descriptor in descriptors), set(descriptors)
    while open_ones:
        ready = select.select(sorted(open_ones), [], [], max(0, deadline_s - time.monotonic()))[0]
        if not ready:
            break
        for descriptor in ready:
            part = os.read(descriptor, 65536)
            texts[descriptor] += part
            if not part:
                open_ones.discard(descriptor)
    return [None if descriptor in open_ones else texts[descriptor] for descriptor in descriptors]


def _end(pid, kill):
    """Wait for the end of the process, unless it hangs; ``kill`` specifies whether to kill it first."""
    if kill:
        _process.send(pid, signal.SIGKILL)
    _process.wait_until(lambda: os.waitpid(pid, os.WNOHANG)[0] != 0, 0.2, 0.005)


def _answer(text, limit_s):
    if text is None:
        return NoAnswerError("no answer within %d s" % limit_s)
    try:
        content = json.loads(text.decode("utf-8", "surrogateescape"))
    except ValueError:
        return TimeLimitError("its process ended without an answer")
    return TimeLimitError(content["error"]) if "error" in content else content["value"]
