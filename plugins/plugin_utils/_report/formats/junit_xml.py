# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""junit.xml, for systems that show test results: one suite for each host, and one case for each limit and
each setting. Anything that
fails the gate is a failure or an error and never skipped, because skipped cases look like success.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ..._english.findings import in_words
from ..._english.limits import and_others
from ..._english.notes import SETTING_TEXT
from ..._english.phrases import phrase
from ..._run.findings import SETTING
from ..._run.settings import worst_settings
from ..._run.verdicts import ERROR, FAIL, GOOD, INCONCLUSIVE, MISSING, PASS, UNQUALIFIED, UNREACHABLE, WARN
from ..causes.cause import beside_limits
from ..model import NOT_MEASURED, Host, Model
from ..series import LimitEntry

FILE = "junit.xml"

_ELEMENTS = {
    FAIL: "failure",
    INCONCLUSIVE: "failure",
    ERROR: "error",
    MISSING: "error",
    UNREACHABLE: "error",
    NOT_MEASURED: "skipped",
}
_TOTALS = ("tests", "failures", "errors")
"""The counts in the document. Jenkins's schema allows a count of skipped cases only in a suite."""
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """One test case: its name, its verdict, one line about it, and the text below this line."""

    name: str
    verdict: str
    message: str = ""
    details: str = ""


def render(model: Model) -> Iterator[str]:
    """Yield the text of the document piece by piece."""
    totals = dict.fromkeys(_TOTALS, 0)
    for host in model.hosts:
        counts = _counts(_cases(model, host))
        totals = {key: total + counts[key] for key, total in totals.items()}
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={_attribute('mqops.logdisk ' + model.run_id)}{_count_attributes(totals)}>\n"
    for host in model.hosts:
        yield _suite(model, host)
    yield "</testsuites>\n"


def _suite(model: Model, host: Host) -> str:
    cases = _cases(model, host)
    timestamp = f" timestamp={_attribute(host.created_at.rstrip('Z'))}" if host.created_at else ""
    lines = [
        (
            f"<testsuite name={_attribute(host.label)}{_count_attributes(_counts(cases))} "
            f'time="{_elapsed_s(host):.3f}"{timestamp}>'
        ),
        "<properties>",
    ]
    properties = {
        "verdict": host.verdict,
        "certified": str(host.certified).lower(),
        "qualification": host.qualification,
        "profile": host.profile,
        "profile_sha256": host.profile_sha256,
    }
    lines.extend(f'<property name="{name}" value={_attribute(value)}/>' for name, value in properties.items())
    lines.append("</properties>")
    lines.extend(_case(host, case) for case in cases)
    lines.append("</testsuite>\n")
    return "\n".join(lines)


def _case(host: Host, case: Case) -> str:
    start = f"<testcase classname={_attribute(host.label)} name={_attribute(case.name)}"
    element = _ELEMENTS.get(case.verdict)
    if element == "skipped":
        return f"{start}><skipped message={_attribute(case.message)}/></testcase>"
    if element:
        return (
            f'{start}><{element} type="{case.verdict}" '
            f"message={_attribute(case.message)}>{_text(case.details)}</{element}></testcase>"
        )
    return f"{start}><system-out>{_text(case.message)}</system-out></testcase>" if case.message else f"{start}/>"


def _cases(model: Model, host: Host) -> list[Case]:
    if host.verdict == host.of_kind.without_verdict != NOT_MEASURED:
        return [Case(host.kind, NOT_MEASURED, host.of_kind.view.why_unjudged)]
    if host.verdict == NOT_MEASURED:
        return [Case(host.of_kind.view.case, NOT_MEASURED, "check mode: nothing was measured")]
    cases = [_measurement(host)]
    cases.extend(_limit_case(limit) for limit in host.limits)
    cases.extend(_setting_case(outcome) for outcome in worst_settings(host.checked_settings) if outcome["verdict"])
    if (
        UNQUALIFIED in (model.fleet.get("policy") or {}).get("fail_on", ())
        and host.verdict in GOOD
        and not host.certified
    ):
        cases.append(Case("qualification", FAIL, f"it does not certify: {host.qualification}"))
    return cases


def _measurement(host: Host) -> Case:
    """Return the test case of the measurement itself: the part of the host's verdict that is not explained by a
    limit."""
    reasons = [
        _named(finding.get("limit_id"), in_words(finding, host.words))
        for finding in beside_limits(host, host.limits)
        if finding["kind"] != SETTING
    ]
    name = host.of_kind.view.case
    if host.verdict in GOOD or (host.limits and not reasons):
        return Case(
            name, WARN if host.notes else PASS, "; ".join(filter(None, [host.of_kind.view.claim(host), *host.notes]))
        )
    return Case(name, host.verdict, reasons[0] if reasons else host.verdict, "\n".join([*reasons, *host.notes]))


def _limit_case(limit: LimitEntry) -> Case:
    name = f"{limit['limit']} ({limit['rows']})" if limit["rows"] else limit["limit"]
    reason = and_others(limit["worst"]["reason"], max(0, limit["rows_not_passed"] - 1))
    return Case(name, limit["verdict"], _named(limit["limit_id"], reason))


def _setting_case(outcome: Mapping[str, Any]) -> Case:
    """Return the test case of a setting. One that could not be read has none."""
    name = f"setting {outcome['id']}: {outcome['title']}"
    return Case(name, outcome["verdict"], _named(outcome["id"], phrase(SETTING_TEXT, outcome)))


def _named(limit_id: str | None, reason: str) -> str:
    return f"{limit_id}: {reason}" if limit_id and reason else reason


def _counts(cases: list[Case]) -> dict[str, int]:
    elements = [_ELEMENTS.get(case.verdict) for case in cases]
    return {
        "tests": len(cases),
        "failures": elements.count("failure"),
        "errors": elements.count("error"),
        "skipped": elements.count("skipped"),
    }


def _elapsed_s(host: Host) -> float:
    return (
        sum(figures["elapsed_ns"] for _row, figures in host.results() if host.words.layout.stands_for_step(figures))
        / 1e9
    )


def _count_attributes(counts: dict[str, int]) -> str:
    return "".join(f' {key}="{count}"' for key, count in counts.items())


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("?", text))


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("?", text))
