# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of power cuts: how many there were, what was lost, and what they prove."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..._durability.cut import OUTCOMES
from ..._english.findings import in_words
from ..._english.phrases import plural
from ..._judge.durability import percent_upwards, why_not_certifying
from ..._judge.judged_records import wanted_cuts
from ..._report.causes.advice import STORAGE, SYSTEM, talk_to
from ..._report.causes.cause import decided_by
from ..._report.folding import brief, more_hosts, shorten
from ..._report.history.status_section import LONGEST, StatusSection
from ..._report.observation import number
from ..._report.overview import counts_of
from ..._report.template import render_part
from ..._run import open_metrics as om
from ..._run.findings import POWER_CUTS_BEFORE
from ..._run.host_settings import profile_data
from ..._run.verdicts import FAIL, PASS
from ..._run.words import days_text, words_of
from .. import facets
from .criteria import POWER_CUT
from .overview import overview, picture_rows
from .page import counts_text, cuts_section

if TYPE_CHECKING:
    from ..._report.model import Host, Model

SHOWN = 5
"""The maximum number of hosts with separate lines, worst first."""

_UNDECIDED = "Nothing is proven: this storage may keep what it acknowledged or lose it."
_CUT_AGAIN = "Correct the named problem, and run playbooks/power_cut.yml."

_LOST_BEFORE = {
    "consequence": (
        "Persistent messages whose commit was confirmed can be lost when the power fails, however fast this storage is."
    ),
    "next_step": "Correct the problem that the report of that run names, and run playbooks/power_cut.yml again.",
}
"""The consequence of a loss that is recorded in the history."""


