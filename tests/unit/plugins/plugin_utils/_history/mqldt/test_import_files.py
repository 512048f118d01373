# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs of IBM's mqldt become entries of the history that do not change a state and keep the biased mean separate."""

from __future__ import annotations

import datetime
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import Certificate
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.against_baseline import (
    hold_against_baseline,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.selection import named_certificates
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.figures import (
    LATENCY_MEAN,
    THROUGHPUT,
    rows_of,
    why_incomparable,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.mqldt.csv_reader import MqldtError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.mqldt.import_files import (
    Origin,
    certificates_of_file,
    import_mqldt,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.mqldt.test_csv_reader import (
    ROW,
    TITLES,
    file_of,
    several,
)

TODAY = datetime.date(2026, 11, 22)
ONE = file_of(TITLES, ROW)
DATES = ["2019-05-04", "2020-05-04", "2021-05-04", "2022-05-04", "2023-05-04"]
SPEEDS = ["34558314", "34558000", "34557000", "30000000", "20000000"]
FIVE = b"".join(file_of(TITLES, ROW.replace("34558314", speed), end="\r\n") for speed in SPEEDS)
DB07 = Origin("log", "db07")
OF_A_DAY = Origin("log", "db07", DATES[:1])


def only(content=ONE, name="x.csv", origin=OF_A_DAY):
    (certificate,) = certificates_of_file(name, content, origin, TODAY)
    return certificate


@pytest.fixture
def history(tmp_path):
    with open_history(str(tmp_path / "history.sqlite"), create=True) as opened:
        yield opened


@pytest.fixture
def imported(history, tmp_path):
    """Import a file with this name and content, and with the user's information about it."""

    def run(content, name="result.csv", origin=DB07):
        path = tmp_path / name
        path.write_bytes(content)
        return import_mqldt(history, [str(path)], origin, TODAY)

    return run


def test_five_runs_become_five_entries_and_importing_them_twice_changes_nothing(history, imported, tmp_path):
    origin = Origin("log", "db07", DATES)
    done, problems = imported(FIVE, origin=origin)
    entries = history.of_name("db07", "log")
    names = ", ".join(f"{entry.judged_at[:10]} {entry.sha256[:12]}" for entry in entries)
    assert done == [f"{tmp_path}/result.csv: 5 runs of db07, 5 added: {names}."] and problems == []
    assert [(entry.judged_at, entry.effect, entry.verdict, entry.identity) for entry in entries] == [
        (f"{date}T00:00:00Z", "attempt", "inconclusive", None) for date in DATES
    ]
    grown = FIVE.replace(b"\r\n", b"\n") + ONE
    done, problems = imported(grown, "grown.csv", Origin("log", "db07", [*DATES, "2024-05-04"]))
    assert "/grown.csv: 6 runs of db07, 1 added: 2019-05-04 " in done[0] and problems == []
    assert len(history.of_name("db07", "log")) == 6


def test_a_row_keeps_the_biased_mean_apart():
    (row,) = only().content["rows"]
    assert row == {
        "block_size_bytes": 4096,
        "load_point": 1,
        "stream": "log",
        "operation": "write",
        "operations": 25311,
        "bytes_per_s": 34558314,
        "interval_bytes_per_s_min": 33797184,
        "latency_mean_biased_ns": 112402,
        "latency_min_ns": 56458,
        "latency_max_ns": 724878,
        "limits": [],
    }


def test_the_seconds_of_a_single_queue_manager_are_not_those_of_all():
    (row,) = only(file_of(*several(4))).content["rows"]
    assert row["load_point"] == 4 and "interval_bytes_per_s_min" not in row


def test_an_entry_is_a_certificate_that_says_where_it_is_from():
    certificate = only()
    content = Certificate.parse(certificate.text.encode()).content
    assert (content["source"], content["profile"]["name"], content["method_version"]) == ("mqldt", "mqldt", None)
    assert re.fullmatch(r"20190504T000000Z-[0-9a-f]{6}", content["run_id"])


def test_the_throughput_is_compared_with_that_of_the_tester_and_the_mean_is_not():
    ours = made_up.certificate().content
    block_size = ours["rows"][0]["block_size_bytes"]
    theirs = only(file_of(TITLES, f"{block_size},10,{block_size * 10},{ROW.split(',', 3)[3]}")).content
    assert rows_of(theirs, THROUGHPUT).keys() <= rows_of(ours, THROUGHPUT).keys()
    assert why_incomparable(theirs, ours, THROUGHPUT) == ""
    assert why_incomparable(theirs, ours, LATENCY_MEAN) != "" and rows_of(theirs, LATENCY_MEAN) == {}


def test_a_state_is_not_changed_by_what_is_imported(history, imported):
    certified = made_up.certificate(host="db07")
    history.store([certified])
    now = Today(datetime.date.fromisoformat(certified.content["valid_from"]), 14)
    before = fleet_status(history.newest(), (), now)
    for name in ("db07-2019-05-04.csv", f"db07-{now.date}.csv", "old-2019-05-04.csv"):
        assert imported(ONE, name, Origin("log", hosts=("db07", "old")))[1] == []
    after = fleet_status(history.newest(), (), now)
    assert [line for line in after if line.host == "db07"] == before and before[0].state == "valid"
    assert [(line.state, line.entry) for line in after if line.host == "old"] == [("none", None)]


@pytest.mark.parametrize(
    "name, origin, expected",
    [
        ("db07-2019-05-04.csv", Origin("log", hosts=["db07"]), ("db07", "2019-05-04T00:00:00Z")),
        ("QM1-db07_2019-05-04.CSV", Origin("log", hosts=["db07", "7"]), ("db07", "2019-05-04T00:00:00Z")),
        ("QM1.web-1-2019-05-04.csv", Origin("log", hosts=["1", "web-1"]), ("web-1", "2019-05-04T00:00:00Z")),
        (
            "db07.example.com.2019-05-04",
            Origin("log", hosts=["com", "db07.example.com"]),
            ("db07.example.com", "2019-05-04T00:00:00Z"),
        ),
        ("db07.csv", Origin("log", "", ["2020-01-31"], ["db07"]), ("db07", "2020-01-31T00:00:00Z")),
        ("2019-05-04.csv", Origin("log", "db08"), ("db08", "2019-05-04T00:00:00Z")),
        (
            "db07-2019-05-04.csv",
            Origin("log", "db08", ["2020-01-31T13:05:59Z"], ["db07"]),
            ("db08", "2020-01-31T13:05:59Z"),
        ),
        ("x.csv", Origin("log", "\x1b[31m", DATES[:1]), (r"\x1b[31m", "2019-05-04T00:00:00Z")),
    ],
)
def test_host_and_date_are_those_of_the_variables_or_else_of_the_name(name, origin, expected):
    entry = only(name=name, origin=origin).entry
    assert (entry.host, entry.judged_at) == expected


@pytest.mark.parametrize(
    "content, name, origin, words",
    [
        (
            ONE,
            "db07-2019-05-04.csv",
            Origin("log"),
            "not contain a host of the inventory before the date: .* history_mqldt_host",
        ),
        (ONE, "xdb07-2019-05-04.csv", Origin("log", hosts=["db07", ""]), "not contain a host of the inventory"),
        (ONE, "db07-2019-05-04-b.csv", Origin("log", hosts=["db07"]), "not contain a host of the inventory"),
        (ONE, "db07.csv", DB07, r"1 run \(first lines: 2\), but 0 dates are given: .* history_mqldt_dates"),
        (ONE, "db07-20190504.csv", DB07, "0 dates are given"),
        (FIVE, "db07-2019-05-04.csv", DB07, r"5 runs \(first lines: 2, 4, 6, 8, 10\), but 0 dates"),
        (FIVE, "x.csv", Origin("log", "db07", DATES[:4]), "5 runs .* but 4 dates are given"),
        (FIVE, "x.csv", Origin("log", "db07", DATES[:1]), "5 runs .* but 1 date is given"),
        (FIVE * 3, "x.csv", DB07, r"18, 20, \.\.\.\)"),
        (ONE, "db07-2019-02-29.csv", DB07, '"2019-02-29" is not a day'),
        (ONE, "x.csv", Origin("log", "db07", ["4.5.2019"]), '"4.5.2019" is not a day such as 2019-05-04'),
        (ONE, "x.csv", Origin("log", "db07", ["2019-5-4"]), "is not a day"),
        (ONE, "x.csv", Origin("log", "db07", ["2019-05-04T25:00:00Z"]), "is not a day"),
        (ONE, "x.csv", Origin("log", "db07", ["2019-05-04T25:00:00\x1b"]), r"00\\x1b\" is not a day"),
        (ONE, "x.csv", Origin("log", "db07", ["2026-11-23"]), "in the future"),
    ],
)
def test_host_and_date_are_never_guessed(content, name, origin, words):
    with pytest.raises(MqldtError, match=words):
        certificates_of_file(name, content, origin, TODAY)


def test_a_damaged_file_is_named_and_the_others_are_imported(history, tmp_path):
    (tmp_path / "db07-2019-05-04.csv").write_bytes(ONE)
    (tmp_path / "db07-2020-05-04.csv").write_bytes(ONE.replace(b"112402", b"112,402") + ONE)
    paths = [str(tmp_path / name) for name in ("none\x1b.csv", "db07-2020-05-04.csv", "db07-2019-05-04.csv")]
    done, problems = import_mqldt(history, paths, Origin("log", hosts=["db07"]), TODAY)
    assert [sentence.partition(": 2")[0] for sentence in done] == [
        f"{tmp_path}/db07-2019-05-04.csv: 1 run of db07, 1 added"
    ]
    assert problems[0].endswith(r"none\x1b.csv cannot be read: No such file or directory.")
    assert problems[1].endswith('db07-2020-05-04.csv: line 2, column 12: "72549504" is beyond the last title.')
    assert len(history.of_name("db07", "log")) == 1


def test_an_import_under_a_wrong_host_is_taken_back_by_revoking_it(history, imported):
    imported(ONE, "wrong-2019-05-04.csv", Origin("log", hosts=["wrong"]))
    imported(ONE, "right-2019-05-04.csv", Origin("log", hosts=["right"]))
    (wrong,) = history.of_name("wrong", "log")
    history.revoke(wrong.sha256, "it was another host", "ops")
    assert [line.host for line in fleet_status(history.newest(), history.revocations(), Today(TODAY, 14))] == ["right"]


def test_dates_belong_to_a_single_file(history):
    with pytest.raises(MqldtError, match="one file at a time"):
        import_mqldt(history, ["a.csv", "b.csv"], Origin("log", "db07", DATES), TODAY)


def test_pruning_treats_an_imported_entry_as_any_other(history, imported):
    imported(FIVE, origin=Origin("log", "db07", DATES))
    assert history.prune(TODAY) == 4
    assert [entry.judged_at[:4] for entry in history.of_name("db07", "log")] == ["2023"]


@pytest.mark.parametrize("share, outcome", [(1.0, "non-inferior"), (0.5, "worse")])
def test_a_gate_holds_the_throughput_against_runs_of_mqldt(tmp_path, share, outcome):
    place = str(tmp_path / "history.sqlite")
    speeds = [34558314, 34658314, 34458314, 34508314, 34608314]
    content = b"".join(file_of(TITLES, ROW.replace("34558314", str(speed))) for speed in speeds)
    with open_history(place, create=True) as opened:
        opened.store(certificates_of_file("db07.csv", content, Origin("log", "db07", DATES), TODAY))
        named = named_certificates(opened, [entry.sha256[:12] for entry in opened.of_name("db07", "log")])
    # The latencies are realistic: the biased mean of mqldt is far below them.
    rows = [
        {**row, "bytes_per_s": speeds[0] * share} if row["block_size_bytes"] == 4096 else row
        for row in fabricate.sweep_rows()
    ]
    files = fabricate.tables(rows, over=[])
    baseline = {"kind": "certificates", "certificates": named, "margin": 0.1, "accept": False}
    directory = fabricate.run_directory(
        tmp_path, {"db07": files}, gate=False, baseline=baseline, history={"place": place, "required": True}
    )
    assert hold_against_baseline(directory) == ""
    (comparison,) = [directory.comparisons.read(folder) for folder in directory.records.folders()]
    assert (comparison["outcome"], comparison["figure"], comparison["worst_row"]["block_size_bytes"]) == (
        outcome,
        "bytes_per_s",
        4096,
    )
    assert sorted(comparison["before"]) == named
