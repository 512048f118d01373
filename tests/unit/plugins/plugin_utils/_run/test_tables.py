# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tester's tables: valid content, and everything that must be refused."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import KEY_COLUMNS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import MAX_BYTES, TablesError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from hypothesis import given, settings
from hypothesis import strategies as st


def parse(rows=None, **run_keys):
    return parse_tables(fabricate.tables(rows, **run_keys))


def refused(files, message):
    with pytest.raises(TablesError, match=message) as error:
        parse_tables(files)
    assert str(error.value).endswith(".")
    assert str(error.value).isprintable()


KEY = b"\n1,4096,1,log,write,1,"


def with_line(name, old, new):
    files = fabricate.tables(fabricate.step_rows(1, 4096))
    content = files[name].replace(old, new, 1)
    assert content != files[name]
    return {**files, name: content}


RECORDED = fabricate.PROJECT / "tests/fixtures/tables"


def recorded(name):
    return parse_tables({path.name: path.read_bytes() for path in (RECORDED / name).glob("*.csv")})


@pytest.mark.parametrize(("name", "status", "steps"), [("measured", 0, 4), ("interrupted", 4, 2)])
def test_recorded_tables_of_the_tester_agree_with_each_other(name, status, steps):
    tables = recorded(name)
    assert (tables.exit_status, len({row["step"] for row in tables.results})) == (status, steps)
    for row in tables.results:
        assert row["latency_sum_ns"] == pytest.approx(row["latency_mean_ns"] * row["operations"], rel=1e-6)
        assert row["bytes"] == row["operations"] * row["block_size_bytes"]
        assert all(
            value is None or isinstance(value, (int, float))
            for column, value in row.items()
            if column not in ("stream", "operation", "worker")
        )
        if row["worker"] == "all":
            of_step = [
                (second["operations"], second["latency_max_ns"])
                for second in tables.intervals
                if second["step"] == row["step"]
            ]
            assert sum(writes for writes, dummy in of_step) == row["operations"]
            assert max(highest for dummy, highest in of_step) == row["latency_max_ns"]
            assert (
                sum(bucket["operations"] for bucket in tables.histogram if bucket["step"] == row["step"])
                == row["operations"]
            )
    assert {1_000, 100_000, 2_000_000, 5_000_000_000} <= set(tables.over_thresholds_ns)
    operations = {(second["step"], second["second"]): second["operations"] for second in tables.intervals}
    assert {
        (row["step"], row["second"]): row["operations"]
        for row in tables.over
        if (row["over_ns"], row["worker"]) == (1_000, "all")
    } == operations
    assert all(0 < row["operations"] <= operations[row["step"], row["second"]] for row in tables.over)


def test_recorded_tables_of_streams_agree_with_each_other():
    tables = recorded("streams")
    whole = [row for row in tables.results if row["stream"] == "all"]
    assert (
        tables.layout.by_stream,
        tables.step_size,
        tables.run["option_loads"],
        [row["load_point"] for row in whole],
    ) == (True, "none", "1 2", [1, 2])
    assert [tables.workers_of(row) for row in whole] == [5, 7]
    for row in (row for row in tables.results if row["worker"] == "all"):
        assert sum(second["operations"] for second in tables.seconds_of(row)) == row["operations"]
        assert sum(second["bytes"] for second in tables.seconds_of(row)) == row["bytes"]
        assert max(second["latency_max_ns"] for second in tables.seconds_of(row)) == row["latency_max_ns"]
        assert sum(count for dummy, count in tables.latencies_of(row)) == row["operations"]
        responses = sum(count for dummy, count in tables.responses_of(row))
        assert responses == (row["operations"] + row["operations_not_started"] if row["stream"] == "users" else 0)
    for row in tables.streams_together:
        reads_and_writes = [
            each
            for each in tables.results
            if (each["step"], each["stream"], each["worker"]) == (row["step"], row["stream"], "all")
        ]
        assert (row["operations"], len(reads_and_writes)) == (
            sum(each["operations"] for each in reads_and_writes),
            1 if row["stream"] == "log" else 2,
        )
    assert {row["property"] for row in tables.fidelity} == {
        "read_share",
        "size_share",
        "operations_per_s",
        "capacity_share",
    }


