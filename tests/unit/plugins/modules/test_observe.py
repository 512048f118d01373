# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The queue manager and the source that an observation uses, and the results that its collection returns."""

from __future__ import annotations

import base64
import json
import os
import time
import zlib

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _observer, _user
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import SourceError, choice
from ansible_collections.mqops.logdisk.plugins.modules import observe, observed

RUN = "20261122T104935Z-1f0c2a"
QM1 = {"name": "QM1", "running": True, "log_path": "/var/mqm/log/QM1", "problem": ""}
QM2 = {"name": "QM2", "running": False, "problem": "/var/mqm/qmgrs/QM2/qm.ini does not exist"}
GIVEN = {"queue_manager": "", "log_path": "", "mqs_ini": "/var/mqm/mqs.ini"}


def chosen(monkeypatch, running, managers, **given):
    monkeypatch.setattr(observe._queue_managers, "running_queue_managers", lambda: running)
    return observe.queue_manager_of({**GIVEN, **given}, {"queue_managers": managers})["name"]


def test_the_only_running_queue_manager_is_observed(monkeypatch):
    assert chosen(monkeypatch, ["?", "QM1"], [QM1, QM2]) == "QM1"
    assert chosen(monkeypatch, ["QM3"], []) == "QM3"
    assert chosen(monkeypatch, [], [QM2]) == "QM2"
    assert chosen(monkeypatch, [], []) == ""
    assert chosen(monkeypatch, ["QM1", "QM2"], [QM1, QM2], queue_manager="QM2") == "QM2"
    with pytest.raises(
        SourceError, match=r"several queue managers are running on this host \(QM1, QM2\): set observe_queue_manager"
    ):
        chosen(monkeypatch, ["QM1", "QM2"], [QM1, QM2])
    with pytest.raises(SourceError, match=r"several queue managers are defined on this host"):
        chosen(monkeypatch, [], [QM1, QM2])


def test_the_log_path_is_given_or_that_of_qm_ini_or_why_it_is_not_known():
    assert observe.log_of(GIVEN, QM1, []) == ("/var/mqm/log/QM1", "")
    assert observe.log_of({**GIVEN, "log_path": "/log"}, QM2, []) == ("/log", "")
    assert observe.log_of(GIVEN, QM2, ["another problem"]) == ("", "/var/mqm/qmgrs/QM2/qm.ini does not exist")
    path, problem = observe.log_of(GIVEN, {"name": "QM3"}, [])
    assert path == "" and problem.startswith("QM3: /var/mqm/mqs.ini does not list it: set workspace_mqs_ini to ")


def test_the_volume_is_described_as_a_certified_one_is(tmp_path):
    facts = observe.facts_of_volume(str(tmp_path / "active"))
    assert {
        "mount_point",
        "filesystem_type",
        "device_number",
        "filesystem_uuid",
        "device_ids",
        "filesystem_free_bytes",
    } <= set(facts)
    assert observe.facts_of_volume("") == {}


class Serves:
    def __init__(self, options):
        pass

    def check(self):
        return {"source_fact": 1}


class Refuses(Serves):
    def check(self):
        raise SourceError("it lacks something")


def source_of(name, sources, calls=(), command=()):
    return choice.choose(name, {"calls": calls, "command": command}, sources)[::2]


def test_auto_takes_the_first_source_that_can_serve_and_says_what_each_lacks():
    some = (("prometheus", Refuses), ("amqsrua", Serves), ("bpftrace", Serves))
    none = tuple((name, Refuses) for name, dummy in some)
    assert source_of("auto", some) == ("amqsrua", {"source_fact": 1})
    assert (
        source_of("bpftrace", some)[0]
        == source_of("auto", some, calls=["MQPUT"])[0]
        == source_of("auto", some, command=["/bin/true"])[0]
        == "bpftrace"
    )
    with pytest.raises(
        SourceError,
        match=(
            r"^no source can .*: prometheus: it lacks something; amqsrua: it lacks something; "
            r"bpftrace: it lacks something$"
        ),
    ):
        source_of("auto", none)
    with pytest.raises(SourceError, match=r"^the source is x, but must be one of: auto, prometheus, amqsrua, bpftr"):
        source_of("x", some)
    for name, calls in (("prometheus", []), ("auto", ["MQPUT"])):
        with pytest.raises(SourceError, match=r"^it lacks something$"):
            source_of(name, none, calls=calls)


