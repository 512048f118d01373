# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts are polled and when, and what a poll does."""

from __future__ import annotations

import types

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import look, wait

SCHEDULE = {name: {"start_epoch_s": 10.0, "end_epoch_s": 110.0, "give_up_epoch_s": 300.0} for name in ("a", "b", "c")}
RUNNING, COLLECTED = {"state": "running", "volumes": {}}, {"state": "finished", "volumes": {}, "collected": ["log"]}


@pytest.fixture
def waited(monkeypatch):
    """Return a function that runs the action `wait` with a simulated clock, and returns its result and the seconds that
    it took."""

    def run(now, statuses, **options):
        clock = [now]
        monkeypatch.setattr(wait.time, "time", lambda: clock[0])
        monkeypatch.setattr(
            wait, "show", lambda display, statuses, sleep_s, *times, first: clock.__setitem__(0, clock[0] + sleep_s)
        )
        monkeypatch.setattr(wait.Step, "_write_page", lambda *arguments: None)
        plugin = wait.Step.__new__(wait.Step)
        plugin._display = None
        hosts = [{"host": name, **status} for name, status in statuses.items()]
        defaults = {
            "hosts": hosts,
            "schedule": SCHEDULE,
            "interval_s": 30.0,
            "polls": 0,
            "looked_at": [],
            "run_path": "",
            "started": False,
            "told": [],
            "everyone": False,
            "answers": {},
        }
        return plugin.answer({**defaults, **options}, {}), clock[0] - now

    return run


def test_the_hosts_are_polled_one_after_the_other(waited):
    answers = [waited(20.0, dict.fromkeys("abc", RUNNING), polls=polls)[0] for polls in range(4)]
    assert [(answer["ask"], answer["look_at"]) for answer in answers] == [("a", []), ("b", []), ("c", []), ("a", [])]
    assert not any(answer["over"] or answer["given_up"] for answer in answers)


def test_hosts_that_need_the_polls_are_all_polled(waited):
    assert waited(20.0, dict.fromkeys("abc", RUNNING), everyone=True)[0]["look_at"] == ["a", "b", "c"]


def test_a_host_that_answers_that_it_has_ended_has_all_polled_at_once(waited):
    """A run that is stopped ends on all hosts. The host that was asked only reported its state, so it is polled as
    well, to collect its tables."""
    statuses, ended = dict.fromkeys("abc", RUNNING), {"state": "finished", "volumes": {}}
    answer, took_s = waited(20.0, statuses, answers={"b": ended}, polls=2)
    assert (answer["ask"], answer["look_at"], took_s) == ("", ["a", "b", "c"], 0.0)
    answer, took_s = waited(20.0, statuses, answers={"b": RUNNING}, polls=2)
    assert (answer["ask"], answer["look_at"], took_s, answer["answers"]) == ("c", [], 30.0, {"b": RUNNING})
    # A host whose tables cannot be collected is not polled repeatedly.
    answer, took_s = waited(20.0, statuses, answers={"b": ended}, looked_at=["a", "b", "c"], polls=2)
    assert (answer["ask"], took_s, answer["answers"]) == ("c", 30.0, {})


EARLY = {
    name: {"start_epoch_s": start, "end_epoch_s": start + 4200.0, "give_up_epoch_s": 99999.0, "ends_early": True}
    for name, start in (("a", 10.0), ("b", 4212.0), ("c", 8414.0))
}


def test_hosts_that_may_end_early_are_polled_while_they_measure_and_often_at_first(waited):
    for now, polls, expected in ((0.0, 0, 30.0), (20.0, 1, 30.0), (210.0, 6, 50.0), (4242.0, 19, 30.0)):
        answer, took_s = waited(now, dict.fromkeys("abc", RUNNING), schedule=EARLY, polls=polls)
        assert took_s == expected
        assert (answer["ask"], answer["look_at"]) == (("", ["a", "b", "c"]) if now > 4212 else ("a", []))
    # The end of one host does not mean that others have ended.
    answer, took_s = waited(60.0, {"b": RUNNING, "c": RUNNING}, schedule=EARLY, polls=2, looked_at=["a"])
    assert (answer["ask"], answer["look_at"], took_s) == ("b", [], 30.0)
    # The last polls are distributed over the remaining time.
    assert waited(4300.0, {"b": RUNNING}, schedule=EARLY, polls=25)[1] > 800


def test_after_the_expected_end_all_that_are_left_are_polled(waited):
    answer, dummy = waited(105.0, {"a": COLLECTED, "b": RUNNING, "c": RUNNING}, polls=5)
    assert (answer["look_at"], answer["given_up"], answer["over"]) == (["b", "c"], [], True)
    answer, dummy = waited(299.0, {"b": RUNNING}, polls=20)
    assert (answer["look_at"], answer["given_up"]) == (["b"], ["b"])
    # The last wait ends exactly at this time.
    assert waited(250.0, {"b": RUNNING}, polls=59)[0]["given_up"] == ["b"]


