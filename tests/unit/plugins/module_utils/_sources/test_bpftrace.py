# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the source bpftrace refuses, and which directories it watches. tests/integration/test_observe_kernel.py tests
what it sees."""

from __future__ import annotations

import os

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import SourceError, bpftrace, bpftrace_program

OPTIONS = {"log_path": "", "log_path_problem": "", "calls": [], "library": "", "pid": 0, "command": []}
LOG_STREAM = ("log", bpftrace_program.log_stream([(1, 2)]))


def why(function, *arguments):
    with pytest.raises(SourceError) as caught:
        function(*arguments)
    return str(caught.value)


def checked(**options):
    return why(bpftrace.Source({**OPTIONS, **options}).check)


@pytest.fixture
def kernel(monkeypatch, tmp_path):
    """A kernel with everything that is needed; tests remove parts of it."""
    (tmp_path / "tracing/events/syscalls").mkdir(parents=True)
    (tmp_path / "btf").write_text("")
    monkeypatch.setattr(bpftrace, "_TRACING", (str(tmp_path / "tracing"),))
    monkeypatch.setattr(bpftrace, "_BTF", str(tmp_path / "btf"))
    monkeypatch.setattr(bpftrace, "_LOCKDOWN", str(tmp_path / "lockdown"))
    return tmp_path


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "bpftrace has nothing to watch: the log path is not known; set observe_log_path, or observe_calls"),
        (
            {"log_path_problem": "two queue managers run"},
            "bpftrace has nothing to watch: two queue managers run; set observe_log_path, or observe_calls",
        ),
        ({"calls": ["MQPUT; exit"]}, "observe_calls: MQPUT; exit is not the name of a function, such as MQPUT"),
        ({"calls": [f"MQ{n}" for n in range(9)]}, "observe_calls: name at most 8 calls"),
        (
            {"pid": 1, "command": ["true"], "calls": ["MQPUT"]},
            "observe_pid and observe_command are mutually exclusive: unset one of them",
        ),
        ({"command": ["true"]}, "observe_command needs observe_calls, for example [MQPUT, MQCMIT]"),
    ],
)
def test_options_that_do_not_fit(monkeypatch, options, reason):
    monkeypatch.setattr(bpftrace, "_bpftrace", lambda: "bpftrace")
    assert checked(**options) == reason


def test_bpftrace_is_not_installed(monkeypatch):
    monkeypatch.setattr(bpftrace.shutil, "which", lambda *dummy, **dummies: None)
    assert checked(calls=["MQPUT"]) == "bpftrace is not installed: install the package bpftrace, or use another source"


def test_the_account_is_not_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    expected = "bpftrace needs root, and this account is not root: set observe_become to true"
    assert why(bpftrace._refuse_privilege) == expected


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [
        ("0000000000000000", "CAP_BPF and CAP_PERFMON"),
        ("0000004000000000", "CAP_BPF"),
        ("0000008000000000", "CAP_PERFMON"),
    ],
)
def test_root_lacks_capabilities(monkeypatch, capabilities, missing):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(
        bpftrace._machine, "read_text", lambda *dummy: f"Name:\tx\nCapEff:\t{capabilities}\nCapBnd:\t0\n"
    )
    assert (
        why(bpftrace._refuse_privilege)
        == f"root lacks {missing} here: run the container with these capabilities, or observe from the machine itself"
    )


@pytest.mark.parametrize("capabilities", ["000000c000000000", "0000000000200000"])
def test_root_with_enough_capabilities(monkeypatch, capabilities):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(bpftrace._machine, "read_text", lambda *dummy: f"CapEff:\t{capabilities}\n")
    bpftrace._refuse_privilege()


def test_what_the_kernel_lacks(kernel):
    bpftrace._refuse_kernel([LOG_STREAM])
    (kernel / "lockdown").write_text("none integrity [confidentiality]\n")
    assert "locked down (confidentiality)" in why(bpftrace._refuse_kernel, [LOG_STREAM])
    (kernel / "lockdown").write_text("none [integrity] confidentiality\n")
    bpftrace._refuse_kernel([LOG_STREAM])
    (kernel / "btf").unlink()
    assert "CONFIG_DEBUG_INFO_BTF" in why(bpftrace._refuse_kernel, [LOG_STREAM])
    (kernel / "btf").write_text("")
    (kernel / "tracing/events/syscalls").rmdir()
    assert "CONFIG_FTRACE_SYSCALLS" in why(bpftrace._refuse_kernel, [LOG_STREAM])
    (kernel / "tracing/events").rmdir()
    assert (
        why(bpftrace._refuse_kernel, [LOG_STREAM])
        == f"tracefs is not mounted: run mount -t tracefs tracefs {kernel}/tracing as root"
    )


@pytest.mark.parametrize(
    ("events", "noticed"),
    [
        ({}, ((), True)),
        ({"syscalls/sys_enter_io_submit/format": ""}, (("aio",), True)),
        ({"io_uring/io_uring_complete/format": "field:void * ctx;\nfield:void * req;\n"}, (("io_uring",), True)),
        ({"io_uring/io_uring_complete/format": "field:void * ctx;\nfield:u64 user_data;\n"}, ((), False)),
    ],
)
def test_which_writes_the_kernel_lets_one_notice(kernel, events, noticed):
    """Without io_uring in the kernel, there is nothing to detect. Older kernels do not show which requests are
    complete."""
    for name, text in events.items():
        (kernel / "tracing/events" / name).parent.mkdir(parents=True)
        (kernel / "tracing/events" / name).write_text(text)
    assert bpftrace._noticed() == noticed


def inodes(*directories):
    return {directory.stat().st_ino for directory in directories}


def test_the_extents_are_watched_and_the_control_file_is_not(tmp_path):
    (tmp_path / "active").mkdir()
    (tmp_path / "active/S0000000.LOG").write_text("")
    (tmp_path / "amqhlctl.lfh").write_text("")
    assert {inode for dummy, inode in bpftrace.places_of(str(tmp_path))} == inodes(tmp_path / "active")


def test_without_extents_all_directories_below_the_log_path_are_watched(tmp_path):
    (tmp_path / "active").mkdir()
    places = bpftrace.places_of(str(tmp_path))
    assert {inode for dummy, inode in places} == inodes(tmp_path, tmp_path / "active")
    device = tmp_path.stat().st_dev
    assert {number for number, dummy in places} == {os.major(device) << 20 | os.minor(device)}


def test_a_log_path_that_is_none(tmp_path):
    assert "cannot look into the log path" in why(bpftrace.places_of, str(tmp_path / "absent"))
    for number in range(bpftrace.DIRECTORIES_MAX):
        (tmp_path / str(number)).mkdir()
    assert "more than 16 directories" in why(bpftrace.places_of, str(tmp_path))


def test_a_library_that_bpftrace_cannot_name(tmp_path):
    library = tmp_path / 'lib"mqm.so'
    library.write_text("")
    assert "bpftrace cannot name the library" in why(
        bpftrace.Source({**OPTIONS, "calls": ["MQPUT"], "library": str(library)})._streams
    )


def test_a_process_without_the_library():
    assert "has loaded no MQI library" in why(
        bpftrace.Source({**OPTIONS, "calls": ["MQPUT"], "pid": os.getpid()})._streams
    )


def test_a_single_process_is_watched_for_its_calls_alone(tmp_path):
    library = tmp_path / "libmqm_r.so"
    library.write_text("")
    options = {**OPTIONS, "log_path": str(tmp_path), "calls": ["MQPUT", "MQCMIT", "MQPUT"], "library": str(library)}
    assert [name for name, dummy in bpftrace.Source(options)._streams()] == ["log", "MQPUT", "MQCMIT"]
    assert [name for name, dummy in bpftrace.Source({**options, "command": ["true"]})._streams()] == ["MQPUT", "MQCMIT"]


def test_the_program_names_its_streams_and_leaves_no_place_holder():
    log = bpftrace_program.log_stream([(1, 2)], (bpftrace_program.AIO, bpftrace_program.IO_URING))
    text = bpftrace_program.text_of([log, bpftrace_program.call_stream("/opt/ID/lib<NAME>.so", "MQPUT")], 60)
    assert "$device == 1 && $inode == 2" in text
    assert "uretprobe:/opt/ID/lib<NAME>.so:MQPUT" in text
    assert "<" not in text.replace("lib<NAME>.so", "").replace("<<", "").replace("<=", "").replace(" < ", "")
    assert all(f"sys_exit_{call}" in text for call in ("write", "pwrite64", "writev", "pwritev", "pwritev2"))