def test_a_columns_name_says_its_type():
    later = {"later_figure_ns": "12.5", "later_count": "7", "later_slope_share": "-0.5", "steady_state": "1"}
    rows = [{**row, **later} for row in fabricate.step_rows(1, 4096)]
    tables = parse_tables(
        fabricate.tables(rows, ("later_figure_ns", "later_count", "later_slope_share"), new_key="new")
    )
    row = tables.results[0]
    assert [row[column] for column in later] == [12.5, 7, -0.5, 1]
    assert (row["stream"], row["operation"], row["worker"]) == ("log", "write", 1)
    assert tables.run["new_key"] == "new"


def test_a_stream_with_a_size_mix_of_its_own_has_no_block_size():
    rows = [{**row, "block_size_bytes": None} for row in fabricate.step_rows(1, 4096)]
    files = fabricate.tables(fabricate.step_rows(1, 4096))
    tables = parse_tables({**files, "results.csv": fabricate.results_table(rows)})
    assert tables.results[0]["block_size_bytes"] is None


def test_streams_are_counted_apart():
    rows = fabricate.step_rows(1, 4096)
    reads = [{**row, "stream": "data", "operation": "read"} for row in fabricate.step_rows(1, 4096, 4)]
    reads = [{**row, "load_point": 1} for row in reads]
    assert len(parse([*rows, *reads], workload="bsu", load_unit="BSUs").results) == 7
    refused(fabricate.tables([*rows, *reads]), "queue manager 2 in step 1, which has 1")


def test_large_tables_are_read_only_when_asked_for():
    files = {**fabricate.tables(fabricate.step_rows(1, 4096)), "intervals.csv": b"nonsense", "histogram.csv": b"\xff"}
    tables = parse_tables(files)
    for name in ("intervals", "histogram"):
        with pytest.raises(TablesError, match=name):
            getattr(tables, name)


OVER_COLUMNS = (*KEY_COLUMNS, "second", "over_ns", "operations", "latency_sum_ns")


def over(*lines, columns=OVER_COLUMNS, thresholds="100000 2000000"):
    """Return tables whose over.csv has these lines of step 1 after the key columns."""
    files = fabricate.tables(fabricate.step_rows(1, 4096), option_over_ns=thresholds)
    rows = [(1, 4096, 1, "log", "write", "all", *line) for line in lines]
    return parse_tables({**files, "over.csv": fabricate.table(columns, rows)})


def test_seconds_over_a_threshold():
    tables = over((1, 100000, 7, 800000), (1, 2000000, 1, 3000000), (5, 100000, 2, 300000))
    assert tables.over_thresholds_ns == (100_000, 2_000_000)
    assert [tuple(row[column] for column in OVER_COLUMNS[6:]) for row in tables.over][1] == (1, 2_000_000, 1, 3_000_000)
    assert len(tables.over) == 3


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([(1, 100001, 7, 800000)], "line 2 has the threshold 100001, which option_over_ns in run.csv does not have"),
        ([(1, 100000, 0, 0)], "line 2 has no operation"),
        (
            [(1, 100000, 7, 800000), (2, 100000, 7, 800000), (1, 100000, 3, 400000)],
            "line 4 repeats the threshold 100000 in second 1 of step 1",
        ),
        ([(1, 100000, None, 800000)], "nothing in the column operations"),
        ([(1, 100000, 7, None)], "nothing in the column latency_sum_ns"),
        ([(1, 100000, "7.5", 800000)], "instead of a whole number"),
        ([(1, "1e5", 7, 800000)], "instead of a whole number"),
    ],
)
def test_seconds_over_a_threshold_that_cannot_be(lines, message):
    with pytest.raises(TablesError, match=f"over.csv .*{message}"):
        _read = over(*lines).over


@pytest.mark.parametrize("missing", range(len(OVER_COLUMNS)))
def test_every_column_of_over_is_needed(missing):
    tables = over(columns=[column for number, column in enumerate(OVER_COLUMNS) if number != missing])
    with pytest.raises(TablesError, match=f"lacks the column {OVER_COLUMNS[missing]}"):
        _read = tables.over


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [("100000 2ms", '"2ms" instead of'), ("2 1", "and ascending"), ("1 1", "and ascending"), ("0 1", "not above 0")],
)
def test_thresholds_that_cannot_be(thresholds, message):
    with pytest.raises(TablesError, match=message):
        _read = over(thresholds=thresholds).over_thresholds_ns