def test_nothing_is_waited_for_if_all_are_collected(waited):
    answer, took_s = waited(20.0, dict.fromkeys("abc", COLLECTED))
    assert (answer["over"], answer["ask"], answer["look_at"], took_s) == (True, "", [], 0.0)


@pytest.fixture
def looked(monkeypatch):
    """Return a function that polls a host, and returns the result and the actions performed. The host answers that its
    volume has the given state, or cannot be reached. A command that removes its state ends with the given status."""

    def run(state, collected=None, removed=None, rm=0, **options):
        done = []

        class Looking(look.Step):
            def _execute_module(self, module_args, **dummy):
                done.append("ask" if module_args["once_ended"] else "collect")
                if state == "unreachable":
                    raise AnsibleConnectionFailure("gone")
                return {"volumes": {"log": {"state": state, "progress": {}, "removed": removed}}}

            def _low_level_execute_command(self, command):
                done.append(command)
                if rm is None:
                    raise AnsibleConnectionFailure("gone")
                return {"rc": rm}

            def _cleanup(self, arguments, task_vars):
                done.append("cleanup")
                return {"changed": True}

        def take_in(self, answer, task_vars):
            done.append("file")
            return collected or {"changed": False, "collected": ["log"], "kept": []}

        plugin = Looking.__new__(Looking)
        plugin._discovered_interpreter_key = None
        plugin._connection = types.SimpleNamespace(become=False)
        known = {"host": "h7", "volumes": {"log": {"state": "running"}}}
        arguments = {
            "run_id": "R",
            "run_path": "/r/R",
            "state_dir": "~/s",
            "known": known,
            "clean_up": [{"name": "log"}],
        }
        plugin._task = types.SimpleNamespace(args={**arguments, **options})
        monkeypatch.setattr(look.collect.Step, "take_in", take_in)
        monkeypatch.setattr(ActionBase, "run", lambda *arguments: {})
        return plugin.run(task_vars={"inventory_hostname": "h7"}), done

    return run


def test_a_host_is_collected_and_cleaned_up_once_it_has_ended_or_is_given_up(looked):
    assert looked("running")[1] == looked("unknown")[1] == ["ask"]
    assert looked("finished")[1] == looked("dead")[1] == ["ask", "file", "cleanup"]
    assert looked("running", give_up=True)[1] == ["collect", "file", "cleanup"]
    assert looked("finished", clean_up=[])[1] == ["ask", "file"]
    assert looked("finished")[0]["cleaned_up"]


def test_the_state_is_removed_without_a_module_if_nothing_else_is_left(looked):
    removal = "rm -r -- ~/s/runs/R-log"
    result, done = looked("finished", removed=True)
    assert (done, result["cleaned_up"], result["changed"]) == (["ask", "file", removal], True, True)
    # If that fails, the action cleanup reports what is left.
    for rm in (1, None):
        result, done = looked("finished", removed=True, rm=rm)
        assert (done, result["cleaned_up"]) == (["ask", "file", removal, "cleanup"], True)


@pytest.mark.parametrize(
    ("removed", "collected", "volume"),
    [
        (False, ["log"], {}),
        ("yes", ["log"], {}),
        (True, [], {}),
        (True, ["log"], {"volume_counters": [{"serial": "vol1"}]}),
    ],
)
def test_a_host_on_which_more_is_left_is_cleaned_up_by_the_module(looked, removed, collected, volume):
    kept = {"changed": False, "collected": collected, "kept": []}
    done = looked("finished", kept, removed, clean_up=[{"name": "log", **volume}])[1]
    assert done == ["ask", "file", "cleanup"]


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("~/s", "~/s"),
        ("~mq.1/a b", "~mq.1'/a b'"),
        ("/a; b", "'/a; b'"),
        ("~$(reboot)/s", "'~$(reboot)/s'"),
        ("~", "'~'"),
    ],
)
def test_the_shell_takes_a_path_as_one_word(path, word):
    assert look.shell_path(path) == word


def test_a_host_that_does_not_answer_is_asked_again_until_it_is_given_up(looked):
    result, done = looked("unreachable")
    assert (result["state"], result["reason"], "failed" in result, done) == ("unknown", "gone", False, ["ask"])
    result, done = looked("unreachable", give_up=True)
    assert (result["logdisk"]["verdict"], result["kept"], done) == ("unreachable", ["log"], ["collect"])


def test_a_host_that_is_only_asked_is_not_collected_and_never_fails(looked):
    """One host is asked on behalf of all, so if this task failed, all hosts would fail."""
    for state in ("running", "finished", "dead", "unreachable"):
        result, done = looked(state, only_ask=True)
        assert (done, "failed" in result, result["host"]) == (["ask"], False, "h7")


def test_tables_that_are_not_accepted_are_not_cleaned_up(looked):
    result, done = looked("finished", collected={"failed": True, "msg": "no", "kept": ["log"]})
    assert result["failed"] and done == ["ask", "file"]


def test_a_host_is_collected_once(looked):
    assert looked("finished", known=COLLECTED)[1] == []