@pytest.mark.parametrize(("running", "name"), [([], "QM7"), (["QM1"], "QM1")])
def test_a_queue_manager_that_only_its_source_knows_has_a_name(monkeypatch, running, name):
    monkeypatch.setattr(observe._queue_managers, "running_queue_managers", lambda: running)
    monkeypatch.setattr(observe._queue_manager_info, "discover", lambda *dummy: {"queue_managers": [], "problems": []})
    monkeypatch.setattr(
        observe.choice, "choose", lambda source, options: (source, Serves(options), {"source_queue_manager": "QM7"})
    )
    given = {**dict.fromkeys(observe.OF_SOURCES), **GIVEN, "source": "prometheus"}
    assert observe.prepare(given, None)[1]["queue_manager"] == name


class Texts:
    def samples(self, end_monotonic):
        yield "one"
        while time.monotonic() < end_monotonic:
            time.sleep(0.01)
            yield None


@pytest.fixture
def running(tmp_path):
    """The options of the module for an observation that has written one sample."""
    observation = _observer.Observation(str(tmp_path / "state"), RUN, "log")
    observation.start(Texts(), 900, 900, {})
    end = time.monotonic() + 90
    while not observation.read_samples(0) and time.monotonic() < end:
        time.sleep(0.01)
    yield {"state_dir": observation.state_dir, "run_id": RUN, "volume": "log", "ask": "poll", "offset": 0, "lease": 900}
    observation.remove()


def lines(answer):
    return [json.loads(line) for line in zlib.decompress(base64.b64decode(answer["samples"])).splitlines()]


def test_a_poll_renews_the_lease_and_returns_what_is_new(running):
    observation = _observer.Observation(running["state_dir"], RUN, "log")
    observation.renew_lease(30)
    before = float(observation.read_text("lease"))
    answer = observed.answer(running, False)
    assert (answer["state"], answer["more"], answer["changed"]) == ("running", False, False) and float(
        observation.read_text("lease")
    ) > before + 500
    assert [each["text"] for each in lines(answer)] == ["one"]
    size = len(observation.read_samples(0))
    assert lines(observed.answer({**running, "offset": size}, False)) == []
    finished = observed.answer({**running, "offset": size, "ask": "finish"}, False)
    assert (finished["state"], finished["changed"], lines(finished)[0]["end"]) == ("ended", True, "stopped")


def test_many_samples_come_in_parts(running, monkeypatch):
    first = observed.answer({**running, "ask": "finish"}, False)
    whole = zlib.decompress(base64.b64decode(first["samples"]))
    monkeypatch.setattr(_observer, "PART_MAX_BYTES", len(whole) - 1)
    first = observed.answer(running, False)
    assert first["more"] and len(lines(first)) == 1
    second = observed.answer({**running, "offset": len(zlib.decompress(base64.b64decode(first["samples"])))}, False)
    assert not second["more"] and lines(first) + lines(second) == [json.loads(line) for line in whole.splitlines()]


def test_observations_are_ended_and_removed_by_their_run_or_all(running):
    other = {**running, "run_id": "20261122T104935Z-000000"}
    path = _observer.Observation(running["state_dir"], RUN, "log").path
    assert observed.answer({**other, "ask": "end"}, False) == {"changed": False, "stopped": []}
    assert observed.answer({**running, "run_id": "", "ask": "end"}, True) == {"changed": True, "stopped": [RUN]}
    assert observed.answer({**running, "run_id": "", "ask": "end"}, False) == {"changed": True, "stopped": [RUN]}
    # Results that have not been collected are kept, unless they are named.
    assert observed.answer({**running, "run_id": "", "ask": "remove"}, False)["removed"] == []
    assert observed.answer({**other, "ask": "remove"}, False)["removed"] == []
    assert observed.answer({**running, "ask": "remove"}, True)["removed"] == [path] and os.path.exists(path)
    assert observed.answer({**running, "ask": "remove"}, False)["removed"] == [path] and not os.path.exists(path)
    assert observed.answer(running, False)["state"] == "absent"


def test_another_user_than_the_promised_one_is_told_which_option_decides():
    message = _user.why_other("nobody", "observe_become")
    assert message.startswith("this would run as ") and message.endswith("; observe_become alone determines the user")
