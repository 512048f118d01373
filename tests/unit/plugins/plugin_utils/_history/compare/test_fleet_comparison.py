# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From certificates to a comparison: the runs and classes, what is left out and why, and the fleet's outcome."""

from __future__ import annotations

import json
import math
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.change import NON_INFERIOR, WORSE
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.fleet_comparison import (
    compare_fleet,
    statement_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.selection import select
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.comparison import class_sentence
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.moment import later
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import INCONCLUSIVE
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

BASE = {**made_up.certificate().content, "method_version": 1}
BASE["rows"] = BASE["rows"][:2]
FEW, FLEET = [f"h{number}" for number in range(3)], [f"h{number:02}" for number in range(10)]


def certificate(host, day, factor=1.0, **fields):
    """Return a host's certificate from the run of a day (1 to 31), with the latencies of BASE multiplied by a factor.
    environment is added to the environment of BASE."""
    rows = [{**row, "latency_mean_ns": row["latency_mean_ns"] * factor} for row in BASE["rows"]]
    environment = {**BASE["environment"], **fields.pop("environment", {})}
    times = {"run_id": f"run-{day:02}", "judged_at": f"2026-01-{day:02}T10:00:00Z"}
    return made_up.changed(
        made_up.Certificate.of_content(BASE),
        **{"host": host, "rows": rows, "environment": environment, **times, **fields},
    )


def night(hosts, day, slow=(), spread=0.01, **fields):
    """Return a run in which the figures of each host differ a little, and those of some hosts differ more."""
    rng = random.Random(f"{day}")
    return [
        certificate(host, day, math.exp(rng.gauss(0, spread)) * dict(slow).get(host, 1), **fields) for host in hosts
    ]


@pytest.fixture
def compared(tmp_path):
    """Store certificates, and compare those of days 1 to 9 with those of days 10 to 19. Later days are not selected."""

    def listed(side):
        return [side] if isinstance(side, str) else side

    def compare(
        *certificates,
        hosts=None,
        before="2026-01-01..2026-01-09",
        after="2026-01-10..2026-01-19",
        figure="latency_mean_ns",
        margin=0.1,
    ):
        with open_history(str(tmp_path / "history.sqlite"), create=True) as history:
            history.store(certificates)
            hosts = hosts or {each.content["host"] for each in certificates}
            return compare_fleet(
                history,
                *(select(history, listed(side)) for side in (before, after)),
                hosts,
                figure=figure,
                margin=margin,
            )

    return compare


def outcomes(comparison):
    return {host["host"]: host["outcome"] for host in comparison["hosts"]}


def host_of(comparison, name):
    return next(host for host in comparison["hosts"] if host["host"] == name)


def test_the_slow_host_of_a_class_is_named_and_comes_first(compared):
    comparison = compared(
        *night(FLEET, 1), *night(FLEET, 2), *night(FLEET, 11, [("h04", 1.3)]), *night(FLEET, 12, [("h04", 1.3)])
    )
    first = comparison["hosts"][0]
    assert (comparison["outcome"], first["host"], first["outcome"]) == (WORSE, "h04", WORSE)
    assert 0.2 < first["lower_bound"] < first["change"] < first["upper_bound"] < 0.4
    assert math.log1p(first["change"]) * 2 == pytest.approx(
        math.log1p(first["lower_bound"]) + math.log1p(first["upper_bound"])
    )
    assert set(outcomes(comparison).values()) == {WORSE, NON_INFERIOR}
    (part,) = comparison["classes"]
    assert (
        part["hosts"],
        part["worse_hosts"],
        part["runs_before"],
        part["runs_after"],
        part["hold_against_class"],
    ) == (10, 1, 2, 2, True)
    assert [run["run_id"] for side in ("before", "after") for run in comparison[side]["runs"]] == [
        "run-01",
        "run-02",
        "run-11",
        "run-12",
    ]
    assert statement_of(comparison) == "1 of 10 volumes became worse by at least 10 %."
    json.dumps(comparison)


def test_a_fleet_that_did_not_change_is_non_inferior(compared):
    comparison = compared(*night(FLEET, 1), *night(FLEET, 2), *night(FLEET, 11))
    assert (comparison["outcome"], set(outcomes(comparison).values())) == (NON_INFERIOR, {NON_INFERIOR})
    assert statement_of(comparison) == "no volume of 10 is shown to have become worse by at least 10 %."


def test_a_class_that_became_worse_as_a_whole_is_told(compared):
    slow = [(host, 1.25) for host in FLEET]
    comparison = compared(*night(FLEET, 1), *night(FLEET, 2), *night(FLEET, 11, slow), *night(FLEET, 12, slow))
    (part,) = comparison["classes"]
    assert (comparison["outcome"], part["moved_together"], part["worse_together"], part["worse_hosts"]) == (
        WORSE,
        True,
        True,
        0,
    )
    assert {(host["outcome"], host["reason"], host["runs_needed"]) for host in comparison["hosts"]} == {
        (INCONCLUSIVE, "it became worse, but no more than its class", None)
    }
    assert statement_of(comparison).endswith("10 cannot be decided; 1 class became worse as a whole.")


def test_one_run_against_one_of_a_few_hosts_names_none_and_says_how_many_would(compared):
    comparison = compared(*night(FEW, 1), *night(FEW, 11, [("h0", 2.0)]))
    assert (comparison["outcome"], set(outcomes(comparison).values())) == (INCONCLUSIVE, {INCONCLUSIVE})
    assert {(host["runs_needed"], host["lower_bound"]) for host in comparison["hosts"]} == {(3, None)}
    assert "3 before and 3 after can" in comparison["hosts"][0]["reason"]
    assert host_of(comparison, "h0")["change"] == pytest.approx(1.0, abs=0.1)


def test_a_few_hosts_are_held_against_their_own_runs(compared):
    nights = [each for day in (1, 2, 3) for each in night(FEW, day)] + [
        each for day in (11, 12, 13) for each in night(FEW, day, [("h1", 1.4)])
    ]
    comparison = compared(*nights)
    assert (comparison["outcome"], outcomes(comparison)) == (
        WORSE,
        {"h0": NON_INFERIOR, "h1": WORSE, "h2": NON_INFERIOR},
    )
    assert compared(*nights, hosts=["h0", "h2"])["outcome"] == NON_INFERIOR


def test_a_few_hosts_are_not_named_by_runs_of_one_day(compared):
    """Three runs of each side, either on three days or within four hours."""
    for hours, outcome in ((4, INCONCLUSIVE), (48, WORSE)):
        runs = []
        for day, slow in ((1, ()), (11, [("h1", 1.6)])):
            for number in range(3):
                moment = later(f"2026-01-{day:02}T10:00:00Z", number * hours / 2 * 3600)
                times = {"run_id": f"{hours}-{day}-{number}", "judged_at": moment}
                runs += night(FEW, day + number, slow, volume_id=f"volume-{hours}", **times)
        (first, last) = (f"{hours}-1-", f"{hours}-11-")
        comparison = compared(
            *runs, before=[f"{first}{number}" for number in range(3)], after=[f"{last}{number}" for number in range(3)]
        )
        assert host_of(comparison, "h1")["outcome"] == outcome
        (part,) = comparison["classes"]
        assert part["assumption"] == {"correlation": pytest.approx(0.4, abs=0.15), "hours": hours}
        assert f"; they were made within {hours} h" in class_sentence(part)
        reason = "the runs that show how much it varies were made within 4 h; a few volumes need 36 h"
        assert (host_of(comparison, "h1")["reason"] == reason) == (hours == 4)


def test_a_few_hosts_with_one_run_on_each_side_are_not_named_by_earlier_runs_of_one_day(compared):
    for hours, outcome in ((4, INCONCLUSIVE), (48, WORSE)):
        runs = []
        for number in range(5):
            times = {"run_id": f"{hours}-{number}", "judged_at": later("2026-01-01T10:00:00Z", number * hours * 900)}
            runs += night(FEW, number + 1, volume_id=f"volume-{hours}", **times)
        for day, slow in ((9, ()), (11, [("h1", 1.4)])):
            runs += night(FEW, day, slow, run_id=f"{hours}-{day}", volume_id=f"volume-{hours}")
        comparison = compared(*runs, before=[f"{hours}-9"], after=[f"{hours}-11"])
        assert host_of(comparison, "h1")["outcome"] == outcome
        assert comparison["classes"][0]["assumption"]["hours"] == hours


def test_earlier_runs_tell_how_much_the_runs_of_a_few_hosts_differ(compared):
    """Only comparable certificates of the same volume count, and only if they are older than the first selected one."""
    earlier = [each for day in range(1, 7) for each in night(FEW, day)]
    unlike = [
        certificate("h0", 7, 9, disturbances=["x"]),
        certificate("h0", 8, 9, volume_id="replaced"),
        certificate("h0", 20, 9),
    ]
    comparison = compared(*earlier, *unlike, *night(FEW, 9), *night(FEW, 11, [("h1", 1.4)]), before="2026-01-09")
    assert outcomes(comparison) == {"h0": NON_INFERIOR, "h1": WORSE, "h2": NON_INFERIOR}
    assert {host["earlier_runs"] for host in comparison["hosts"]} == {6}


def test_hosts_of_different_classes_and_sweeps_are_not_held_against_each_other(compared):
    half = {"environment": {"device_model": "other"}}
    comparison = compared(*night(FLEET, 1), *night(FLEET, 11), *night(FEW, 1, **half), *night(FEW, 11, **half))
    assert [(part["class"].split(",")[0], part["hosts"]) for part in comparison["classes"]][-1] == ("other", 3)
    parameters = {**BASE["parameters"], "option_files": "9"}
    comparison = compared(
        *night(["x"], 1, parameters=parameters), *night(["x"], 11, parameters=parameters), hosts=[*FLEET, "x"]
    )
    assert sorted(part["hosts"] for part in comparison["classes"]) == [1, 10]


def test_what_cannot_be_compared_is_left_out_with_the_reason(compared):
    comparison = compared(
        *night(FLEET, 1),
        *night(FLEET, 2),
        *night(FLEET[1:], 11),
        certificate("h00", 11, disturbances=["x"]),
        certificate("gone", 1, limits_verdict="fail", effect="fails", valid_from=None, valid_until=None),
    )
    assert {(each["host"], each["side"], each["reason"]) for each in comparison["left_out"]} == {
        ("h00", "after", "its measurement was disturbed"),
        ("gone", "before", "it does not keep its limits (verdict fail)"),
    }
    assert host_of(comparison, "h00")["reason"] == "it took part in 2 of 2 runs before and 0 of 1 after"
    assert host_of(comparison, "gone")["reason"] == "none of its certificates can be compared"
    assert comparison["outcome"] == INCONCLUSIVE  # even though the comparable hosts are non-inferior
    assert comparison["classes"][0]["outcome"] == NON_INFERIOR


def test_revoked_certificates_are_left_out(compared, tmp_path):
    compared(*night(FLEET, 1), *night(FLEET, 2), *night(FLEET, 11))
    with open_history(str(tmp_path / "history.sqlite")) as history:
        for entry in history.of_run("run-01"):
            if history.certificate(entry.sha256).content["host"] in FLEET[:9]:
                history.revoke(entry.sha256, "wrong disk", "ops")
    comparison = compared(hosts=FLEET)
    assert {(each["run_id"], each["reason"]) for each in comparison["left_out"]} == {("run-01", "it was revoked")}
    assert (len(comparison["left_out"]), comparison["classes"][0]["runs_before"]) == (9, 1)


def test_certificates_are_compared_with_the_newest_that_can_be(compared):
    old = night(FLEET, 1, method_version=2)
    comparison = compared(*old, *night(FLEET, 2), *night(FLEET, 11))
    assert {each["reason"] for each in comparison["left_out"]} == {"its method version is 2, not 1"}
    assert (comparison["outcome"], comparison["classes"][0]["runs_before"]) == (NON_INFERIOR, 1)


def test_a_fleet_that_was_measured_in_parts_makes_one_run(compared):
    """A host that was measured once more must not create an additional run that contains no other host."""
    parts = [*night(FLEET[:5], 1), *night(FLEET[5:], 2), *night(FLEET[:5], 11), *night(FLEET[5:], 12)]
    comparison = compared(*parts, certificate("h00", 3), certificate("h09", 13))
    assert (comparison["classes"][0]["runs_before"], comparison["classes"][0]["runs_after"]) == (1, 1)
    assert (comparison["outcome"], set(outcomes(comparison).values())) == (NON_INFERIOR, {NON_INFERIOR})


def test_what_changed_is_told_by_host_and_counted_for_the_fleet(compared):
    new = {"environment": {"kernel": "9.9"}}
    comparison = compared(*night(FEW, 1), *night(FEW[:1], 11), *night(FEW[1:], 11, **new))
    kernel = {"name": "kernel", "before": BASE["environment"]["kernel"], "after": "9.9"}
    assert [host_of(comparison, host)["changes"] for host in FEW] == [[], [kernel], [kernel]]
    assert comparison["changes"] == [{**kernel, "hosts": 2}]


def test_rows_and_figures_that_not_all_have(compared):
    """A row without the figure is left out for all volumes; if no row has it, nothing is known."""
    less = [certificate("h0", day, rows=BASE["rows"][:1]) for day in (1, 11)]
    comparison = compared(*less, *night(FEW[1:], 1), *night(FEW[1:], 11))
    assert host_of(comparison, "h1")["worst_row"]["block_size_bytes"] == BASE["rows"][0]["block_size_bytes"]
    none = [certificate("h0", day, rows=BASE["rows"][1:]) for day in (2, 12)]
    comparison = compared(*none)
    assert {host["reason"] for host in comparison["hosts"] if host["host"] == "h0"} == {
        "the volumes of its class have no row in common"
    }
    assert comparison["outcome"] == INCONCLUSIVE


def test_throughput_of_mqldt_is_a_baseline_for_what_was_measured(compared):
    imported = {
        "source": "mqldt",
        "method_version": None,
        "parameters": {},
        "verdict": "inconclusive",
        "effect": "attempt",
        "valid_from": None,
    }
    old = [certificate("h0", day, **imported, valid_until=None) for day in range(1, 7)]
    comparison = compared(*old, certificate("h0", 11), figure="bytes_per_s")
    assert (comparison["outcome"], comparison["hosts"][0]["runs_before"]) == (NON_INFERIOR, 6)
    assert compared(*old, certificate("h0", 11))["outcome"] == INCONCLUSIVE


def test_what_makes_no_sense_is_refused(compared):
    with pytest.raises(ValueError, match=r"of h0 \(run run-01\) is both before and after"):
        compared(*night(["h0"], 1), after="2026-01-01")
    with pytest.raises(ValueError, match="none of the selected certificates belongs to a host"):
        compared(*night(["h0"], 11), hosts=["other"])


def test_a_run_that_was_judged_again_tells_no_more_of_how_runs_differ(compared):
    earlier = [each for day in (20, 21, 22) for each in night(["h0"], day)]
    moved = [made_up.changed(each, judged_at=each.entry.judged_at.replace("2026-01", "2025-12")) for each in earlier]
    again = [made_up.changed(each, judged_at=each.entry.judged_at.replace("T10", "T11")) for each in moved]
    comparison = compared(*moved, *again, *night(["h0"], 1), *night(["h0"], 10))
    assert host_of(comparison, "h0")["earlier_runs"] == 3


def test_an_expected_host_without_a_selected_certificate_is_inconclusive(compared):
    comparison = compared(
        *night(FLEET, 1), *night(FLEET, 2), *night(FLEET, 11), *night(FLEET, 12), hosts=[*FLEET, "h99"]
    )
    assert comparison["outcome"] == INCONCLUSIVE and set(outcomes(comparison).values()) == {NON_INFERIOR, INCONCLUSIVE}
    host = host_of(comparison, "h99")
    assert (host["outcome"], host["reason"], host["class"]) == (
        INCONCLUSIVE,
        "none of the selected certificates belongs to this host",
        None,
    )
    assert comparison["hosts"][0] is host and "no volume of 11 is shown to have become worse" in statement_of(
        comparison
    )


def test_another_mount_point_is_compared_as_another_volume(compared):
    root = {"identity": {**BASE["identity"], "mount_point": "/"}}
    both = [*night(FEW, 1), *night(FEW, 2), *night(FEW, 11), *night(FEW, 12)]
    moved = [certificate("h0", day, 3, **root) for day in (13, 14)]
    comparison = compared(*both, *moved)
    assert outcomes(comparison)["h0 at /"] == INCONCLUSIVE and host_of(comparison, "h0 at /")["runs_before"] == 0
    assert {"h0 at /var/mqm/log", "h1", "h2"} <= outcomes(comparison).keys() and WORSE not in outcomes(
        comparison
    ).values()
