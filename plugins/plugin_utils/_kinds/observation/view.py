# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of an observation of live queue managers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ....module_utils._units import format_count
from ..._report.folding import brief
from ..._report.history.status_section import LONGEST, StatusSection
from ..._report.observation import number, observation_lines, ratio_of
from ..._report.overview import counts_of
from ..._report.template import render_part
from ..._run import open_metrics as om
from ..._run.words import days_text
from .. import facets
from .overview import finding_text, overview
from .page import observation_section

if TYPE_CHECKING:
    from ..._report.model import Host, Model


class View(facets.View):
    """Shows each queue manager beside the certificate of its volume."""

    title = "Live queue managers"
    word = "live"
    subject = ", live"
    why_unjudged = "the profile does not judge observations"
    advice: Mapping[str, str] = {
        "open": (
            "Set observe_duration to the stated number of seconds, if there is one. Storage at its limit has no "
            "reserve: ask for a faster class."
        ),
        "too_few": "Observe longer, or with observe_source: bpftrace, which sees each write.",
        "nothing": (
            "Observe the log while its queue manager writes to it, and judge the result by a profile that is made "
            "for live logs, such as mq-live."
        ),
        "ended_early": "Observe again, and let the observation finish.",
        "missing": "Look in Ansible's output for the last task of the host, and observe it again.",
        "unreachable": (
            "Connect to the host with ssh as Ansible does. When that works, observe these hosts again with --limit."
        ),
    }

    def finding(self, model: Model) -> str:
        """Return how the slowest queue manager compares with its certificate; empty if no queue manager could be
        compared."""
        return finding_text(model)

    def statement(self, model: Model) -> str:
        """Return what the profile judged, and how many queue managers it did not judge."""
        without = sum(host.verdict == host.of_kind.without_verdict for host in model.hosts)
        told = [*model.verdicts_told, *([f"{format_count(without)} observed without a verdict"] if without else [])]
        why = f" ({model.profile_name} does not judge observations)" if without and len(model.profiles) == 1 else ""
        return (
            f"{self.title} on {model.size}: {', '.join(told)}{why}. An observation certifies nothing."
            if told
            else "Nothing was observed."
        )

    def lines(self, model: Model) -> list[str]:
        """Return the observed figures of each queue manager, and how they compare with the certificate of its
        volume."""
        return observation_lines(model)

    def overview(self, model: Model, shown: Sequence[tuple[Host, Markup]]) -> Markup | str:
        """Return the section with the certified and observed latency of all queue managers."""
        return render_part("kinds/observation/overview.html.j2", seen=overview(model, shown), counts=counts_of(model))

    def section(self, host: Host) -> Markup | str:
        """Return the section of a host with its certified and observed figures."""
        return render_part("kinds/observation/section.html.j2", seen=observation_section(host)) if host.own else ""

    def status_section(
        self, status: Mapping[str, Any], run_link: Callable[[str | None], Markup | str]
    ) -> StatusSection | None:
        """Return the newest observation of each log."""
        items = [
            Markup('<bdi>{}</bdi>{}: {} <span class="dim">({}, run {})</span>').format(
                brief(each["label"], LONGEST),
                Markup(", queue manager <bdi>{}</bdi>").format(brief(each["queue_manager"], LONGEST))
                if each["queue_manager"]
                else "",
                _seen_text(each),
                days_text(-each["age_days"]),
                run_link(each["run_id"]),
            )
            for each in status["observations"]
        ]
        about = (
            "The newest observation of each log, the slowest compared with its certificate first. An observation "
            "changes no state."
        )
        return StatusSection("live", "Live queue managers", about, items) if items else None

    def metrics(self, hosts: Sequence[tuple[Host, str]]) -> Iterator[str]:
        """Yield how busy each logger was, and how the latency of its writes compares with the certified one."""
        observed = [
            (f"{own},{om.labels({'queue_manager': str(host.own.get('queue_manager') or '')})}", host)
            for host, own in hosts
            if host.own and host.of_kind.view is self
        ]
        families = (
            (
                "logdisk_run_logger_utilisation_ratio",
                "Share of the time in which the logger of a live queue manager was writing.",
                observed,
                lambda host: number(host.own.get("utilisation"), "share"),
            ),
            (
                "logdisk_run_observed_to_certified_latency_ratio",
                "Mean latency of the log writes of a live queue manager divided by the certified one.",
                observed,
                ratio_of,
            ),
        )
        return om.gauges(families if observed else ())


def _seen_text(each: Mapping[str, Any]) -> str:
    """Describe an observation: its verdict, if there is one, and how it compares with the certificate."""
    text = str(each["text"]).rstrip(".") or each["headline"]
    judged = f"verdict of {brief(each['profile'], LONGEST)}: {each['verdict']}; " if each["verdict"] else ""
    return f"{judged}{brief(text[:1].lower() + text[1:], 300)}"
