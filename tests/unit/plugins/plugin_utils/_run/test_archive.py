# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run directory is unchanged after it was archived and restored, and no archive writes anything but the files of its
run."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run import archive
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.archive import ArchiveError, pack, unpack
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

RUN_JSON = b'{"schema": 1, "run_id": "run1", "kind": "measurement"}'


def files(directory):
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in Path(directory).rglob("*") if path.is_file()
    }


def member(name, content=b"", **keys):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in keys.items():
        setattr(info, key, value)
    return info, content


def archive_of(*members, kind=tarfile.USTAR_FORMAT):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as stream, tarfile.open(fileobj=stream, mode="w", format=kind) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def run(tmp_path):
    """A run of two hosts, one of which has the longest names that are possible."""
    long = "h" * 80
    good = fabricate.tables(over=[])
    directory = RunDirectory.create(
        str(tmp_path / "reports"), {**fabricate.run_data(["db07", long, "\u202e.."]), "run_id": "run1"}
    )
    directory.records.write(fabricate.judged(directory.run, "db07", good), good)
    directory.records.write(fabricate.judged(directory.run, "\u202e..", good), good)
    directory.orders.write_round({"host": long, "volume": "v" * 64}, 10, good)
    return directory


def test_what_is_packed_comes_back_and_twice_gives_the_same_bytes(run, tmp_path):
    (Path(run.path) / "hosts/.record.json.aside").write_text("still being written")
    (Path(run.path) / "hosts/link").symlink_to("/etc")
    packed = pack(run.path)
    os.utime(os.path.join(run.path, "run.json"), (1, 1))
    assert pack(run.path) == packed and packed[4:8] == bytes(4)  # the header contains no time
    fetched = unpack(packed, str(tmp_path / "elsewhere"), "run1")
    expected = files(run.path)
    del expected["hosts/.record.json.aside"]
    assert files(fetched.path) == expected and len(expected) > 15
    assert [record.host for record in list(judged_records(fetched))] == [
        record.host for record in list(judged_records(run))
    ]
    assert not os.path.lexists(os.path.join(fetched.path, "hosts/link"))
    with pytest.raises(ArchiveError, match=r"run1 cannot be unpacked to .*/run1"):
        unpack(packed, str(tmp_path / "elsewhere"), "run1")
    assert os.listdir(tmp_path / "elsewhere") == ["run1"]


GOOD = (member("run1", type=tarfile.DIRTYPE), member("run1/run.json", RUN_JSON))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([member("run1/../evil", b"x")], "is not the name of a file of this run"),
        ([member("/etc/evil", b"x")], "is not the name of a file of this run"),
        ([member("evil/run.json", RUN_JSON)], "is not the name of a file of this run"),
        ([member("run1/./evil", b"x")], "is not the name of a file of this run"),
        ([member("run1/.evil", b"x")], "is not the name of a file of this run"),
        ([member("run1/evil\n", b"x")], "is not the name of a file of this run"),
        ([member("run1/link", type=tarfile.SYMTYPE, linkname="/etc")], "neither a plain file"),
        ([member("run1/link", type=tarfile.LNKTYPE, linkname="/etc/passwd")], "neither a plain file"),
        ([member("run1/device", type=tarfile.CHRTYPE)], "neither a plain file"),
        ([member("run1/pipe", type=tarfile.FIFOTYPE)], "neither a plain file"),
        ([member("run1", b"x")], "neither a plain file"),
        ([member("run1/run.json", RUN_JSON)], "File exists"),
        ([member("run1/none/file", b"x")], "No such file"),
        ([member("run1/run.json/x", b"x")], "Not a directory"),
        ([member("run1/large", bytes(3000))], "neither a plain file of at most"),
        ([member(f"run1/{number}", bytes(1500)) for number in range(3)], "more than"),
        ([member(f"run1/{number}") for number in range(20)], "more than"),
    ],
)
def test_an_archive_that_is_not_that_of_a_run_leaves_nothing(tmp_path, monkeypatch, members, message):
    for name, value in (("MOST_FILE_BYTES", 2000), ("MOST_BYTES", 4000), ("MOST_MEMBERS", 10)):
        monkeypatch.setattr(archive, name, value)
    with pytest.raises(ArchiveError, match=message):
        unpack(archive_of(*GOOD, *members), str(tmp_path / "reports"), "run1")
    assert list((tmp_path / "reports").iterdir()) == [] and [path.name for path in tmp_path.iterdir()] == ["reports"]
    assert unpack(archive_of(*GOOD), str(tmp_path / "reports"), "run1").run["run_id"] == "run1"


@pytest.mark.parametrize("kind", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_headers_that_name_their_own_size_are_not_read(tmp_path, kind):
    with pytest.raises(ArchiveError):
        unpack(archive_of(*GOOD, member("run1/" + "x" * 5000), kind=kind), str(tmp_path), "run1")


def cut(packed):
    return gzip.compress(gzip.decompress(packed)[: 5 * 512])


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        lambda packed: b"",
        lambda packed: b"no archive",
        lambda packed: packed[:-60],
        lambda packed: packed[:60] + b"\0" * 9,
    ],
)
def test_a_damaged_archive_is_refused(tmp_path, damage):
    packed = archive_of(*GOOD, member("run1/more", os.urandom(2000)))
    with pytest.raises(ArchiveError):
        unpack(damage(packed), str(tmp_path), "run1")
    assert list(tmp_path.iterdir()) == []


def test_another_run_is_refused(tmp_path):
    other = member("run1/run.json", RUN_JSON.replace(b"run1", b"run2"))
    with pytest.raises(ArchiveError, match="it contains another run"):
        unpack(archive_of(GOOD[0], other), str(tmp_path), "run1")
    with pytest.raises(ArchiveError, match=r"'\.\./run1' is not a run ID"):
        unpack(archive_of(*GOOD), str(tmp_path), "../run1")


def test_a_run_that_is_too_large_is_not_packed(run, monkeypatch):
    monkeypatch.setattr(archive, "MOST_PACKED_BYTES", 1000)
    with pytest.raises(ArchiveError, match="is larger than 0 MB when it is packed"):
        pack(run.path)
    monkeypatch.setattr(archive, "MOST_FILE_BYTES", 100)
    with pytest.raises(ArchiveError, match=r"cannot be packed: run1/\S+: it has more than 100 bytes"):
        pack(run.path)
