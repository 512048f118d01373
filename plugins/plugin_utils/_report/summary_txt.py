# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""summary.txt: the summary after the play recap, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import FIGURES, count_words, figures_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import NOT_MEASURED, Host, Model, counts_worst_first
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import size_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import GOOD, PASS

WORST_HOSTS = 10
REASONS_OF_A_HOST = 3
NOTES_OF_A_HOST = 3


def render(model: Model) -> Iterator[str]:
    """Yield the summary's lines, without the report's path."""
    yield _headline(model)
    if model.gate_statement:
        yield f"  {model.gate_statement}\n"
    if model.chance_statement:
        yield f"  {model.chance_statement}\n"
    yield f"  run      {model.run_id}, profile {model.profile_name}\n"
    yield f"  expected {model.expectation}\n"
    yield f"  result   {_hosts(model)}\n"
    if len(model.hosts) == 1:
        yield from _table(model.hosts[0])
        yield from _passes(model.hosts[0])
    yield from _worst(model)


def _headline(model: Model) -> str:
    """Return the first line; its first word is the verdict, or INTERNAL if the run did not reach one."""
    if not model.gate_ran and not model.run.get("merged_from"):
        return f"INTERNAL: the run ended before its gate. Its records say {model.verdict}: {model.statement}\n"
    if model.verdict in GOOD and not model.fleet["certified"]:
        return f"{model.verdict.upper()}, but {model.statement[0].lower()}{model.statement[1:]}\n"
    return f"{model.verdict.upper()}: {model.statement}\n"


def _hosts(model: Model) -> str:
    counts = counts_worst_first(model.fleet.get("counts") or {})
    measured_not = sum(host.verdict == NOT_MEASURED for host in model.hosts)
    words = count_words(counts + ([(NOT_MEASURED, measured_not)] if measured_not else []))
    return f"{model.size}: {words}" if words else model.size


def _worst(model: Model) -> Iterator[str]:
    shown = [host for host in model.hosts if host.verdict != PASS or host.leftovers or (host.recorded_notes and len(model.hosts) == 1)]
    for host in shown[:WORST_HOSTS]:
        yield f"  {host.verdict:<12} {host.label}\n"
        sentences = [*host.reasons, *(f"left behind: {item}" for item in host.leftovers)]
        for sentence in sentences[:REASONS_OF_A_HOST]:
            yield f"               {sentence}\n"
        if len(sentences) > REASONS_OF_A_HOST:
            left = len(sentences) - REASONS_OF_A_HOST
            yield f"               and {left} more reason{'s' if left > 1 else ''}\n"
        for note in host.recorded_notes[:NOTES_OF_A_HOST]:
            yield f"               note: {note}\n"
    if len(shown) > WORST_HOSTS:
        yield f"  and {_units.format_count(len(shown) - WORST_HOSTS)} more hosts, in the report\n"


def _passes(host: Host) -> Iterator[str]:
    """Yield what is known of the limits that the only host of a run keeps."""
    for limit in host.limits:
        if limit["verdict"] == PASS and not limit["hard"]:
            yield f"  {PASS:<12} {limit['worst']['reason']}\n"


def _table(host: Host) -> Iterator[str]:
    """Yield the figures of a run of one host: small enough to be read at once."""
    lines = [["Block size", f"{host.words.load}s", *(title for title, column, write in FIGURES)]]
    for _row, figures in host.results():
        if figures["worker"] == "all":
            texts = [text.replace("\u2265", ">=") for text in figures_of(figures)]
            lines.append([size_text(figures["block_size_bytes"]), str(figures["load_point"]), *texts])
    if len(lines) > 1:
        widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
        for line in lines:
            yield "  " + "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) + "\n"
