# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""index.html: one self-contained page for people, usable from a file, on paper, in dark mode and with thousands of
hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from markupsafe import Markup

from ..._english.phrases import capitalized, phrase
from ..._options.table import repeated_defaults
from ..._run.table_reader import printable
from ..._run.verdicts import FAIL, INCONCLUSIVE, PASS, WARN
from ..causes.groups import causes
from ..charts.fleet import MOST_STRIPS, fleet_chart
from ..charts.latency import latency_charts
from ..charts.seconds import ALL_STEPS, COLUMNS, FEWEST_STEPS, MOST_STEPS
from ..folding import brief
from ..headroom import share_text, worst_use_text
from ..model import Host, Model
from ..overview import counts_of, parameters_of, qualifies_of, steps_of, waivers_of
from ..page.fleet import LEVELS, classes_of, filters_of, fleet_row, level, limit_use_of, strips_of
from ..page.host import Detail, host_section, raw_files
from ..page.parts import CLASSES, SIGNS, anchor_of, badge, host_link, versions
from ..template import render_page, render_part
from .report_md import render as ticket_text

FILE = "index.html"

SHOWN_HOSTS = 1000
"""The largest number of hosts in the matrix, worst first; the picture of the fleet always contains all hosts."""
MOST_CELLS = 20_000
"""The largest number of cells of the matrix, for sweeps with many load points."""
MOST_DETAILS, MOST_DETAILS_OF_LARGE = 8_000_000, 600_000
"""The maximum total number of characters in the sections of hosts, and the same for a large fleet, so that its page
remains below 2 MB."""
LARGE = 100
"""A fleet of at least this many hosts is large: cells have no tooltips, and only the worst hosts are shown in
detail."""
ROOM_OF_CHARTED = 880_000
"""The number of characters that the sections of hosts with charts may have together if the charts can have fewer
columns, so that the page of 20 hosts remains below 1 MB."""
ALL_COLUMNS = 5000
"""The largest number of columns that all charts of a page can have together, unless each has the smallest number."""
FULLY_CHARTED = 8
"""The largest number of measured hosts for which every kind of chart is drawn. On a page of more hosts, estimates have
only one sentence, and distributions only their percentiles and the heat maps."""
SHOWN_CLASSES = 20
SHOWN_CAUSES = 30
SHOWN_NAMES = 200
"""The maximum number of hosts that are named for a cause."""

_LEVEL_SIGNS = {"warn": SIGNS[WARN], "unsure": SIGNS[INCONCLUSIVE], "broken": SIGNS[FAIL]}


