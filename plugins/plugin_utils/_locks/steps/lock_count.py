# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines how many locks a host can hold at the same time."""

from __future__ import annotations

from ..stage import Stage
from ..step import Figures, undecided

LOCKERS = 8
COUNT_S = 300.0
"""How long locking the files may take, also if each call takes some seconds."""


def lock_count(stage: Stage, files: int) -> Figures:
    """Return how many of ``files`` files several processes can lock at the same time. Raises StepEnd if anything other
    than the limit of the file server (ENOLCK) prevents some of the locks."""
    shares = [files // LOCKERS + (number < files % LOCKERS) for number in range(LOCKERS)]
    lockers = [stage.holder.start() for share in shares if share]
    for number, (locker, share) in enumerate(zip(lockers, filter(None, shares), strict=True)):
        locker.tell("many", f"many{number}", share)
    answers = [locker.done("many", COUNT_S) for locker in lockers]
    errors = {answer.text("errno") for answer in answers} - {"-", ""}
    figures = {
        "locks_held": sum(answer.whole("held") for answer in answers),
        "locks_asked": files,
        "errno": ", ".join(sorted(errors)),
    }
    if figures["locks_held"] < files and errors != {"ENOLCK"}:
        raise undecided("call_failed", host=stage.holder.host, verb="locking many files", **figures)
    return figures
