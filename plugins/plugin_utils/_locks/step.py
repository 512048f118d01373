# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a step of the test: its outcome, the cause if the outcome is not "kept", and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._run.lock_steps import BROKEN, KEPT, NOT_COVERED, UNDECIDED
from .protocol import ProtocolError

STAGE = "lock test"
"""The stage that records name if the locks of a host cannot be tested."""

Figures = dict[str, Any]
"""Numbers and short texts. The names of numbers contain their units."""


class StepEnd(Exception):
    """Ends a step early, with an outcome other than "kept"."""

    def __init__(self, outcome: str, cause: str, figures: Figures) -> None:
        super().__init__(figures.get("said") or f"{outcome}: {cause}")
        self.outcome, self.cause, self.figures = outcome, cause, figures


class AbandonedError(Exception):
    """The process that started the test has ended, so nobody waits for its result."""


def broken(cause: str, **figures: Any) -> StepEnd:
    """Return the exception that ends a step because the storage was proven not to do what locks require."""
    return StepEnd(BROKEN, cause, figures)


def undecided(cause: str, **figures: Any) -> StepEnd:
    """Return the exception that ends a step without a conclusion about the storage."""
    return StepEnd(UNDECIDED, cause, figures)


def not_covered(cause: str, **figures: Any) -> StepEnd:
    """Return the exception that ends a step because it could not be carried out on these hosts."""
    return StepEnd(NOT_COVERED, cause, figures)


def outcome_of(function: Callable[[], Figures]) -> tuple[str, str, Figures]:
    """Call a step, which returns figures if it succeeds, and return its outcome, cause and figures."""
    try:
        return KEPT, "", function()
    except StepEnd as end:
        return end.outcome, end.cause, end.figures
    except ProtocolError as error:
        return UNDECIDED, "agent_lost", {"said": str(error)}
    except AbandonedError:
        raise
    except Exception as error:  # the results of other pairs, some of which cost a power cut, must not be lost with it
        return UNDECIDED, "internal_error", {"said": f"{type(error).__name__}: {error}"[:300]}


def as_dict(name: str, holder: str, other: str, found: tuple[str, str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a step in the form in which records contain it."""
    outcome, cause, figures = found
    return {
        "step": name,
        "holder": holder,
        "other": other,
        "outcome": outcome,
        "cause": cause,
        "figures": dict(figures),
    }
