# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which certificates a volume is compared with, and which ones count together with this run, derived only from
entries."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare import selection as baseline
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

OWN = made_up.entry("2026-12-31")


def nights(kinds):
    """Return an entry for each letter, which stands for a night: n (no comparison), a (accepted), and, compared with
    the last baseline, i (inconclusive), w (worse) and o (non-inferior)."""
    outcomes = {"i": "inconclusive", "w": "worse", "o": "non-inferior"}
    found = []
    for day, kind in enumerate(kinds, start=1):
        against = baseline.baseline_of(baseline.last_baseline(found)) if kind in outcomes else None
        date = f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}"
        found.append(
            made_up.entry(
                date, limits_verdict="pass", outcome=outcomes.get(kind), baseline=against, accepted=int(kind == "a")
            )
        )
    return found


def numbers(entries, kept):
    """Return the indexes of the entries that were kept, so that tests can use strings of nights."""
    return [entries.index(entry) for entry in kept]


@pytest.mark.parametrize(
    "kinds, before",
    [
        ("", []),
        ("nnn", [0, 1, 2]),
        ("nnniwoi", [0, 1, 2]),  # a run that was compared with a baseline never becomes a baseline itself
        ("nnnoon", [0, 1, 2, 5]),
        ("nnnia", [4]),  # a manually accepted run alone forms the baseline
        ("nnniaonn", [4, 6, 7]),
        ("nana", [3]),
        ("n" * 14, list(range(4, 14))),
        ("iii", []),
    ],
)
def test_the_last_baseline(kinds, before):
    entries = nights(kinds)
    assert numbers(entries, baseline.last_baseline(entries)) == before


@pytest.mark.parametrize(
    "kinds, after",
    [
        ("nnn", []),
        ("nnnii", [3, 4]),
        ("nnniiw", []),  # after a conclusive comparison, earlier runs no longer count
        ("nnniiwi", [6]),
        ("nnniioii", [6, 7]),
        ("nnniin", []),  # compared with something else
        ("nnniiaii", [6, 7]),
        ("nnn" + "i" * 9, [8, 9, 10, 11]),  # five with this run
    ],
)
def test_the_runs_that_count_with_this_one(kinds, after):
    entries = nights(kinds)
    assert numbers(entries, baseline.counting_with(entries, baseline.last_baseline(entries))) == after


@pytest.mark.parametrize(
    "kinds, periods",
    [
        ("nnnii", []),
        ("nnniiw", [[3, 4, 5]]),
        ("nnniiwow", [[3, 4, 5], [6], [7]]),
        ("nnniiwannoii", [[0, 1, 2], [3, 4, 5], [9]]),  # the accepted one and the two after it are the baseline
        ("n" * 14, [[0, 1, 2, 3]]),
        ("nn" + "w" * 40, [[place] for place in range(22, 42)]),
    ],
)
def test_earlier_periods_are_those_between_decisions(kinds, periods):
    entries = nights(kinds)
    before = baseline.last_baseline(entries)
    found = baseline.earlier_periods(entries, [*before, *baseline.counting_with(entries, before)])
    assert [numbers(entries, period) for period in found] == periods


@pytest.mark.parametrize(
    "keys, comparable",
    [
        ({}, True),
        ({"limits_verdict": "warn"}, True),
        ({"limits_verdict": "pass", "verdict": "fail", "outcome": "worse"}, True),
        (
            {"effect": ATTEMPT, "limits_verdict": "pass"},
            True,
        ),  # the run does not certify, but it was measured in the same way
        ({"limits_verdict": "inconclusive"}, False),
        ({"limits_verdict": "fail"}, False),
        ({"disturbed": 1}, False),
        ({"method_version": 2}, False),
        ({"parameters": "p2"}, False),
    ],
)
def test_what_is_comparable_by_the_index(keys, comparable):
    entry = made_up.entry("2026-11-21", **keys)
    assert baseline.comparable_with(OWN, [entry], []) == ([entry] if comparable else [])
    assert baseline.comparable_with(OWN, [entry], [entry.sha256]) == []


def test_a_volume_has_the_entries_of_its_machine_that_are_older():
    older, later = made_up.entry("2026-11-21"), made_up.entry("2027-01-01")
    same_run = made_up.entry("2026-11-22", run_id=OWN.run_id)
    renamed = made_up.entry("2026-11-20", host="db08")
    clone = made_up.entry("2026-11-20", host="clone", boot_id="b9")
    assert baseline.own_entries(OWN, [older, later, same_run, renamed, clone]) == [renamed, older]


def test_a_run_that_was_judged_again_is_one_observation():
    first, again = (made_up.entry(day, run_id="R1") for day in ("2026-11-20", "2026-11-22"))
    between = made_up.entry("2026-11-21")
    assert baseline.own_entries(OWN, [first, between, again]) == [between, again]
