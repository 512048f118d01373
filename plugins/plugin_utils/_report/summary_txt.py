# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""summary.txt: the summary after the play recap, one line for each thought. Whoever prints it wraps it (see terminal.py)."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes import QUALIFICATION, causes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import count_words, figure_titles, figures_of, step_cell
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.folding import shorten
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.headrooms import headroom_lines
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import NOT_MEASURED, Host, Model, counts_worst_first
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.terminal import DETAIL, MOST_LINES, TABLE, fit, head
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import GOOD, PASS

SHOWN_NOTES = 3
ADDED_LINES = 2
"""How many lines summary() adds."""


def render(model: Model) -> Iterator[str]:
    """Yield the summary, without the lines that summary() adds."""
    yield fit("".join(f"{line}\n" for line in _lines(model)), most=MOST_LINES - ADDED_LINES)


def _lines(model: Model) -> Iterator[str]:
    yield _headline(model)
    if model.gate_statement:
        yield f"  {model.gate_statement}"
    if model.chance_statement:
        yield f"  {model.chance_statement}"
    yield f"  run      {model.run_id}, profile {model.profile_name}"
    yield f"  expected {model.expectation}"
    yield f"  result   {_hosts(model)}"
    if len(model.hosts) == 1:
        yield from _table(model.hosts[0])
        yield from (f"  note     {note}" for note in model.hosts[0].recorded_notes[:SHOWN_NOTES])
    yield from (f"  headroom {line}" for line in headroom_lines(model))
    yield from _causes(model)
    if len(model.hosts) == 1:
        yield from _passes(model.hosts[0])


def _headline(model: Model) -> str:
    """Return the first line; its first word is the verdict, or INTERNAL if the run did not reach one."""
    if not model.gate_ran and not model.run.get("merged_from"):
        return f"INTERNAL: the run ended before its gate. Its records say {model.verdict}: {model.statement}"
    if model.verdict in GOOD and not model.fleet["certified"]:
        return f"{model.verdict.upper()}, but {model.statement[0].lower()}{model.statement[1:]}"
    return f"{model.verdict.upper()}: {model.statement}"


def _hosts(model: Model) -> str:
    """Return how many hosts have each verdict, or the name and the verdict of the only host."""
    if len(model.hosts) == 1:
        return f"{shorten(model.hosts[0].label)}: {model.hosts[0].verdict}"
    counts = counts_worst_first(model.fleet.get("counts") or {})
    measured_not = sum(host.verdict == NOT_MEASURED for host in model.hosts)
    words = count_words(counts + ([(NOT_MEASURED, measured_not)] if measured_not else []))
    return f"{model.size}: {words}" if words else model.size


def _causes(model: Model) -> Iterator[str]:
    """Yield each cause with what follows from it. What several causes have in common is said once."""
    said: set[str] = set()
    for cause in causes(model):
        if cause.kind == QUALIFICATION and cause.statement.partition(": ")[2] in _headline(model):
            continue
        yield head(cause.verdict, cause.statement)
        lines = (cause.consequence, cause.next_step and f"Next: {cause.next_step}", cause.seen and f"Seen: {cause.seen}", cause.detail)
        for line in lines:
            if line and line not in said:
                said.add(line)
                yield DETAIL + line


def _passes(host: Host) -> Iterator[str]:
    """Yield what is known of the limits that the only host of a run keeps."""
    for limit in host.limits:
        if limit["verdict"] == PASS and not limit["hard"]:
            yield head(PASS, limit["worst"]["reason"])


def _table(host: Host) -> Iterator[str]:
    """Yield the figures of a run of one host: small enough to be read at once."""
    lines = [[host.words.size.capitalize(), f"{host.words.load}s", *figure_titles(host)]]
    for _row, figures in host.results():
        if figures["worker"] == "all":
            texts = [text.replace("\u2265", ">=") for text in figures_of(figures)]
            lines.append([step_cell(host, figures), str(figures["load_point"]), *texts])
    if len(lines) > 1:
        widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
        for line in lines:
            yield TABLE + "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
