# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The output of a kind of run on the screen, on the page and for monitoring; the defaults are those of a kind without
special output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

    from .._report.model import Host, Model


class View:
    """The parts of a report that only runs of one kind have. Everything else in a report is the same for all kinds."""

    title = ""
    """The heading of the kind's section, such as "Power cuts"."""

    word = ""
    """A short word that precedes the kind's lines on the screen, such as "cuts"."""

    subject = ""
    """A suffix for the purpose of the storage, such as ", live"."""

    criteria = ""
    """Sentences about the criteria for a run of this kind, if the limits of a profile do not judge it; otherwise
    empty."""

    without_figures = "Nothing was measured."
    """The text that replaces the picture of the fleet if no host has figures."""

    cause = ""
    """The kind of cause (see ``_report/causes/groups.py``) that only runs of this kind have, and for which the view
    gives advice; empty if there are none."""

    remembered = ""
    """The kind of finding by which a measurement reports earlier runs of this kind from the history. The causes of such
    findings are of the same kind. Empty if there are none."""

    case = "measurement"
    """The name of the kind's test case in junit.xml."""

    why_unjudged = ""
    """Why the test case is skipped if the host was not judged. Empty for a kind that always judges."""

    advice: Mapping[str, str] = {}
    """The next steps, by the keys of ``_report/causes/advice.py``, if they differ from those after a test."""

    def cause_of(self, host: Host) -> str:
        """Return the kind of cause that applies to a host that does not pass because it was not measured to the end or
        not at all."""
        return "measurement" if host.tester else "unmeasured"

    def fault_of(self, finding: Mapping[str, Any]) -> str:
        """Return the fault that a finding shows, if findings of one fault make up one cause; otherwise empty."""
        return ""

    def advise(self, found: Sequence[tuple[Host, Mapping[str, Any]]], verdict: str) -> tuple[str, str]:
        """Return the consequence and the next step for a cause that only runs of this kind have. ``found`` says what
        was found on which hosts, and ``verdict`` is the verdict of the cause."""
        raise NotImplementedError

    def limits_told(self, model: Model) -> list[str]:
        """Return the limits of this kind of run that the page lists below its criteria."""
        return []

    def headline(self, model: Model) -> str:
        """Return the heading of the report; empty if the verdict is the heading."""
        return ""

    def finding(self, model: Model) -> str:
        """Return the most important figure, which follows the verdict in the heading and in the statement, such as "12
        times slower than certified". Empty if the statement already contains it."""
        return ""

    def statement(self, model: Model) -> str:
        """Return what the run proves, in one sentence."""
        return f"{self.title} on {model.size}: {', '.join(model.verdicts_told) or 'none was made'}."

    def lines(self, model: Model) -> list[str]:
        """Return the results of the hosts, with one line for each figure or claim to be shown on the screen."""
        return []

    def claim(self, host: Host) -> str:
        """Return what the result of a host that passed proves, for its test case; empty if this is clear from its
        limits."""
        return ""

    def overview(self, model: Model, shown: Sequence[tuple[Host, Markup]]) -> Markup | str:
        """Return the section of the page about all hosts, with the id "fleet". It is empty for kinds whose section is
        about latencies by block size. ``shown`` contains the hosts, each with its name as a link to its section."""
        return ""

    def section(self, host: Host) -> Markup | str:
        """Return the part of the page about a host; empty if there is none."""
        return ""

    def metrics(self, hosts: Sequence[tuple[Host, str]]) -> Iterator[str]:
        """Yield families of metrics and their samples. Each host is given together with the labels that identify it."""
        yield from ()
