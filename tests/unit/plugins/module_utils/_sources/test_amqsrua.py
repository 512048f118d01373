# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pwd
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _user
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import SourceError, amqsrua
from mq import install_amqsrua

LIMIT_S = 90
FIRST = (
    "Publication received PutDate:20180331 PutTime:13044235 Interval:4 minutes,3.456 seconds\n"
    "Log - physical bytes written 598876160 59871780/sec\n"
    "Log - write latency 280 uSec\n"
    "Parameter(18) Value(7) not recognised"
)
SECOND = (
    "Publication received PutDate:20180331 PutTime:13045235 Interval:10.001 seconds\nLog - physical bytes written 0 \n"
    "Log - write latency 281 uSec"
)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """program(behaviour): a Source that calls a program with this behaviour"""
    for name in ("CHECK_S", "SILENT_S"):
        monkeypatch.setattr(amqsrua, name, LIMIT_S)
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")

    def make(queue_manager="QM1", **play):
        path = tmp_path / "amqsrua"
        install_amqsrua(path, **{"text": f"{FIRST}\n\n{SECOND}\n\n", **play})
        return amqsrua.Source({"queue_manager": queue_manager, "amqsrua": str(path)})

    return make


def taken(source, count=9, seconds=LIMIT_S):
    generator, found = source.samples(time.monotonic() + seconds), []
    for text in generator:
        found += [] if text is None else [text]
        if len(found) == count:
            generator.close()
            break
    return found


def why(call):
    with pytest.raises(SourceError) as caught:
        call()
    return str(caught.value)


def test_each_publication_is_a_sample_as_soon_as_it_is_printed(program):
    assert taken(program(then="hang"), 2) == [FIRST, SECOND]
    assert taken(program()) == [FIRST, SECOND]


def test_something_is_said_while_nothing_is_published(program):
    source = program(text=FIRST + "\n\n", every_s=3600)
    samples = source.samples(time.monotonic() + LIMIT_S)
    while next(samples) is None:
        continue
    assert next(samples) is None
    samples.close()


def test_the_check_connects_and_waits_for_nothing(program):
    source = program(every_s=3600)
    assert source.check() == {"source_queue_manager": "QM1", "source_amqsrua": source._path()}


@pytest.mark.parametrize(
    ("play", "message"),
    [
        (
            {"refuse": 2059},
            (
                "queue manager QM1 is not running (amqsrua: MQOPEN ended with reason code 2059). To go on: "
                "start it (strmqm QM1), or set "
            ),
        ),
        (
            {"refuse": 2495},
            (
                "amqsrua failed (amqsrua: MQOPEN ended with reason code 2495). To go on: mqrc "
                "2495 prints what this code means"
            ),
        ),
        ({"queue_manager": ""}, "no running queue manager is known on this host: set observe_queue_manager"),
    ],
)
def test_why_the_check_fails(program, play, message):
    assert why(program(**play).check).startswith(message)


def test_missing_authority_is_named_exactly(program):
    user = _user.name()
    assert why(program(refuse=2035).check) == (
        f"user {user} has no authority (amqsrua: MQOPEN ended with reason code 2035). To go on: as a user of the "
        f"group mqm, call setmqaut -m QM1 -t qmgr -p {user} +connect +inq; setmqaut -m QM1 -t topic -n "
        f"SYSTEM.ADMIN.TOPIC -p {user} +sub; setmqaut -m QM1 -t queue -n SYSTEM.DEFAULT.MODEL.QUEUE -p {user} +get "
        f"+put +dsp (or add {user} to the group mqm)"
    )


def test_a_subscription_that_is_refused_is_a_reason_code(program):
    """amqsrua subscribes to its topic last, and prints this failure in another form."""
    user = _user.name()
    line = "Subscribe to $SYS/MQ/INFO/QMGR/QM1/Monitor/DISK/Log failed for 2:2035"
    assert why(program(fails=line).check).startswith(
        f"user {user} has no authority (amqsrua: Subscribe failed for 2:2035). To go on: as a user of the group mqm, "
        f"call setmqaut -m QM1 -t qmgr -p {user} +connect +inq; "
    )
    assert why(lambda: taken(program(fails=line.replace("2035", "2059")))).startswith(
        "queue manager QM1 is not running ("
    )