@pytest.mark.parametrize("name", ["run.csv", "results.csv"])
def test_a_missing_table(name):
    files = fabricate.tables()
    del files[name]
    refused(files, f"{name} is missing")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"complete": None}, "not complete"),
        ({"complete": 0}, "not complete"),
        ({"schema_version": 2}, 'schema version "2"'),
        ({"exit_status": 1}, 'exit status "1"'),
        ({"exit_status": ""}, "exit status"),
        ({"exit_status": "00"}, "exit status"),
        ({"steps_planned": 9}, '7 of "9" steps'),
        (
            {"tables_missing": "histogram.csv", "complete": 0, "exit_status": 2, "exit_message": "No space left"},
            '"histogram.csv" could not be written .No space left.',
        ),
        ({"tables_missing": "histogram.csv"}, r'"histogram.csv" could not be written\.'),
    ],
)
def test_a_run_that_is_not_to_be_believed(keys, message):
    refused(fabricate.tables(**keys), message)


def test_complete_must_be_the_last_row():
    refused(with_line("run.csv", b"complete,1\n", b"complete,1\nversion2,1\n"), "not complete")


@pytest.mark.parametrize(
    ("measured", "limit", "refused"),
    [(1, "db:read:latency_mean:1ns", False), (2, "db:read:latency_mean:1ns", True), (1, "", True)],
)
def test_a_run_that_ended_above_its_limit_lacks_only_the_steps_that_it_names(measured, limit, refused):
    keys = {"exit_reason": "stopped_above", "stop_above_1": limit, "steps_planned": 3, "steps_measured": measured}
    if refused:
        with pytest.raises(TablesError, match="although the tester reports that it measured all"):
            parse(fabricate.step_rows(1, 4096), **keys)
    else:
        assert len(parse(fabricate.step_rows(1, 4096), **keys).results) == 2


@pytest.mark.parametrize(
    ("more", "refused"),
    [({}, False), ({"fail_above_1": ""}, True), ({"ended_early_step": 2}, True), ({"steps_measured": 2}, True)],
)
def test_a_run_that_a_broken_limit_ended_lacks_only_the_steps_that_it_names(more, refused):
    keys = {"fail_above_1": "latency_max:1ns", "ended_early_step": 1, "steps_planned": 3, "steps_measured": 1, **more}
    if refused:
        with pytest.raises(TablesError, match="although the tester reports that it measured all"):
            parse(fabricate.step_rows(1, 4096), exit_reason="ended_early", **keys)
    else:
        assert len(parse(fabricate.step_rows(1, 4096), exit_reason="ended_early", **keys).results) == 2


def test_an_interrupted_run_may_lack_steps():
    assert len(parse(fabricate.step_rows(1, 4096), exit_status=4, exit_reason="deadline", steps_planned=9).results) == 2
    assert parse([], exit_status=3, exit_reason="io_error").results == []


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("run.csv", b"key,value", b"key,values", "does not begin"),
        ("run.csv", b"program,", b"version,1\nprogram,", "version twice"),
        ("run.csv", b"program,", b"pro gram,", "malformed key"),
        ("run.csv", b"logdisk", b"log\0disk", "NUL"),
        ("run.csv", b"logdisk", b"log\xffdisk", "UTF-8"),
        ("run.csv", b"program,logdisk", b"program,logdisk,x", "3 fields"),
        ("run.csv", b"program,logdisk", b'program,"log"disk', "not a CSV"),
        ("run.csv", b"complete,1\n", b"complete,1", "cut off"),
        ("results.csv", b"latency_p99_ns", b"latency_q99_ns", "lacks the column latency_p99_ns"),
        ("results.csv", b"latency_p90_ns", b"latency_p99_ns", "a column twice"),
        ("results.csv", b"latency_p90_ns", b"=cmd()", "malformed column"),
        ("results.csv", KEY, b"\n1,4096,1,log,write,", "fields"),
        ("results.csv", KEY, b"\n1,-4096,1,log,write,1,", '"-4096" instead of a whole number'),
        ("results.csv", KEY, b"\n1,4096.0,1,log,write,1,", "instead of a whole number"),
        ("results.csv", KEY, "\n1,٤٠٩٦,1,log,write,1,".encode(), "instead of a whole number"),
        ("results.csv", KEY, b"\n1,99999999999999999999,1,log,write,1,", "instead of a whole number"),
        ("results.csv", KEY, b"\n1," + b"9" * 5000 + b",1,log,write,1,", "instead of a whole number"),
        ("results.csv", KEY, b"\n1,0,1,log,write,1,", "two block sizes|block size 0"),
        ("results.csv", KEY, b"\n1,4096,1,log,write,x,", "instead of a whole number"),
        ("results.csv", KEY, b"\n1,4096,1,log,write,,", "nothing in the column worker"),
        ("results.csv", KEY, b"\n1,4096,1,log,write,2,", "one row for each"),
        ("results.csv", KEY, b"\n1,4096,1,log,write,all,", "twice"),
        ("results.csv", KEY, b"\n1,8192,1,log,write,1,", "two block sizes"),
        ("results.csv", b"200000.000", b"nan", '"nan" instead of a number'),
        ("results.csv", b"200000.000", b"inf", "instead of a number"),
        ("results.csv", b"200000.000", b"1e3", "instead of a number"),
        ("results.csv", b"200000.000", b'"200000.000\n"', "instead of a number"),
        ("results.csv", b",100000,17,", b",0,17,", "without the fastest or the slowest one"),
        ("results.csv", b",4000000,4711,", b",,4711,", "without the fastest or the slowest one"),
    ],
)
def test_damage(name, old, new, message):
    refused(with_line(name, old, new), message)


