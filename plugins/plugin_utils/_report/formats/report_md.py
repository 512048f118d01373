# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""report.md: the report as Markdown, for tickets and chats. It has at most 60 lines for any fleet, and states what it
leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....module_utils._units import format_count
from ..._run.columns import Step
from ..._run.verdicts import PASS
from ..causes.cause import Cause
from ..causes.groups import causes
from ..figures import Cell, cells, count_words
from ..folding import more_hosts, shorten
from ..headroom import capacity_lines, headroom_lines
from ..model import Host, Model
from ..overview import counts_of, parameters_of, steps_of
from ..template import markdown

FILE = "report.md"

MOST_LINES = 60
SHOWN_HOSTS = 20
"""The largest number of hosts that are listed, worst first."""

_FEWEST_CAUSE_LINES = 12
_ELSEWHERE = "index.html and report.json"


def render(model: Model) -> Iterator[str]:
    """Yield the document."""
    lines = [
        *_head(model),
        *_list_of(model.kind.view.title, model.kind.view.lines(model)),
        *_list_of("Headroom", headroom_lines(model)),
        *_list_of("Capacity", capacity_lines(model)),
    ]
    hosts = _table_of_hosts(model)
    left_out = []
    if len(model.hosts) > SHOWN_HOSTS:
        left_out.append(more_hosts(len(model.hosts) - SHOWN_HOSTS))
    # The last line, after an empty line, states what is left out.
    lines += _list_of_causes(causes(model), max(_FEWEST_CAUSE_LINES, MOST_LINES - 2 - len(lines) - len(hosts)))
    for name, section in (
        ("the hosts", hosts),
        ("the criteria", _table_of_criteria(model)),
        ("the parameters", _table_of_parameters(model)),
    ):
        if len(lines) + len(section) <= MOST_LINES - 2:
            lines += section
        else:
            left_out.append(name)
    if left_out:
        lines += ["", f"Not shown here: {', '.join(left_out)}; see {_ELSEWHERE}."]
    yield "".join(f"{line}\n" for line in lines)


def _head(model: Model) -> Iterator[str]:
    yield (
        f"# {model.headline} ({markdown(model.subject)})"
        if model.headline
        else f"# {model.verdict.upper()}: storage for {markdown(model.subject)}"
    )
    created_at = markdown(model.run.get("created_at", ""))
    counts = count_words(counts_of(model))
    run = f"Run {markdown(model.run_id)}, {created_at}, profile {markdown(model.profile_name)}. {model.size}: {counts}."
    for statement in (
        *map(markdown, (model.statement, *model.disclaimers, model.gate_statement, model.chance_statement)),
        run,
    ):
        if statement:
            yield ""
            yield statement


def _list_of(title: str, found: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *(f"- {markdown(line)}" for line in found)] if found else []


def _list_of_causes(found: Sequence[Cause], most: int) -> list[str]:
    """Return the causes in at most the given number of lines: as many causes as fit, and then the consequences of the
    first ones. Common text of several causes appears only once."""
    if not found:
        return []
    shown = found if len(found) + 3 <= most else found[: most - 4]
    room = most - 3 - len(shown) - (len(shown) < len(found))
    lines = ["", "## Causes", ""]
    said: set[str] = set()
    for cause in shown:
        lines.append(f"- **{cause.verdict}** {markdown(cause.statement)}")
        for text in (cause.consequence, cause.next_step and f"Next: {cause.next_step}"):
            if text and text not in said and room > 0:
                said.add(text)
                room -= 1
                lines.append(f"  - {markdown(text)}")
    if len(shown) < len(found):
        lines.append(f"- and {format_count(len(found) - len(shown))} more in {_ELSEWHERE}")
    return lines


def _table_of_hosts(model: Model) -> list[str]:
    steps, titles = steps_of(model)
    legend = (
        [
            (
                f"Each cell: p99 latency / mean latency of {model.words.together}, with a sign if "
                "the verdict there is not pass."
            ),
            "",
        ]
        if titles
        else []
    )
    rows = (
        [markdown(shorten(host.label)), host.verdict, "yes" if host.certified else "no", *_cells(host, steps)]
        for host in model.hosts[:SHOWN_HOSTS]
    )
    table = _table(["host", "verdict", "certified", *map(markdown, titles)], ["---"] * 3 + ["---:"] * len(titles), rows)
    return (
        ["", f"## Hosts and {model.words.size}s" if titles else "## Hosts", "", *legend, *table] if model.hosts else []
    )


def _cells(host: Host, steps: list[Step]) -> Iterator[str]:
    known = cells(host)
    for step in steps:
        cell: Cell | None = known.get(step)
        sign = f"**{cell.verdict}** " if cell and cell.verdict not in (PASS, "") else ""
        yield f"{sign}{cell.p99} / {cell.mean}" if cell else "-"


def _table_of_criteria(model: Model) -> list[str]:
    broken = "hard failure, never waived"
    rows = (
        [markdown(text), markdown(model.judged_by(limit)), broken if limit.hard else limit.severity]
        for text, limit in model.criteria
    )
    return (
        ["", "## Criteria", "", *_table(["limit", "judges", "if it is broken"], ["---"] * 3, rows)]
        if model.criteria
        else []
    )


def _table_of_parameters(model: Model) -> list[str]:
    rows = ([markdown(key), markdown(value)] for key, value in parameters_of(model))
    return ["", "## Parameters", "", *_table(["parameter", "value"], ["---"] * 2, rows)]


def _table(titles: Sequence[str], rules: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    return [f"| {' | '.join(map(str, row))} |" for row in (titles, rules, *rows)]
