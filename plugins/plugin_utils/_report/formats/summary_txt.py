# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""summary.txt: the summary after the play recap, one line for each statement. The printing code wraps it (see
terminal.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._run.names import SUMMARY
from ..._run.verdicts import GOOD, PASS
from ..causes.cause import QUALIFICATION
from ..causes.groups import causes
from ..charts.axes import thinned
from ..figures import count_words, figure_titles, figures_of, judged_series, shown_figures, step_cell
from ..folding import shorten
from ..headroom import capacity_lines, headroom_lines, worst_use_text
from ..model import NOT_MEASURED, Host, Model
from ..overview import counts_of
from ..terminal import DETAIL, MOST_LINES, TABLE, fit, head

FILE = SUMMARY

SHOWN_NOTES = 3
MOST_ROWS = 8
"""The maximum number of rows in the table for a workload of streams."""
ADDED_LINES = 4
"""The maximum number of lines that summary() adds."""


def render(model: Model) -> Iterator[str]:
    """Yield the summary, without the lines that summary() adds."""
    yield fit("".join(f"{line}\n" for line in _lines(model)), most=MOST_LINES - ADDED_LINES)


def _lines(model: Model) -> Iterator[str]:
    good = model.verdict in GOOD
    yield _headline(model)
    if model.gate_statement:
        yield f"  {model.gate_statement}"
    if good:
        yield from _kept(model)
    if model.chance_statement:
        yield f"  {model.chance_statement}"
    yield f"  run      {model.run_id}, profile {model.profile_name}"
    if not (good and model.measured_as_expected):
        yield f"  expected {model.expectation}"
    if model.words.layout.described:
        yield f"  workload {'. '.join([model.subject.removeprefix('the workload '), *model.disclaimers])}"
    if not model.check_mode:
        yield f"  result   {_hosts(model)}"
    if len(model.hosts) == 1:
        yield from _table(model.hosts[0])
        yield from (f"  note     {note}" for note in model.hosts[0].recorded_notes[:SHOWN_NOTES])
    view = model.kind.view
    yield from (f"  {view.word:<8} {line}" for line in view.lines(model))
    if not good:
        yield from (f"  headroom {line}" for line in headroom_lines(model))
    yield from (f"  capacity {line}" for line in capacity_lines(model))
    yield from _causes(model)
    if len(model.hosts) == 1 and not good:
        yield from _passes(model.hosts[0])


def _kept(model: Model) -> Iterator[str]:
    """Yield the basis of a pass: the figure closest to its limit, the margins, how long it is valid, and what to do
    next."""
    yield from (f"  limits   {text}" for text in [worst_use_text(model)] if text)
    yield from (f"  headroom {line}" for line in headroom_lines(model))
    if not model.fleet["certified"]:
        return  # the causes already say why, and what to do
    if model.valid_until:
        yield f"  valid    until {model.valid_until}"
        yield (
            "  next     certify again before that day, or when the storage changes; playbooks/status.yml lists the "
            "certificates that expire"
        )
    else:
        yield "  next     certify again when the storage changes"


def _headline(model: Model) -> str:
    """Return the first line; its first word is the verdict, or INTERNAL if the run did not reach a verdict. For power
    cuts that certify nothing, the line contains their count."""
    if not model.gate_ran and not model.run.get("merged_from"):
        return f"INTERNAL: the run ended before its gate. Its records say {model.verdict}: {model.headed_statement}"
    if model.headline:
        return model.headed_statement
    if model.verdict in GOOD and not model.fleet["certified"] and model.can_certify:
        return f"{model.verdict.upper()}, but {model.statement[0].lower()}{model.statement[1:]}"
    return f"{model.verdict.upper()}: {model.statement}"


def _hosts(model: Model) -> str:
    """Return how many hosts have each verdict, or the name and the verdict of the only host."""
    if len(model.hosts) == 1:
        return f"{shorten(model.hosts[0].label)}: {model.hosts[0].verdict}"
    words = count_words(counts_of(model))
    return f"{model.size}: {words}" if words else model.size


def _causes(model: Model) -> Iterator[str]:
    """Yield each cause with its consequences. Common text of several causes appears only once."""
    said: set[str] = set()
    for cause in causes(model):
        if cause.verdict == NOT_MEASURED:
            continue  # the lines of the kind contain it
        if cause.kind == QUALIFICATION and cause.statement.partition(": ")[2] in _headline(model):
            continue
        yield head(cause.verdict, cause.statement)
        lines = (
            cause.consequence,
            cause.next_step and f"Next: {cause.next_step}",
            cause.seen and f"Seen: {cause.seen}",
            cause.detail,
        )
        for line in lines:
            if line and line not in said:
                said.add(line)
                yield DETAIL + line


def _passes(host: Host) -> Iterator[str]:
    """Yield the results of the limits that the only host of a run meets."""
    for limit in host.limits:
        if limit["verdict"] == PASS and not limit["hard"]:
            yield head(PASS, limit["worst"]["reason"])


def _rows(host: Host) -> list[dict[str, Any]]:
    """Return the rows of the table: if there are many streams, those around the capacity that a limit judges, or else
    those of the whole workload."""
    every = [figures for dummy, figures in host.results() if figures["worker"] == "all"]
    if not host.words.layout.by_stream:
        return every
    loads = sorted({figures["load_point"] for figures in every})
    around = (
        {host.climbed.highest_passed, host.climbed.lowest_not_passed} if host.climbed else {*loads[:1], *loads[-1:]}
    )
    keys = judged_series(host)
    judged = [figures for figures in every if (figures["stream"], figures["operation"]) in keys]
    whole = [figures for figures in every if host.words.layout.stands_for_step(figures)]
    choices = (every, judged, [figures for figures in judged if figures["load_point"] in around], whole)
    return next((chosen for chosen in choices if 0 < len(chosen) <= MOST_ROWS), thinned(whole, MOST_ROWS))


def _table(host: Host) -> Iterator[str]:
    """Yield the figures of a run with one host, if the table is small enough to be read at once."""
    shown = shown_figures(host)
    lines = [[host.words.row_title, host.words.loads_title, *figure_titles(host)]]
    for figures in _rows(host):
        texts = [text.replace("\u2265", ">=") for text in figures_of(figures, shown)]
        lines.append([step_cell(host, figures), str(figures["load_point"]), *texts])
    if host.words.layout.wide:
        filled = [number for number in range(len(lines[0])) if any(line[number] for line in lines[1:])]
        lines = [[line[number] for number in filled] for line in lines]
    if len(lines) > 1:
        widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
        for line in lines:
            yield TABLE + "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
