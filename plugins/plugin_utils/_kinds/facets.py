# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The facets of a kind of run, each a class whose instance ``Kind`` returns: the defaults, which a module in the folder
of a kind replaces. They import nothing that judges or shows a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._run.shapes import Plan

if TYPE_CHECKING:
    from markupsafe import Markup

    from .._english.notes import Text
    from .._history.certificate import Certificate
    from .._history.problems import Problem
    from .._history.result import Result
    from .._history.states import Status, Today
    from .._judge.metrics import Metric
    from .._judge.profile import Limit, Profile
    from .._report.causes.advice import Advice
    from .._report.history.status_section import StatusSection
    from .._report.model import Host, Model
    from .._run.directory import RunDirectory
    from .._run.record import HostRecord


class Criteria:
    """What a profile can require of a kind of run: limits, and the section under the kind's ``profile_key``."""

    metrics: tuple[Metric, ...] = ()
    """The figures of this kind of run that limits can name, besides those of measurements."""

    limits: Sequence[Mapping[str, Any]] = ()
    """The limits on these metrics that apply unless a profile has a limit on the metric, in the form of a profile."""

    ids: Mapping[tuple[str, str | None], str] = {}
    """The ids of criteria that are not limits, by kind and cause of the finding. They cannot be waived."""

    def read(self, given: Any, base: Any) -> Any:
        """Return a section of a profile in a normalized form that can be read again. The section is given as plain
        data. The result is None if the section requires no more than a profile without such a section.

        ``base`` is the section of the profile that this one extends, or None. Raises DefinitionError.
        """
        return None

    def limits_of(self, profile: Profile) -> tuple[Limit, ...]:
        """Return the limits of a profile that judge a run of this kind."""
        return profile.limits


class English:
    """The sentences about the findings of a kind of run."""

    texts: Mapping[str, Text | Mapping[str, Text]] = {}
    """The template of each kind of finding, or of each of its causes, or the function that makes the sentence (see
    ``_english/findings.py``)."""


class Opening:
    """Opens a run of some kind. ``plans`` holds the plan for each host, ``settings`` the settings that all hosts
    share."""

    def check(self, settings: Mapping[str, Any], plans: Mapping[str, Plan]) -> None:
        """Raise SettingsError if a run of this kind is not possible with these plans."""

    def volumes(self, plan: Plan) -> list[dict[str, Any]]:
        """Return the volumes that a host is expected to report, in the form in which volumes.json stores them. Those
        that report another kind of result than the run have a ``kind``."""
        from .._fleet.volumes import recorded_volumes

        return [*recorded_volumes(plan["volumes"]), *(plan.get("of_other_kinds") or [])]

    def announced(self, settings: Mapping[str, Any], plans: Mapping[str, Plan], check_mode: bool) -> list[str]:
        """Return the lines to print about the run once it is open."""
        return []


class Memory:
    """What a run of some kind reads from the history before the run is judged, what it stores there afterwards, and
    what its results mean for the status of the fleet."""

    is_pruned = False
    """Whether old results may be removed from the history."""

    def look_up(self, directory: RunDirectory) -> str:
        """Note what the history contains about the volumes of a run before the run is judged. Returns the reason if the
        volumes could not be compared; otherwise an empty string. Raises OSError.
        """
        return ""

    def certificate_of(self, directory: RunDirectory, folder: str, record: HostRecord) -> Certificate | None:
        """Return the certificate of a record in a folder, or None if it was not judged. Raises CertificateError,
        RunDirectoryError and TablesError."""
        return None

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return what the history stores about a run in addition to its certificates; by default nothing. Raises
        RunDirectoryError."""
        return []

    def passes(self, result: Result) -> bool:
        """Return whether a result certifies or clears something, and nothing in it counts against its subject."""
        return result.is_good

    def void(self, result: Result) -> Result:
        """Return a misdated result so that it neither certifies nor clears anything."""
        return result.without_pass()

    def problems(self, results: Sequence[Result], today: Today) -> list[tuple[str, Problem]]:
        """Return the problems that the results are for hosts, in addition to those of their volumes: the host and the
        problem."""
        return []

    def add_to_status(
        self, status: dict[str, Any], results: Sequence[Result], lines: Sequence[Status], today: Today
    ) -> None:
        """Add what the results say to the content of status.json. ``lines`` are the states of its volumes."""

    def status_lines(self, status: Mapping[str, Any]) -> tuple[list[str], str]:
        """Return what the content of status.json says on a screen in addition to the volumes, a line for each subject,
        and the plural of the word for a subject."""
        return [], ""

    def metrics(self, status: Mapping[str, Any], volumes: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
        """Yield families of metrics and their samples from the content of status.json. ``volumes`` are its volumes
        under their requested profiles, each with the labels that identify it."""
        yield from ()


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

    advice_on_metrics: Mapping[str, Advice] = {}
    """What to do about a limit on one of the kind's own metrics that is not met, and its consequence."""

    advice: Mapping[str, str] = {}
    """The next steps, by the keys of ``_report/causes/advice.py``, if they differ from those after a test."""

    def cause_of(self, host: Host) -> str:
        """Return the kind of cause that applies to a host that does not pass because it was not measured to the end or
        not at all."""
        return self.cause or ("measurement" if host.tester else "unmeasured")

    def fault_of(self, finding: Mapping[str, Any]) -> str:
        """Return the fault that a finding shows, if findings of one fault make up one cause; otherwise empty."""
        return ""

    def advise(self, found: Sequence[tuple[Host, Mapping[str, Any]]], verdict: str) -> tuple[str, str]:
        """Return the consequence and the next step for a cause that only runs of this kind have. ``found`` says what
        was found on which hosts, and ``verdict`` is the verdict of the cause."""
        raise NotImplementedError

    def limit_lines(self, model: Model) -> list[str]:
        """Return the limits of this kind of run that the page lists below its criteria."""
        return []

    def headline(self, model: Model) -> str:
        """Return the heading of the report; empty if the verdict is the heading."""
        return ""

    def finding(self, model: Model) -> str:
        """Return the most important figure, which follows the verdict in the heading and in the statement, such as "12
        times slower than certified". Empty if the statement already contains it."""
        return ""

    def picture(self, model: Model) -> Markup | str:
        """Return the picture of the worst result, which follows the heading; empty if there is none."""
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

    def status_section(
        self, status: Mapping[str, Any], run_link: Callable[[str | None], Markup | str]
    ) -> StatusSection | None:
        """Return the section of the page about the status of the fleet that lists the results of this kind; None if
        there are none. ``run_link`` returns the ID of a run, as a link if its report is beside the page."""
        return None

    def metrics(self, hosts: Sequence[tuple[Host, str]]) -> Iterator[str]:
        """Yield families of metrics and their samples. Each host is given together with the labels that identify it."""
        yield from ()