class View(facets.View):
    """Shows the counts of cuts, and what they prove. There are no latency figures."""

    title = "Power cuts"
    word = "cuts"
    subject = ", power cut"
    criteria = (
        "The loss of an acknowledged write is a hard failure, which is never waived. The limits of the profile are "
        "about latency, so none of them judges a power cut."
    )
    cause = "power cut"
    remembered = POWER_CUTS_BEFORE
    case = "power cut"
    advice: Mapping[str, str] = {
        "missing": (
            "Look in Ansible's output for the last task of the host. Remove its files with "
            "playbooks/cleanup.yml, and cut again."
        ),
        "unreachable": (
            "Connect to the host with ssh as Ansible does. When that works, remove its files with "
            "playbooks/cleanup.yml, and cut again."
        ),
    }

    def advise(self, found: Sequence[tuple[Host, Mapping[str, Any]]], verdict: str) -> tuple[str, str]:
        """Return the consequence of one kind of damage on some hosts, and what to do next. If none of these hosts had
        its power cut, the loss is recorded in the history."""
        if verdict != FAIL:
            return _UNDECIDED, _CUT_AGAIN
        told = [
            loss
            for host, finding in found
            if host.of_kind.view is self
            for loss in host.own.get("losses", [])
            if loss["cause"] == finding.get("cause")
        ]
        losses = told or [_LOST_BEFORE]
        consequence, next_step = (
            " ".join(dict.fromkeys(loss[key] for loss in losses)) for key in ("consequence", "next_step")
        )
        return consequence, f"{next_step} {talk_to(STORAGE, SYSTEM)}"

    def headline(self, model: Model) -> str:
        """Return the number of cuts without a loss. It is returned only if it is smaller than a profile requires, or if
        no profile requires a number."""
        if model.verdict != PASS:
            return ""
        made = [(len(host.own["cuts"]), host) for host in model.hosts_with_own]
        told = [
            (count, why)
            for count, host in made
            if (why := why_not_certifying(count, wanted_cuts(profile_data(model.run, host.host))))
        ]
        if not told:
            return ""
        total = sum(count for count, host in made)
        where = f" on {model.size}" if len(made) > 1 else ""
        return f"0 of {plural(total, 'cut')}{where} lost writes: {min(told)[1]}"

    def finding(self, model: Model) -> str:
        """Return what the worst host lost, or why its cut decides nothing; empty if no cut has the verdict of the
        run."""
        found = (
            (host, each)
            for host in model.hosts_with_own
            if host.verdict == model.verdict
            for each in host.findings
            if each["kind"] == POWER_CUT and each["verdict"] == model.verdict
        )
        host, worst = next(found, (None, None))
        if host is None or worst is None:
            return ""
        return decided_by(in_words(worst, words_of("")), [host.label])

    def picture(self, model: Model) -> Markup | str:
        """Return the cuts of the worst hosts, and the bound on the chance of a loss that they prove."""
        hosts = model.hosts_with_own[:SHOWN]
        return render_part("kinds/power_cut/picture.html.j2", rows=picture_rows(model, hosts)) if hosts else ""

    def statement(self, model: Model) -> str:
        """Return how many hosts kept everything."""
        return f"{super().statement(model)} They measure no latency, so they certify none."

    def lines(self, model: Model) -> list[str]:
        """Return the results of the cuts of each host, what they prove, and what the cut commands test."""
        hosts = model.hosts_with_own
        lines = []
        for host in hosts[:SHOWN]:
            lines.append(f"{shorten(host.label)}: {counts_text(host)}")
            lines += [f"{shorten(host.label)}: {host.own['claim']}"] if host.own["claim"] else []
        lines += [f"and {more_hosts(len(hosts) - SHOWN)}"] if len(hosts) > SHOWN else []
        return [*lines, *dict.fromkeys(host.own["tests"] for host in hosts[:SHOWN] if host.own["tests"])]

    def claim(self, host: Host) -> str:
        """Return what the cuts of a host prove; empty if they prove nothing."""
        return str(host.own.get("claim") or "")

    def overview(self, model: Model, shown: Sequence[tuple[Host, Markup]]) -> Markup | str:
        """Return the cuts of all hosts, with their losses and the bound on the chance of a loss."""
        return render_part("kinds/power_cut/overview.html.j2", cuts=overview(model, shown), counts=counts_of(model))

    def section(self, host: Host) -> Markup | str:
        """Return each cut with its figures, and what was lost."""
        return render_part("kinds/power_cut/section.html.j2", cut=cuts_section(host)) if host.own else ""

    def status_section(
        self, status: Mapping[str, Any], run_link: Callable[[str | None], Markup | str]
    ) -> StatusSection | None:
        """Return the volumes whose power was cut, losses first, without duplicates."""
        cut = [each for each in status["volumes"] if each["power_cut_loss"] or each["power_cuts_kept"]]
        once = {(each["host"], each["volume"], each["mount_point"]): each for each in cut}
        items = [
            Markup("<bdi>{}</bdi>: {}").format(brief(each["label"], LONGEST), _cut_text(each))
            for each in sorted(once.values(), key=lambda each: not each["power_cut_loss"])
        ]
        return StatusSection("cuts", self.title, "", items) if items else None

    def metrics(self, hosts: Sequence[tuple[Host, str]]) -> Iterator[str]:
        """Yield the outcomes of the cuts, and the bound on the chance of a loss."""
        known = [(own, host.own) for host, own in hosts if host.own and host.of_kind.view is self]
        outcomes = [
            (f"{own},{om.labels({'outcome': outcome})}", sum(cut["outcome"] == outcome for cut in durability["cuts"]))
            for own, durability in known
            for outcome in OUTCOMES
        ]
        told = "Largest chance of a loss per power cut, with 95 % confidence, if all cuts were kept."
        families = (
            ("logdisk_run_power_cuts", "Power cuts by outcome.", outcomes, int),
            (
                "logdisk_run_power_cut_loss_bound_ratio",
                told,
                known,
                lambda durability: number(durability, "loss_chance_bound"),
            ),
        )
        return om.gauges(families if known else ())


def _cut_text(each: Mapping[str, Any]) -> str:
    """Describe the results of a volume's power cuts, and how old they are."""
    loss, kept = each["power_cut_loss"], each["power_cuts_kept"]
    if loss:
        age = days_text(-loss["age_days"])
        return f"lost acknowledged writes {age} (run {loss['run_id']}): {brief(loss['reason'], 300)}"
    age = days_text(-kept["age_days"])
    cuts = f"{plural(kept['cuts'], 'cut')} {age}"
    if kept["is_expired"]:
        return f"{cuts} lost nothing, expired on {kept['valid_until']} (run {kept['run_id']})"
    bound = percent_upwards(100 * kept["loss_chance_bound"])
    return (
        f"{cuts} lost nothing: a chance of a loss of at most {bound} % per cut, until {kept['valid_until']} "
        f"(run {kept['run_id']})"
    )
