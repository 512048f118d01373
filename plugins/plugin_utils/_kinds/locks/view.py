# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of a test of locks: the figures of each pair of hosts, what is wrong, and what that does to a
multi-instance queue manager."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..._english.findings import in_words
from ..._english.phrases import plural
from ..._history.states import CURRENT
from ..._report.causes.cause import decided_by
from ..._report.folding import brief, shorten
from ..._report.history.status_section import LONGEST, StatusSection, state_badge
from ..._report.overview import counts_of
from ..._report.page.parts import badge
from ..._report.template import render_part
from ..._run import open_metrics as om
from ..._run.lock_steps import TAKEOVERS, figure, rows_of
from ..._run.verdicts import FAIL, GOOD, INCONCLUSIVE, PASS, WARN
from ..._run.words import days_text, words_of
from .. import facets
from .advice import OF_METRICS, advice_on_locks, key_of
from .figures import late_writes_of, requirements_told, untested_text
from .overview import overview
from .page import locks_section, worst_takeover_chart
from .pairs import gravest_of, pairs_of

if TYPE_CHECKING:
    from ..._report.model import Host, Model

SHOWN = 5
"""The largest number of pairs that have lines of their own, worst first."""

_VERDICTS = (FAIL, INCONCLUSIVE, WARN, PASS)


class View(facets.View):
    """The pairs of hosts. There are no latency figures."""

    title = "Locks"
    word = "locks"
    subject = ", locks"
    criteria = (
        "Two holders of a lock, updates or acknowledged writes that are lost, and writes of a host that lost its lock "
        "are hard failures, never waived. The other limits of the profile concern latency."
    )
    advice_on_metrics = OF_METRICS
    cause = "locks"
    case = "locks"
    advice: Mapping[str, str] = {
        "missing": (
            "Look in Ansible's output for the last task of the host. Remove its files with playbooks/cleanup.yml, and "
            "test the locks again."
        ),
        "unreachable": (
            "Connect to the host with ssh as Ansible does. When that works, remove its files with "
            "playbooks/cleanup.yml, and test the locks again."
        ),
    }

    def fault_of(self, finding: Mapping[str, Any]) -> str:
        """Return the key of the advice. Several steps that break because of one fault have the same key."""
        return key_of(finding)

    def advise(self, found: Sequence[tuple[Host, Mapping[str, Any]]], verdict: str) -> tuple[str, str]:
        """Return the consequence for a multi-instance queue manager, and what to do next."""
        return advice_on_locks(finding for _host, finding in found)

    def limit_lines(self, model: Model) -> list[str]:
        """Return what the profiles require in addition to their limits."""
        judged = {host.profile: host.own["required"] for host in model.hosts if host.own and host.of_kind.view is self}
        return [
            f"{profile}: {told}" if len(judged) > 1 else told
            for profile, required in judged.items()
            for told in requirements_told(required)
        ]

    def finding(self, model: Model) -> str:
        """Return what is wrong with the worst pair; empty if no pair has the verdict of the run."""
        pair, worst = next(((pair, gravest_of(pair)) for pair in pairs_of(model.hosts_with_own)), (None, None))
        if pair is None or worst is None or pair.verdict != model.verdict:
            return ""
        return decided_by(in_words(worst, words_of("")), pair.labels)

    def picture(self, model: Model) -> Markup | str:
        """Return the takeover that is worst in the worst pair: one that failed, or else the longest."""
        pair = next(iter(pairs_of(model.hosts_with_own)), None)
        return worst_takeover_chart(pair) if pair else ""

    def statement(self, model: Model) -> str:
        """Return how many hosts have each verdict, and which steps the pairs that pass say nothing about."""
        pairs = pairs_of(model.hosts_with_own)
        untested = untested_text([pair.results for pair in pairs if pair.verdict in GOOD])
        of = f" in {plural(len(pairs), 'pair')}" if pairs else ""
        verdicts = ", ".join(model.verdicts_told) or "none was tested"
        left = f"; {untested}" if untested else ""
        return f"Locks on {model.size}{of}: {verdicts}{left}. No latency was measured or certified."

    def lines(self, model: Model) -> list[str]:
        """Return the figures of each pair, worst first."""
        pairs = pairs_of(model.hosts_with_own)
        lines = [
            f"{shorten(first)} and {shorten(second)} on {shorten(pair.results['directory'])}: {pair.verdict}, "
            f"{pair.results['text']}"
            for pair in pairs[:SHOWN]
            for first, second in [pair.labels]
        ]
        left = len(pairs) - SHOWN
        return [*lines, f"and {plural(left, 'more pair')}"] if left > 0 else lines

    def claim(self, host: Host) -> str:
        """Return the figures of the host's pairs."""
        return "; ".join(pair["text"] for pair in host.own.get("pairs") or ())

    def overview(self, model: Model, shown: Sequence[tuple[Host, Markup]]) -> Markup | str:
        """Return the pairs of all hosts, with their takeovers against the limit."""
        return render_part("kinds/locks/overview.html.j2", locks=overview(model, shown), counts=counts_of(model))

    def section(self, host: Host) -> Markup | str:
        """Return each pair of the host with its steps and takeovers."""
        if not host.own.get("pairs"):
            return ""
        return render_part("kinds/locks/section.html.j2", locks=locks_section(host), badge=badge)

    def status_section(
        self, status: Mapping[str, Any], run_link: Callable[[str | None], Markup | str]
    ) -> StatusSection | None:
        """Return the pairs with their states."""
        items = [
            Markup("{} <bdi>{}</bdi>: {}{}").format(
                state_badge(each["state"]),
                brief(each["label"], 2 * LONGEST),
                brief(each["sentence"], 400),
                Markup(' <span class="dim">({})</span>').format(days_text(each["days_left"]))
                if each["days_left"] is not None and each["state"] in CURRENT
                else "",
            )
            for each in status["locks"]
        ]
        about = "Hosts that share a directory, with the result of the newest test of its locks."
        return StatusSection("locks", self.title, about, items) if items else None

    def metrics(self, hosts: Sequence[tuple[Host, str]]) -> Iterator[str]:
        """Yield the verdicts of the pairs, the longest takeover, and the late writes of each host."""
        known = [(own, host.own["pairs"]) for host, own in hosts if host.own and host.of_kind.view is self]
        verdicts = [
            (f"{own},{om.labels({'verdict': verdict})}", sum(pair["verdict"] == verdict for pair in pairs))
            for own, pairs in known
            for verdict in _VERDICTS
        ]
        families = (
            ("pairs", "Pairs with another host by the verdict on their locks.", verdicts, int),
            ("takeover_seconds", "Longest time until the lock of a lost host was taken over.", known, _takeover_s),
            ("late_writes", "Writes of a host that landed after it had lost its lock.", known, _late_writes),
        )
        return om.gauges((f"logdisk_run_lock_{name}", *family) for name, *family in families if known)


def _takeover_s(pairs: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the longest takeover in seconds, or None if there was none."""
    rows = (row for pair in pairs for row in rows_of(pair, *TAKEOVERS))
    return max((value / 1e9 for row in rows if (value := figure(row, "takeover_ns")) is not None), default=None)


def _late_writes(pairs: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the number of late writes, or None if it is not known for any pair."""
    known = [late for pair in pairs if (late := late_writes_of(pair)) is not None]
    return sum(known) if known else None