def test_a_name_in_a_command_is_quoted_if_needed(program, monkeypatch):
    monkeypatch.setattr(_user, "name", lambda: "CORP\\a b")
    message = why(program(refuse=2035).check)
    assert message.startswith("user CORP\\a b has no authority (")
    assert "setmqaut -m QM1 -t qmgr -p 'CORP\\a b' +connect +inq; " in message


@pytest.mark.parametrize("line", ["Class DISK not recognised", "Class: DISK Type: Log not recognised"])
def test_a_queue_manager_without_statistics_of_its_log(program, line):
    assert why(program(fails=line).check) == (
        f"QM1 does not publish statistics of its log (amqsrua: {line}). To go on: use MQ 9.0.4 or newer, or set "
        "observe_source to bpftrace"
    )


def test_a_queue_manager_that_publishes_nothing(program):
    assert why(lambda: taken(program(text="", then=2033))).startswith(
        "QM1 published nothing about its log for 30 s (amqsrua: no more messages)"
    )


def test_a_program_that_hangs_is_ended(program, monkeypatch):
    monkeypatch.setattr(amqsrua, "CHECK_S", 0.5)
    monkeypatch.setattr(amqsrua, "SILENT_S", 0.5)
    source = program(hang=True)
    for call in (source.check, lambda: taken(source)):
        message = why(call)
        assert "amqsrua printed nothing for 0 s, and was ended. Check whether QM1 still answers" in message


def test_a_program_that_fails_is_to_be_called_by_hand(program):
    message = why(lambda: taken(program(then="crash")))
    assert "error while loading shared libraries: libmqm_r.so" in message
    assert f"To see why, call as {_user.name()}: " in message and " -m QM1 -c DISK -t Log -n 1" in message


def test_a_program_that_prints_without_end_is_not_amqsrua(program):
    text = "\n".join(["Publication received"] + ["Log - write latency 280 uSec"] * 4000)
    assert "it is not amqsrua. Correct observe_amqsrua" in why(lambda: taken(program(text=text)))


def test_it_is_searched_in_the_installations_of_the_host(tmp_path, monkeypatch):
    ini = tmp_path / "mqinst.ini"
    ini.write_text(
        f"Installation:\n   Name=Installation1\n   FilePath={tmp_path / 'first'}\n\nInstallation:\n   Name=Two\n   "
        f"FilePath={tmp_path / 'second'}\n"
    )
    monkeypatch.setattr(amqsrua, "installations", lambda real=amqsrua.installations: real(str(ini)))
    monkeypatch.setattr(amqsrua, "DEFAULT_INSTALLATION", str(tmp_path / "none"))
    source = amqsrua.Source({"queue_manager": "QM1"})
    assert "amqsrua was not found in" in why(source.check) and "install the samples of IBM MQ" in why(source.check)
    place = tmp_path / "second/samp/bin"
    install_amqsrua(place / "amqsrua")
    assert source._path() == str(place / "amqsrua")
    ini.write_text("Installation:\n   FilePath=relative\n")
    assert "amqsrua was not found in" in why(source.check)


def test_a_path_that_is_none(tmp_path):
    message = why(amqsrua.Source({"queue_manager": "QM1", "amqsrua": str(tmp_path)}).check)
    assert (
        message == f"observe_amqsrua is {tmp_path}, which is not the absolute path of a program that this user may run"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("given_away", ["amqsrua", "."])
def test_root_runs_no_program_that_another_user_could_replace(program, tmp_path, given_away):
    source = program()
    assert source._path() == str(tmp_path / "amqsrua")
    os.chown(tmp_path / given_away, 65534, 65534)
    owner = pwd.getpwuid(65534).pw_name
    for call in (source.check, lambda: taken(source)):
        assert f"amqsrua is not run as root, because {owner} could replace it: set observe_become to false" in why(call)
    os.chown(tmp_path / given_away, 0, 0)
    (tmp_path / given_away).chmod(0o777)
    assert f"because whoever may write to {tmp_path / given_away}".rstrip("/.") in why(source.check)
