# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A detached observation: how it ends, and that it leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _observer, _runs
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import SourceError, child
from ansible_collections.mqops.logdisk.tests.unit.plugins.module_utils._sources.test_child import wait_until

RUN = "20261122T104935Z-1f0c2a"
LIMIT_S = 90
"""Far longer than any of these tests takes."""


class Source:
    """A source that starts a program, like those that are not queried over the network."""

    def __init__(self, script="echo one; sleep 900"):
        self.script = script

    def samples(self, end_monotonic):
        yield from child.lines_of(["/bin/sh", "-c", self.script], end_monotonic, 0.05)


class Texts:
    def __init__(self, *texts):
        self.texts = texts

    def samples(self, end_monotonic):
        for text in self.texts:
            if isinstance(text, Exception):
                raise text
            yield text


@pytest.fixture
def observation(tmp_path):
    made = _observer.Observation(str(tmp_path / "state"), RUN, "log")
    yield made
    made.remove()


def start(observation, source, duration_s=900, lease_s=900):
    observation.start(source, duration_s, lease_s, {"volume": "log"})


def samples(observation):
    return [json.loads(line) for line in observation.read_samples(0).splitlines()]


def pids_of(script):
    """Return the processes that a source has started, which have a unique argument."""
    return _runs.processes_with((script,))


def started(observation, script, **times):
    start(observation, Source(script), **times)
    wait_until(lambda: samples(observation))
    assert observation.state() == "running" and pids_of(script)


def test_samples_are_written_with_their_times_until_the_source_ends(observation):
    before_ns = time.monotonic_ns()
    start(observation, Texts("one\n", None, "zw\u00f6lf"))
    wait_until(lambda: observation.state() == "ended")
    one, two, end = samples(observation)
    assert [one["text"], two["text"], end] == ["one\n", "zw\u00f6lf", {"end": "finished", "reason": ""}]
    assert (
        before_ns < one["monotonic_ns"] <= two["monotonic_ns"] < time.monotonic_ns()
        and abs(one["epoch_s"] - time.time()) < LIMIT_S
    )


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (SourceError("connect to QM1 first"), "connect to QM1 first"),
        (KeyError("x"), "the observer failed: KeyError: 'x'"),
        ("x" * ((1 << 20) + 1), "the source wrote 1048577 characters at once, so it is not the expected program"),
    ],
)
def test_what_the_source_fails_with_is_told(observation, failure, reason):
    start(observation, Texts("one", failure))
    wait_until(lambda: observation.state() == "ended")
    assert [each.get("text", each) for each in samples(observation)] == ["one", {"end": "failed", "reason": reason}]


def test_the_samples_are_bounded(observation, monkeypatch):
    monkeypatch.setattr(_observer, "SAMPLES_MAX_BYTES", 1000)
    start(observation, Texts(*["x" * 100] * 100))
    wait_until(lambda: observation.state() == "ended")
    assert observation.end()["reason"].startswith("the samples have reached") and len(samples(observation)) < 12


def test_samples_come_in_whole_lines(observation, monkeypatch):
    start(observation, Texts("one", "two"))
    wait_until(lambda: observation.state() == "ended")
    whole = observation.read_samples(0)
    monkeypatch.setattr(_observer, "PART_MAX_BYTES", len(whole) - 5)
    first = observation.read_samples(0)
    assert first.endswith(b"\n") and first + observation.read_samples(len(first)) == whole


def test_without_a_poll_nothing_is_left(observation):
    script = "echo one; while :; do sleep 0.1; done # 901"
    started(observation, script, lease_s=LIMIT_S)
    observation.renew_lease(0)
    wait_until(lambda: not os.path.exists(observation.path))
    wait_until(lambda: not pids_of(script))


def test_what_nobody_collects_is_removed_too(observation):
    start(observation, Texts("one"))
    wait_until(lambda: observation.state() == "ended")
    observation.renew_lease(0)
    wait_until(lambda: not os.path.exists(observation.path))


def test_ended_by_request_it_waits_for_the_collection(observation):
    script = "echo one; while :; do sleep 0.1; done # 902"
    started(observation, script)
    _observer.terminate([observation], lambda each: each.state() != "running", patience_s=LIMIT_S)
    assert not pids_of(script) and observation.end() == {"end": "stopped", "reason": "it was ended by request"}
    assert (
        observation.is_alive()
        and observation.remove()
        and not observation.is_alive()
        and not os.path.exists(observation.path)
    )


def test_what_it_watches_with_ends_with_a_killed_observer(observation):
    script = "echo one; while :; do sleep 0.1; done"
    started(observation, script)
    observation.ask_to_end(signal.SIGKILL)
    wait_until(lambda: observation.state() == "dead")
    wait_until(lambda: not pids_of(script))
    observation.renew_lease(900)
    _observer.remove_forgotten(observation.state_dir)
    assert observation.exists()
    observation.renew_lease(-1)
    _observer.remove_forgotten(observation.state_dir)
    assert not os.path.exists(observation.path)


def test_a_source_that_does_not_end_is_killed(observation, monkeypatch):
    class Hung:
        def samples(self, end_monotonic):
            yield "one"
            time.sleep(900)

    monkeypatch.setattr(_observer, "GRACE_S", 0.1)
    start(observation, Hung(), duration_s=0.1)
    wait_until(lambda: observation.state() == "dead")


def test_the_observer_holds_no_file_of_the_module_open(observation, tmp_path):
    reader, writer = os.pipe()
    start(observation, Source())
    os.close(writer)
    assert os.read(reader, 1) == b""
    pid = observation.read_start()["pid"]
    links = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the observer opens and closes files in the meantime
            links.add(os.readlink(each))
    assert {link for link in links if link.startswith("/") and link != os.devnull} <= {
        f"{observation.path}/lock",
        f"{observation.path}/samples",
    }
    assert os.getsid(pid) == pid


def test_the_same_run_twice_on_a_host_is_refused(observation):
    start(observation, Texts("one"))
    with pytest.raises(_runs.RunError, match=r"already measuring on this host"):
        start(observation, Texts("one"))