@pytest.mark.parametrize("workers, left_out", [(3, 2), (1, 1)])
def test_a_row_that_is_left_out_is_noticed(workers, left_out):
    rows = [row for row in fabricate.step_rows(1, 4096, workers) if row["worker"] != left_out]
    refused(fabricate.tables(rows), "one row for each worker")
    refused(
        fabricate.tables([row for row in fabricate.step_rows(1, 4096) if row["worker"] != "all"]), "one row for each"
    )


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("intervals.csv", ("second", "partial", "operations", "bytes", "latency_sum_ns")),
        ("histogram.csv", ("batch", "latency_upper_ns", "operations")),
    ],
)
def test_what_is_counted_is_never_empty(name, columns):
    header = (*KEY_COLUMNS, *columns, "latency_p99_ns", "latency_max_ns")
    for column in columns:
        row = [None if each == column else 1 for each in columns]
        tables = parse_tables(
            {**fabricate.tables(), name: fabricate.table(header, [(1, 4096, 1, "log", "write", "all", *row, 5, 5)])}
        )
        with pytest.raises(TablesError, match=f"{name} line 2 has nothing in the column {column}"):
            _read = tables.intervals if name == "intervals.csv" else tables.histogram


def test_a_table_without_end():
    files = fabricate.tables()
    refused({**files, "run.csv": files["run.csv"] + b"x" * MAX_BYTES["run.csv"]}, "more than the")


def test_text_is_harmless_on_a_terminal():
    tables = parse(device_model="\x1b[31mred\u202e", mount_options="a\nb")
    assert tables.run["device_model"] == "\\x1b[31mred\\u202e"
    assert tables.run["mount_options"] == "a\\x0ab"


@pytest.mark.parametrize(("text", "number"), [("12.5", 12.5), ("", None), ("nan", None), ("-1", None), ("x", None)])
def test_numbers_of_the_run(text, number):
    assert parse(in_flight_age_ns=text).number("in_flight_age_ns") == number
    assert parse().number("in_flight_age_ns") is None


@settings(max_examples=200)
@given(st.data())
def test_damaged_bytes_give_tables_or_a_tables_error(data):
    name = data.draw(st.sampled_from(["run.csv", "results.csv", "intervals.csv"]))
    files = fabricate.tables(fabricate.step_rows(1, 4096))
    content = bytearray(files[name])
    for _count in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position : position + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    try:
        tables = parse_tables({**files, name: bytes(content)})
        for row in (*tables.results, *tables.intervals):
            assert all(not isinstance(value, (int, float)) or abs(value) < 1 << 64 for value in row.values())
            assert all(
                value >= 0
                for column, value in row.items()
                if isinstance(value, (int, float)) and column.endswith(("_ns", "_bytes", "_s"))
            )
    except TablesError:
        pass