def render(model: Model) -> Iterator[str]:
    """Yield the page's text piece by piece."""
    steps, titles = steps_of(model)
    shown = model.hosts[: min(SHOWN_HOSTS, MOST_CELLS // max(1, len(steps)))]
    sections, single = _sections(model, shown), len(model.hosts) == 1
    overview = _overview(model, shown, len(sections))
    anchors = [anchor_of(host.host, host.volume) for host in model.hosts[: len(sections)]]
    return render_page(
        "index.html.j2",
        styles=["comparison.css", "host.css"],
        footer=f"Run {model.run_id}",
        model=model,
        versions=versions_of(model),
        sections=sections,
        overview=overview,
        limit_use=None if overview else limit_use_of(model),
        worst_use="" if overview else capitalized(phrase("[{text}.]", {"text": worst_use_text(model)})),
        own_chart=model.kind.view.picture(model)
        if overview or not single
        else next(iter(latency_charts(model.hosts[0])), ""),
        counts=counts_of(model),
        step_titles=titles,
        parameters=parameters_of(model),
        qualifies=qualifies_of(model),
        waivers=waivers_of(model),
        badge=badge,
        brief=brief,
        host_link=lambda label, number: host_link(label, anchors[number - 1] if number else None),
        ticket="".join(ticket_text(model)),
        printable=printable,
        classes=CLASSES,
        signs=SIGNS,
        **_causes(model, len(sections)),
        **_fleet(model, shown, len(sections)),
    )


def versions_of(model: Model) -> list[str]:
    """Return the versions with which a run was measured, if they are known."""
    controller = model.run.get("controller") or {}
    testers = (printable(str(host.facts.get("tester_version") or "")) for host in model.hosts)
    return versions(
        *(
            printable(str(each or ""))
            for each in (model.run.get("collection_version"), controller.get("ansible_version"))
        ),
        testers,
    )


def _sections(model: Model, hosts: Sequence[Host]) -> list[Markup]:
    """Return the detailed sections of the first hosts, as many as there is room for."""
    sections: list[Markup] = []
    room = MOST_DETAILS if len(model.hosts) < LARGE else MOST_DETAILS_OF_LARGE
    section = _section_maker(model)
    detail = _detail([host for host in hosts if host.intervals], section)
    for host in hosts:
        sections.append(section(host, detail))
        room -= len(sections[-1])
        if room < 0 and len(sections) > 1:
            return sections[:-1]
    return sections


def _section_maker(model: Model) -> Callable[[Host, Detail], Markup]:
    """Return a function that renders the section of a host."""
    parameters, defaults = model.run.get("parameters") or {}, repeated_defaults()

    def section(host: Host, detail: Detail) -> Markup:
        view = host_section(host, len(model.hosts) == 1, parameters, defaults, detail)
        files = raw_files(model.path, host.folder)
        return render_part("page/host.html.j2", host=view, files=files, model=model, badge=badge, brief=brief)

    return section


def _detail(charted: Sequence[Host], section: Callable[[Host, Detail], Markup]) -> Detail:
    """Return how much is drawn of each host whose tables were read. The first one, which is among the worst, shows how
    much room they need."""
    if not charted:
        return Detail()
    steps = max(FEWEST_STEPS, min(MOST_STEPS, ALL_STEPS // len(charted)))
    charts = len(charted) * min(steps, len({row["step"] for row in charted[0].intervals}))
    *larger, smallest = (each for each in COLUMNS if each <= max(COLUMNS[-1], ALL_COLUMNS // charts))
    is_full = len(charted) <= FULLY_CHARTED
    for columns in larger:
        detail = Detail(steps, columns, is_full)
        if len(section(charted[0], detail)) * len(charted) <= ROOM_OF_CHARTED:
            return detail
    return Detail(steps, smallest, is_full)


def _overview(model: Model, shown: Sequence[Host], detailed: int) -> Markup | str:
    """Return the section about all hosts, which only some kinds of runs have. The first hosts are linked to their
    sections."""
    links = [
        host_link(model.shown_name(host), anchor_of(host.host, host.volume) if number <= detailed else None)
        for number, host in enumerate(shown, 1)
    ]
    return model.kind.view.overview(model, list(zip(shown, links, strict=True)))


def _causes(model: Model, detailed: int) -> dict[str, Any]:
    """Return the content of the part about causes; hosts are linked to their sections, if they have one."""
    found = causes(model)
    numbers = {host.label: number for number, host in enumerate(model.hosts[:detailed], 1)}
    return {
        "causes": found[:SHOWN_CAUSES],
        "causes_left": len(found[SHOWN_CAUSES:]),
        "links_of": lambda cause: [(label, numbers.get(label)) for label in cause.hosts[:SHOWN_NAMES]],
    }


def _fleet(model: Model, shown: Sequence[Host], detailed: int) -> dict[str, Any]:
    """Return what the page shows about the fleet. Its matrix contains the hosts in ``shown``, of which the first
    ``detailed`` ones have sections to which it links."""
    steps, titles = steps_of(model)
    filters = filters_of(model.hosts)
    strips = strips_of(model, steps[:MOST_STRIPS], titles[:MOST_STRIPS])
    strips_left = max(0, len(strips) - MOST_STRIPS) or len(steps[MOST_STRIPS:])
    strips = strips[:MOST_STRIPS]
    volume_classes = classes_of(model.hosts) if len(model.hosts) > 1 else []
    return {
        "rows": _Each(
            lambda place: fleet_row(shown[place], place + 1 if place < detailed else None, steps, filters), len(shown)
        ),
        "filters": filters,
        "compared": any(host.comparison for host in model.hosts),
        "fleet_chart": fleet_chart(strips, model.words.size) if len(model.hosts) > 1 else "",
        "fleet_sentences": [strip.sentence() for strip in strips],
        "has_titles": len(model.hosts) < LARGE,
        "strips_left": strips_left,
        "several_loads": len({load for load, size in steps}) > 1,
        "volume_classes": volume_classes[:SHOWN_CLASSES],
        "classes_left": len(volume_classes[SHOWN_CLASSES:]),
        "levels": LEVELS,
        "level_signs": {name: _LEVEL_SIGNS.get(name, SIGNS[PASS]) for name, text in LEVELS},
        "level": level,
        "share_text": share_text,
    }


class _Each:
    """The rendered data of each host, made again for each pass, so that a large fleet is never in memory twice."""

    def __init__(self, make: Callable[[int], Any], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return map(self._make, range(self._count))
