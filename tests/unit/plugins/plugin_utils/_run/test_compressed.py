# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that are stored compressed: read in either form, and never larger than without compression."""

from __future__ import annotations

import gzip
import hashlib
import tracemalloc
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run import records, run_files
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import read_either
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

FILES = fabricate.tables(over=[])
LONG = ("intervals.csv", "over.csv")


def run_of(base, hosts=("db07",), **keys):
    return RunDirectory.create(str(base), {**fabricate.run_data(hosts), **keys})


def filed(directory, host="db07", files=None):
    files = FILES if files is None else files
    folder = directory.records.write(fabricate.judged(directory.run, host, files), files)
    return Path(directory.path) / folder


def unpacked(folder):
    for path in [*folder.glob("*.gz")]:
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()


def names_in(folder):
    return {path.name for path in folder.iterdir()}


def test_long_tables_are_compressed_and_the_record_describes_their_content(tmp_path):
    directory = run_of(tmp_path / "a")
    folder = filed(directory)
    assert names_in(folder) == {"record.json", "run.csv", "results.csv", *(f"{name}.gz" for name in LONG)}
    (record,) = judged_records(directory)
    for name in LONG:
        packed = (folder / f"{name}.gz").read_bytes()
        assert gzip.decompress(packed) == FILES[name]
        assert record.tables[name] == {
            "bytes": len(FILES[name]),
            "sha256": hashlib.sha256(FILES[name]).hexdigest(),
        }
        assert packed == (filed(run_of(tmp_path / "b" / name)) / f"{name}.gz").read_bytes()
        assert packed[3:8] == bytes(5), "neither a name nor a time"
    assert directory.records.tables(record) == FILES
    assert (folder / "intervals.csv.gz").stat().st_size < len(FILES["intervals.csv"]) / 5


def test_unpacked_tables_are_read_and_replaced(tmp_path):
    directory = run_of(tmp_path / "a")
    folder = filed(directory)
    unpacked(folder)
    assert names_in(folder) == {"record.json", *FILES}
    (record,) = judged_records(directory)
    assert directory.records.tables(record) == FILES
    merged = merge_runs([directory.path], str(tmp_path / "b"))
    assert merged.records.tables(next(iter(judged_records(merged)))) == FILES
    filed(directory)
    assert names_in(folder) == {"record.json", "run.csv", "results.csv", *(f"{name}.gz" for name in LONG)}
    directory.records.withdraw("db07", "log")
    assert names_in(folder) == set()


def test_a_write_that_was_interrupted_leaves_the_earlier_tables(tmp_path):
    directory = run_of(tmp_path)
    folder = filed(directory)
    unpacked(folder)
    (folder / "over.csv.gz").write_bytes(gzip.compress(b"new\n"))
    assert directory.records.tables(next(iter(judged_records(directory)))) == FILES


def test_the_rounds_of_a_search_are_compressed(tmp_path):
    directory = run_of(tmp_path)
    directory.orders.write_round({"host": "db07", "volume": "log"}, 1, FILES)
    folder = Path(directory.path) / "hosts/db07/log/round-1"
    assert names_in(folder) == {"order.json", "run.csv", "results.csv", *(f"{name}.gz" for name in LONG)}
    assert directory.orders.read_round("db07", "log", 1, [*FILES, "stalls.csv"]) == FILES


@pytest.mark.parametrize("hosts", [100, 101])
def test_the_records_and_short_tables_of_a_large_run_are_compressed(tmp_path, hosts):
    directory = run_of(tmp_path, [f"db{number:02d}" for number in range(hosts)])
    folder = filed(directory)
    directory.certificates.write("hosts/db07/log", "{}\n")
    directory.orders.write({"host": "db07", "volume": "log"})
    names = {"record.json", "order.json", "run.csv", "results.csv"}
    expected = {f"{name}.gz" for name in names} if hosts > 100 else names
    assert names_in(folder) == {"certificate.json", *expected, *(f"{name}.gz" for name in LONG)}
    again = RunDirectory.open(directory.path)
    assert again.records.has("db07", "log") and again.certificates.read("hosts/db07/log") == b"{}\n"
    (record,) = judged_records(again)
    assert (record.host, again.records.tables(record)) == ("db07", FILES)
    assert len(again.missing()) == hosts - 1
    again.records.note_leftovers("db07", "log", ["/x"])
    assert not again.certificates.read("hosts/db07/log")
    again.records.withdraw("db07", "log")
    assert names_in(folder) <= {"order.json", "order.json.gz"}


def test_no_more_is_decompressed_than_a_plain_file_may_have(tmp_path):
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(64 << 20)))
    tracemalloc.start()
    with pytest.raises(OSError, match="more than 100000 bytes"):
        read_either(str(tmp_path / "bomb"), 100_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    (tmp_path / "fits.gz").write_bytes(gzip.compress(bytes(100_000)))
    assert read_either(str(tmp_path / "fits"), 100_000) == bytes(100_000)


@pytest.mark.parametrize("module", [records, run_files])
def test_a_table_or_record_that_is_a_bomb_is_refused(tmp_path, module, monkeypatch):
    directory = run_of(tmp_path)
    folder = filed(directory)
    (record,) = judged_records(directory)
    if module is records:
        monkeypatch.setattr(records, "MAX_TABLE_BYTES", 1000)
        with pytest.raises(RunDirectoryError, match=r"^intervals\.csv cannot be read: it has more than 1000 bytes"):
            directory.records.tables(record, ["intervals.csv"])
    else:
        (folder / "record.json").unlink()
        (folder / "record.json.gz").write_bytes(gzip.compress(bytes((16 << 20) + 1)))
        (record,) = judged_records(directory)
        assert record.verdict == "error" and "it has more than 16777216 bytes" in record.reasons[0]


DAMAGES = {
    "nothing": (lambda packed: b"", "not exactly one complete gzip file"),
    "plain": (lambda packed: FILES["over.csv"], "is not a gzip file"),
    "cut off": (lambda packed: packed[:-1], "not exactly one complete gzip file"),
    "longer": (lambda packed: packed + b"x", "not exactly one complete gzip file"),
    "twice": (lambda packed: packed * 2, "not exactly one complete gzip file"),
    "wrong checksum": (lambda packed: packed[:-8] + bytes(8), "or it is damaged"),
    "another table": (lambda packed: gzip.compress(b"step\n"), "is not what was collected"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_compressed_table_that_is_damaged(tmp_path, damage):
    directory = run_of(tmp_path)
    path = filed(directory) / "over.csv.gz"
    change, message = DAMAGES[damage]
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(RunDirectoryError, match=rf"^over\.csv .*{message}"):
        directory.records.tables(next(iter(judged_records(directory))))
