# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
import subprocess

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import command_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import check_loads, load_workload
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

SHIPPED = fabricate.PROJECT / "roles/sweep/files/workloads"
TESTER = fabricate.PROJECT / "src/build/logdisk"
NAMES = sorted(path.stem for path in SHIPPED.glob("*.yml"))
DATABASE = {"name": "db", "pattern": "random", "size": "8K"}
WALK = {"name": "db", "pattern": "walk", "size": "4K", "start": "15%", "width": "5%"}
RUNS = {"name": "db", "pattern": "runs", "size": "4K", "start": "20%-60%", "run": "10%"}
TWO = [{"name": "a", "share": "40%"}, {"name": "b", "share": "60%"}]


def load(*streams, **more):
    return load_workload({"name": "mine", "streams": list(streams), **more})


def nearest_job(arguments):
    """Return the tester's answer to arguments. The tester reads all arguments, and writes nothing."""
    return subprocess.run(
        [TESTER, *arguments, "--showFio", "--fileSize=64M", "--numFiles=16"],
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_documentation_lists_the_shipped_workloads():
    text = (fabricate.PROJECT / "docs/workloads.md").read_text(encoding="utf-8")
    table = text.partition("\n| workload |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", table, flags=re.MULTILINE)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_workload_says_what_it_is_and_is_taken_by_the_tester(name):
    workload = load_workload(name, str(SHIPPED))
    assert (workload.name, workload.version) == (name, 1)
    assert workload.description and workload.source and workload.is_not.startswith("Not ")
    if not workload.built_in:
        done = nearest_job([*command_line(workload.told), f"--load={','.join(map(str, workload.loads))}"])
        assert (done.returncode, done.stderr) == (0, "")


def test_a_workload_becomes_arguments():
    text = """
        name: mine
        version: 2026-11
        load_unit: clients
        loads: [1, 20]
        places:
          - {name: data, share: 90 %}
          - {name: wal, share: 10%, direct: false}
        streams:
          - {name: db, place: data, pattern: random, size: {8K: 60%, 4096: 39.5%, 64 KiB: 0.5%}, align: 128K, read: 75%,
             sync: none, workers: 4*load, pause: 10}
          - {name: scan, place: data, pattern: runs, size: 1M, read: 100%, start: 0% - 90%, run: 10%, arrival: even,
             rate: 1.5}
          - {name: log, place: wal, pattern: ring, size: 2300, sync: fdatasync, workers: load, arrival: exponential,
             rate: 1.75 * load}
    """
    workload = load_workload(yaml.safe_load(text))
    assert command_line(workload.told) == [
        "--place=name=data,share=90%,direct=yes",
        "--place=name=wal,share=10%,direct=no",
        (
            "--stream=name=db,place=data,pattern=random,size=8K:60+4K:39.5+64K:0.5,read=75%,sync=none,"
            "workers=4*load,pause=10,align=128K"
        ),
        (
            "--stream=name=scan,place=data,pattern=runs,size=1M,read=100%,sync=dsync,arrival=even,"
            "rate=1.5,start=0%-90%,run=10%"
        ),
        (
            "--stream=name=log,place=wal,pattern=ring,size=2300,sync=fdatasync,workers=1*load,"
            "arrival=exponential,rate=1.75*load"
        ),
        "--loadUnit=clients",
    ]
    assert nearest_job(command_line(workload.told)).returncode == 0
    assert workload.direct_sizes_bytes == [4096, 8192, 65536, 1 << 20]
    assert (workload.loads, workload.tester_name, workload.version) == ((1, 20), "streams", "2026-11")


@pytest.mark.parametrize(
    ("streams", "more", "said"),
    [
        ([DATABASE], {"stream": []}, "The workload has the unknown key 'stream': allowed keys: name, version,"),
        ([DATABASE], {"name": "my load"}, "name 'my load' may contain only letters"),
        ([DATABASE], {"version": 1.5}, "mine: version 1.5 must be"),
        ([DATABASE], {"source": "a book"}, "mine: source must be a list"),
        ([DATABASE], {"load_unit": "threads!"}, "mine: load_unit 'threads!' is not allowed"),
        ([DATABASE], {"loads": [1, 1]}, r"mine: loads \[1, 1\] must be a list of whole numbers without duplicates"),
        (
            [DATABASE],
            {"load_unit": "queue managers"},
            "mine: load_unit 'queue managers' belongs to a workload without streams; choose another one",
        ),
        ([DATABASE], {"loads": [0]}, "^mine: loads must be 1 to 1000 load points from 1 to 100000"),
        (
            [DATABASE],
            {"built_in": "mq-log"},
            "unknown key 'streams': allowed keys: name, version, description, source, is_not, built_in",
        ),
        ([], {}, "mine: streams must be a list of 1 to 16, not of 0"),
        (["db"], {}, "mine: stream 1 must be a dictionary"),
        ([{**DATABASE, "sise": "4K"}], {}, "mine: stream db has the unknown key 'sise'"),
        ([{"pattern": "random", "size": "8K"}], {}, "mine: stream 1: missing key name, for example name: db"),
        ([{"name": "db", "size": "8K"}], {}, "mine: stream db: missing key pattern"),
        ([{"name": "db", "pattern": "random"}], {}, "mine: stream db: missing key size"),
        (
            [{**DATABASE, "name": "all"}],
            {},
            "mine: stream all: name: 'all' is not allowed: use up to 32 letters",
        ),
        (
            [{**DATABASE, "name": "commit"}],
            {},
            "mine: stream commit: name: limits on commit apply to the commits of sweep_workload commit",
        ),
        ([{**DATABASE, "name": "../x"}], {}, "name: '../x' is not allowed"),
        ([DATABASE, DATABASE], {}, "mine: stream db: the name is given twice"),
        (
            [{**DATABASE, "pattern": "zipf"}],
            {},
            "mine: stream db: pattern: 'zipf' is not allowed: use ring, random, walk, runs",
        ),
        ([{**DATABASE, "workers": 0}], {}, "mine: stream db: workers: 0 is not allowed: use 1 to 4096, load"),
        ([{**DATABASE, "workers": "2*laod"}], {}, r"workers: '2\*laod'"),
        ([{**DATABASE, "workers": 1.5}], {}, "workers: 1.5"),
        (
            [{**DATABASE, "workers": "300*load"}],
            {"loads": [1, 20]},
            r"stream db: workers: 300\*load is 6000 at the largest load point, 20, but may be at most 4096",
        ),
        ([{**DATABASE, "arrival": "even", "rate": "1000*load"}], {"loads": [2000]}, r"rate: 1000\*load is 2000000"),
        ([{**DATABASE, "arrival": "even", "rate": 0}], {}, "rate: 0 is not allowed"),
        ([{**DATABASE, "arrival": "even", "rate": "load"}], {}, "rate: 'load' is not allowed"),
        ([{**DATABASE, "arrival": "even"}], {}, "mine: stream db: missing key rate"),
        ([{**DATABASE, "arrival": "even", "rate": 5, "pause": 1}], {}, "pause is not for arrival: even"),
        ([{**DATABASE, "rate": 5}], {}, "rate is not for arrival: closed"),
        ([{**DATABASE, "pause": 60000001}], {}, "pause: 60000001 is not allowed"),
        ([{**DATABASE, "read": "101%"}], {}, "read: '101%' is not allowed: use a percentage from 0% to 100%"),
        ([{**DATABASE, "read": 0.5}], {}, "read: 0.5 is not allowed"),
        ([{**DATABASE, "sync": "often"}], {}, "sync: 'often' is not allowed"),
        ([{**DATABASE, "start": "5%"}], {}, "start is not for pattern: random"),
        ([{**DATABASE, "size": "100"}], {}, "size: '100' is not allowed"),
        ([{**DATABASE, "size": ["8K"]}], {}, r"size: \['8K'\] is not allowed"),
        (
            [{**DATABASE, "size": {"8K": "50%", "4K": "49%"}}],
            {},
            "size: .* is not allowed: use a size from 512 to 64M, or up to 16 of them",
        ),
        ([{**DATABASE, "size": {"8K": "50%", 8192: "50%"}}], {}, "size: .* is not allowed"),
        (
            [{**DATABASE, "size": {"4K": "50%", "6K": "50%"}}],
            {},
            "size: 6144 is not a multiple of the smallest size, 4096",
        ),
        ([{**WALK, "size": {"4K": "50%", "8K": "50%"}}], {}, "size: a walk has one size"),
        ([{**WALK, "start": "15%-20%"}], {}, "start: a walk has one start"),
        (
            [{**DATABASE, "align": "12K"}],
            {},
            "mine: stream db: align: 12288 is not a multiple of the largest size, 8192",
        ),
        ([{**WALK, "align": "8K"}], {}, "mine: stream db: align is not for pattern: walk"),
        ([{**WALK, "start": "96%"}], {}, "start and width go beyond the end of the place"),
        ([{**RUNS, "start": "60%-20%"}], {}, "start: '60%-20%' is not allowed"),
        ([{**RUNS, "start": "20%-95%"}], {}, "start and run go beyond the end"),
        ([{**RUNS, "run": "0%"}], {}, "run: '0%' is not allowed"),
        ([{**DATABASE, "place": "log"}], {}, "mine: stream db: place: there is no place 'log': use data"),
        ([DATABASE], {"places": TWO}, "mine: stream db: missing key place, for example place: a"),
        ([{**DATABASE, "place": "a"}], {"places": TWO}, "mine: place b: no stream uses it"),
        (
            [DATABASE],
            {"places": [{"name": "a", "share": "40%"}, {"name": "b", "share": "50%"}]},
            "mine: places: the shares add up to 90%, but must add up to 100%",
        ),
        ([DATABASE], {"places": [{"name": "a", "share": "40%"}, {"name": "b"}]}, "mine: place b: missing key share"),
        ([DATABASE], {"places": [{"name": "a"}, {"name": "a"}]}, "mine: place a: the name is given twice"),
        (
            [DATABASE],
            {"places": [{"name": "a", "direct": "yes"}]},
            "mine: place a: direct: 'yes' is not allowed: use true or false",
        ),
        ([DATABASE], {"places": [{"name": "a", "dir": "/x"}]}, "mine: place a has the unknown key 'dir'"),
        (
            [DATABASE, {**DATABASE, "name": "x", "sync": "none"}],
            {},
            "stream x: sync: none is not possible together with sync: dsync of stream db",
        ),
        ([{**DATABASE, "workload": "mq-log"}], {}, "stream db: pattern is not for workload: mq-log"),
        ([{"name": "log", "size": "4K", "workload": "commit"}], {}, "stream log: workload: 'commit' is not allowed"),
        (
            [{"name": "log", "size": "4K", "workload": "mq-log"}],
            {"places": [{"name": "a", "direct": False}]},
            "place a has direct: false",
        ),
    ],
)
def test_what_the_tester_would_refuse_is_refused_before_and_named(streams, more, said):
    with pytest.raises(DefinitionError, match=said):
        load(*streams, **more)


@pytest.mark.parametrize("source", [None, 5, "", [], "mail", "no/such.yml"])
def test_a_workload_that_is_not_there_is_said(source):
    with pytest.raises(
        DefinitionError,
        match=(
            r"A workload is a name|There is no workload 'mail': use act-3x, "
            r"|no/such\.yml: The file cannot be read"
        ),
    ):
        load_workload(source, str(SHIPPED))


def test_a_file_of_ones_own_is_named_in_the_message(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text("name: mine\nstreams: [{name: db, pattern: random, size: 8K}]\n")
    assert load_workload(str(path)).name == "mine"
    path.write_text("name: mine\nname: yours\n")
    with pytest.raises(DefinitionError, match=r"mine\.yml: The file is not valid YAML: .*'name' is given twice"):
        load_workload(str(path))


def test_another_workload_must_not_have_the_name_of_a_shipped_one():
    shipped = yaml.safe_load((SHIPPED / "etcd-wal.yml").read_text())
    assert load_workload({**shipped, "loads": [1, 3]}, str(SHIPPED)).loads == (1, 3)
    with pytest.raises(
        DefinitionError, match="name: etcd-wal is the name of a workload of this collection, but this one differs"
    ):
        load_workload({**shipped, "streams": [{**shipped["streams"][0], "size": "4K"}]}, str(SHIPPED))


def test_a_built_in_workload_has_no_other_name():
    """Otherwise, a profile would certify the workload under one name, but the preflight would report under the other
    name that it does not certify."""
    assert load_workload({"name": "mq-log", "built_in": "mq-log"}, str(SHIPPED)).tester_name == "mq-log"
    with pytest.raises(
        DefinitionError, match=r"mine: built_in: mq-log has only one form; .* name it: sweep_workload: mq-log"
    ):
        load_workload({"name": "mine", "built_in": "mq-log"}, str(SHIPPED))


def test_streams_that_only_read_may_have_any_sync_mode_beside_them():
    load(DATABASE, {**DATABASE, "name": "x", "sync": "none", "read": "100%"})


def test_other_load_points_are_checked_as_well():
    workload = load({**DATABASE, "workers": "100*load"})
    check_loads(workload, [40])
    with pytest.raises(DefinitionError, match=r"stream db: workers: 100\*load is 4100"):
        check_loads(workload, [1, 41])
