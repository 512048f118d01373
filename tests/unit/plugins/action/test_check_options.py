# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Problems with variables are reported once for all hosts, before any of them is contacted."""

from __future__ import annotations

import types

import pytest
from ansible.errors import AnsibleError
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _option_meanings as option_meanings
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import check_options

FOUND_NOTHING = {"problems": [], "agreed": {}, "given": {}}


class Hostvars(dict):
    """The variables of the hosts, which need no evaluation here."""

    raw_get = dict.__getitem__


class Templar:
    """Evaluates what looks like a template: removes its braces."""

    def copy_with_new_env(self, available_variables):
        return self

    @staticmethod
    def template(value):
        return value.removeprefix("{{").removesuffix("}}") if isinstance(value, str) else value


@pytest.fixture
def check(monkeypatch):
    def run(hostvars, extra=None, play=None, hosts=None, meanings=False, agreed=(), groups=None, kind="", facts=None):
        monkeypatch.setattr(check_options, "load_extra_vars", lambda loader: extra or {})
        monkeypatch.setitem(check_options.READ_BY, "command", tuple(agreed))
        plugin = check_options.Step.__new__(check_options.Step)
        play = types.SimpleNamespace(get_vars=lambda of_play=play or {}: of_play)
        task = types.SimpleNamespace(check_mode=False, get_play=lambda: play, get_search_path=list)
        plugin._loader, plugin._task, plugin._templar = None, task, Templar()
        inventory = {
            host: {k: v for k, v in own.items() if k not in (facts or {}).get(host, ())}
            for host, own in hostvars.items()
        }
        monkeypatch.setattr(
            check_options,
            "inventory_variables",
            lambda loader, hosts, folders: {host: inventory.get(host, {}) for host in hosts},
        )
        own = {name: {**given, **(extra or {})} for name, given in {"localhost": {}, **hostvars}.items()}
        own = Hostvars(own)
        first = next(iter(hostvars), "localhost")
        task_vars = {
            "inventory_hostname": first,
            "hostvars": own,
            "groups": {"all": groups or list(hostvars)},
        }
        options = {
            "hosts": list(hostvars) if hosts is None else hosts,
            "command": "command",
            "meanings": meanings,
            "kind": kind,
            "not_of_hosts": [],
        }
        return plugin.answer(options, task_vars)

    return run


def problem_in(answer):
    """Return the only sentence of a refusal, which becomes the message with which the role fails the command."""
    (problem,) = answer["problems"]
    assert answer["logdisk"]["kind"] == "refused" and answer["logdisk"]["reason"] == problem
    return problem


@pytest.mark.parametrize(
    ("hostvars", "more"),
    [
        ({"a": {}, "b": {}}, {}),
        ({"a": {"certify_hosts": "dev"}, "b": {}}, {"extra": {"certify_hosts": "a,b"}}),
        ({"a": {}, "b": {}}, {"play": {"certify_hosts": "{{prod}}"}}),
        ({"a": {}, "b": {"certify_hosts": "prod"}}, {"play": {"certify_hosts": "{{prod}}"}}),
    ],
)
def test_hosts_are_selected_in_one_way(check, hostvars, more):
    assert check(hostvars, **more) == FOUND_NOTHING


@pytest.mark.parametrize(
    ("hostvars", "more", "said"),
    [
        (
            {"a": {"certify_hosts": "dev"}, "b": {}},
            {},
            "a: certify_hosts is 'dev', but this command has the hosts 'all:!localhost'",
        ),
        ({"a": {}, "localhost": {"certify_hosts": "dev"}}, {"hosts": ["a"]}, "localhost: certify_hosts is 'dev', but"),
        (
            {"a": {"certify_hosts": "dev"}},
            {"play": {"certify_hosts": "prod"}},
            "a: certify_hosts is 'dev', but this command has the hosts 'prod'",
        ),
    ],
)
def test_a_variable_of_a_host_that_selects_other_hosts_refuses_the_run(check, hostvars, more, said):
    answer = check(hostvars, **more)
    assert problem_in(answer).startswith(said)


def test_a_mistyped_extra_variable_refuses_the_run_and_its_other_problems_are_said_too(check):
    problem = problem_in(check({"a": {"sweep_duration": "5m"}}, extra={"workspce_path": "/x", "awx_job_id": 5}))
    assert problem.startswith("workspce_path is not an option: workspace_path was probably meant. ")
    assert problem.endswith("; a: sweep_duration: '5m' is not a whole number")


@pytest.mark.parametrize(
    ("agreed", "name", "said"),
    [
        ("stop_run_id", "stop_run", "stop_run is not an option: stop_run_id is read. "),
        ("cleanup_run_id", "cleanup_of", "cleanup_of is not an option: cleanup_run_id, cleanup_unc"),
        ("report_runs", "report_of", "report_of is not an option: report_run, report_runs, report_workflow are read. "),
        ("stop_run_id", "certify_on", "certify_on is not an option: certify_hosts, certify_preflight are read. "),
    ],
)
def test_an_unknown_extra_variable_that_begins_like_those_of_the_command_refuses_it(check, agreed, name, said):
    """A run ID under another name would stop or clean up every run."""
    assert problem_in(check({"a": {}}, extra={name: "x"}, agreed=[agreed])).startswith(said)
    assert check({"a": {}}, extra={name: "x", "logdisk_accept_names": name}, agreed=[agreed])["problems"] == []
    assert check({"a": {"stop_run": "x"}}, agreed=["gate_history"])["problems"] == []
    assert check({"a": {}}, extra={"stop_run": "x"}, agreed=["gate_history"])["problems"] == []


RESULT = {"failures": {}, "fleet_problems": [], "problems": []}


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"gate_judged": RESULT}, "only the playbooks of this collection may set gate_judged: leave it out"),
        # The result of this check, and what the role fails by.
        ({"gate_refused": RESULT, "gate_checked": RESULT}, "set gate_checked, gate_refused: leave them out"),
        ({"gate_run_kind": "locks"}, "set gate_run_kind: leave it out"),
        ({"_sweep_statuses": []}, "set _sweep_statuses: leave it out"),
        ({"sweep_run_id": "x", "logdisk_accept_names": "sweep_run_id"}, "set sweep_run_id: leave it out"),
        ({"sweep_stop_run": "x"}, "set sweep_stop_run: leave it out"),
        (
            {"inventory_hostname": "x", "ansible_failed_result": {}},
            "Ansible may set ansible_failed_result, inventory_h",
        ),
    ],
)
def test_an_extra_variable_that_replaces_a_result_fails_the_check_itself(check, extra, said):
    """A condition on a result could be overridden as well, so the task that checks must fail."""
    answer = check({"a": {}}, extra=extra)
    assert answer["failed"] is True and said in answer["msg"]
    assert answer["logdisk"]["kind"] == "refused" and answer["logdisk"]["reason"] == answer["msg"]


def test_a_variable_of_a_host_with_the_name_of_a_result_refuses_the_run(check):
    own = {"a": {"gate_judged": RESULT}, "b": {}, "c": {"gate_judged": RESULT, "sweep_plan": {}}}
    assert problem_in(check(own)) == (
        "a, c: only the playbooks of this collection may set gate_judged: remove it from the inventory; "
        "c: only the playbooks of this collection may set sweep_plan: remove it from the inventory"
    )
    earlier = {"a": {"gate_judged": 1}, "c": {"gate_judged": 1, "sweep_plan": 1}}
    assert check(own, facts=earlier) == FOUND_NOTHING


@pytest.mark.parametrize("hosts", [None, ["a"], []])
@pytest.mark.parametrize("name", ["gate_decided", "sweep_asked"])
def test_a_fact_that_would_override_what_is_passed_on_refuses_the_command(check, hosts, name):
    """Only a result is set again before it is read. The tasks of the controller read its own facts."""
    own = {"a": {}, "localhost": {name: RESULT}}
    assert problem_in(check(own, hosts=hosts, facts={"localhost": {name: RESULT}})) == (
        f"localhost: only the playbooks of this collection may set {name}: remove the task that sets it earlier in "
        "this command"
    )


def test_a_host_with_another_name_in_its_variables_refuses_the_run(check):
    own = {"a": {"inventory_hostname": "a"}, "b": {"inventory_hostname": "a"}}
    assert problem_in(check(own)) == "b: only Ansible may set inventory_hostname: remove it from the inventory"


@pytest.mark.parametrize(
    "accept",
    [{"extra": {"logdisk_accept_names": "workspce_path"}}, {"play": {"logdisk_accept_names": ["workspce_path"]}}],
)
def test_names_may_be_accepted(check, accept):
    answer = check(
        {"a": {"workspce_path": "/x"}}, **{**accept, "extra": {**accept.get("extra", {}), "workspce_path": "/x"}}
    )
    assert answer == FOUND_NOTHING
    assert check({"a": {"logdisk_accept_names": ["gate_mine"]}, "b": {"gate_mine": 1}}) == FOUND_NOTHING


def test_warnings_are_counted_if_there_are_many(check):
    said = check({"a": {f"gate_own_{number}": 1 for number in range(30)}})["logdisk"]["warnings"]
    assert len(said) == check_options.MOST_WARNINGS + 1 and said[-1] == "10 more names resemble those of options"


def test_a_pattern_that_cannot_be_evaluated_is_a_problem(check):
    class Broken(dict):
        def __getitem__(self, name):
            if name == "certify_hosts":
                raise AnsibleError("'nothing' is undefined")
            return super().__getitem__(name)

    task_vars = {"a": Broken(certify_hosts="{{ nothing }}")}
    hostvars = {**task_vars, "localhost": {}}
    plugin = check_options.Step.__new__(check_options.Step)
    play = types.SimpleNamespace(get_vars=dict)
    plugin._loader, plugin._task = None, types.SimpleNamespace(get_play=lambda: play)
    asked = {"hosts": ["a"], "not_of_hosts": [], "kind": ""}
    said = plugin._said(asked, (), {"hostvars": hostvars, "inventory_hostname": "a"})
    assert said.problems == {"a": ["certify_hosts: 'nothing' is undefined"]}


def test_all_that_is_wrong_with_the_answers_is_said_at_once(check):
    """All problems are reported, no matter whether they are found by the type of an option, by its meaning, or by the
    requirements of the whole run."""
    wrong = {
        "gate_profile": "mq-log-goldd",
        "sweep_duration": "5m",
        "sweep_start_at": "tomorrow",
        "sweep_workload": "mq-logg",
        "gate_fail_on": ["fial"],
        "workspace_reserve": "200%",
    }
    problem = problem_in(check({"a": {}, "b": {}}, extra=wrong, meanings=True))
    for name in wrong:
        assert f"a, b: {name}: " in problem and problem.count(f"{name}: ") == 1
    assert "gate_profile" not in problem_in(check({"a": {}}, extra=wrong))


def test_an_option_of_one_host_is_left_to_that_host_unless_a_run_is_opened(check):
    """A problem with one host's option must not keep the other hosts from being stopped or cleaned up."""
    own = {"a": {"sweep_duration": "5m", "gate_valid_days": "x"}, "b": {"gate_valid_days": "x"}, "localhost": {}}
    assert problem_in(check(own)) == "a, b: gate_valid_days: 'x' is not a whole number"
    assert "a: sweep_duration: '5m' is not a whole number" in problem_in(check(own, meanings=True))
    assert check({"a": {"sweep_duration": "5m"}, "b": {}, "localhost": {}}) == FOUND_NOTHING


def test_what_options_mean_is_checked_once_for_each_value(check, monkeypatch):
    seen = []
    monkeypatch.setitem(option_meanings.CHECKS, "gate_profile", seen.append)
    hosts = {f"h{number}": {"gate_profile": "one" if number < 250 else "other"} for number in range(300)}
    assert check(hosts, meanings=True)["problems"] == []
    assert seen == ["one", "other"]


def test_what_was_read_is_handed_on_once_for_what_hosts_have_in_common(check):
    own = {
        "a": {"sweep_files": "4", "sweep_nice": ""},
        "b": {"sweep_files": 4, "gate_class": "x"},
        "c": {"sweep_files": "4", "sweep_mode": "together"},
    }
    read = check(own, extra={"sweep_duration": " 60"}, meanings=True)["options"]
    assert read == {"common": {"sweep_files": 4, "sweep_duration": 60}, "hosts": {"b": {"gate_class": "x"}}}
    assert check({}, hosts=[], meanings=True)["options"] == {"common": {}, "hosts": {}}


def test_what_the_play_sets_counts_on_each_host_even_if_the_first_one_says_the_same(check):
    own = {"a": {"sweep_duration": 60}, "b": {"sweep_duration": 30}}
    assert check(own, play={"sweep_duration": 60}, meanings=True)["options"] == {
        "common": {"sweep_duration": 60},
        "hosts": {},
    }


EMPTY = [
    ("workspace_path", "/mqlog", ""),
    ("workspace_path", "/mqlog", " "),
    ("workspace_volumes", [{"path": "/mqlog"}], []),
]


@pytest.mark.parametrize(
    ("name", "value", "answer"),
    [*EMPTY, ("workspace_places", {"log": "/mqlog"}, ""), ("workspace_places", {"log": "/mqlog"}, {})],
)
def test_an_empty_answer_does_not_measure_another_directory_than_the_inventory_names(check, name, value, answer):
    own = {"a": {name: value}, "b": {}, "c": {name: ""}}
    refused = check(own, extra={name: answer})
    assert problem_in(refused).startswith(
        f"a: {name} is empty among the extra variables, but the inventory sets it: leave it out"
    )
    assert check({"b": {}, "c": {name: ""}}, extra={name: answer}) == FOUND_NOTHING
    assert check(own, extra={"workspace_owner": ""}) == FOUND_NOTHING


LOOK = {"gate_profile": "look", "sweep_duration": 3, "sweep_warmup": 1, "sweep_file_size": "16M", "sweep_files": 4}


def read_by(check, own, kind="measurement", **more):
    """Return the values that differ from the defaults on each host, without the preset."""
    answer = check(own, meanings=True, kind=kind, **more)
    assert answer["problems"] == []
    found = {host: {**answer["options"]["common"], **answer["options"]["hosts"].get(host, {})} for host in own}
    return {host: {name: values[name] for name in values if name != "sweep_preset"} for host, values in found.items()}


@pytest.mark.parametrize(
    ("own", "more", "expected"),
    [
        ({}, {}, {}),
        ({"sweep_preset": "certify", "sweep_files": 8}, {}, {"sweep_files": 8}),
        ({}, {"extra": {"sweep_preset": "look"}}, LOOK),
        ({"sweep_preset": "look"}, {}, LOOK),
        ({}, {"play": {"sweep_preset": "look"}}, LOOK),
        ({"sweep_preset": "look"}, {"extra": {"sweep_preset": "certify"}}, {}),
        ({"sweep_duration": "9"}, {"extra": {"sweep_preset": " look "}}, {**LOOK, "sweep_duration": 9}),
        ({}, {"play": {"sweep_files": 2}, "extra": {"sweep_preset": "look"}}, {**LOOK, "sweep_files": 2}),
        ({"sweep_files": 2}, {"extra": {"sweep_preset": "look", "sweep_files": "6"}}, {**LOOK, "sweep_files": 6}),
        ({"sweep_preset": "look"}, {"extra": {"sweep_file_size": "32M"}}, {**LOOK, "sweep_file_size": "32M"}),
        # An empty answer in a survey does not set the option.
        ({"sweep_warmup": None}, {"extra": {"sweep_preset": "look", "sweep_files": ""}}, LOOK),
        # A value that is set counts even if it is the default.
        (
            {"sweep_warmup": 5},
            {"extra": {"sweep_preset": "look"}},
            {name: LOOK[name] for name in LOOK if name != "sweep_warmup"},
        ),
        # The profile of the preset is used, regardless of the inventory and the play.
        ({"gate_profile": "mq-log-gold"}, {"extra": {"sweep_preset": "look"}}, LOOK),
        ({}, {"play": {"gate_profile": "mq-log-gold"}, "extra": {"sweep_preset": "look"}}, LOOK),
        ({}, {"extra": {"sweep_preset": "look", "gate_profile": ""}}, LOOK),
    ],
)
def test_what_is_given_wins_over_a_preset_except_its_profile(check, own, more, expected):
    assert read_by(check, {"a": own}, **more) == {"a": expected}


def test_a_preset_completes_the_values_of_each_host(check):
    own = {"a": {"sweep_files": 8}, "b": {}, "c": {"sweep_preset": "certify", "gate_profile": "mq-log-gold"}}
    more_files = {**LOOK, "sweep_files": 8}
    assert read_by(check, own, extra={"sweep_preset": "look"}) == {"a": more_files, "b": LOOK, "c": LOOK}
    own["a"]["sweep_preset"] = "look"
    assert read_by(check, own) == {"a": more_files, "b": {}, "c": {"gate_profile": "mq-log-gold"}}


@pytest.mark.parametrize("own", [{}, {"gate_profile": "look"}])
def test_another_profile_as_an_extra_variable_contradicts_a_look(check, own):
    extra = {"sweep_preset": "look", "gate_profile": "mq-log-gold"}
    assert problem_in(check({"a": own, "b": own}, extra=extra, meanings=True, kind="measurement")) == (
        "a, b: gate_profile, an extra variable, contradicts sweep_preset: look, which always has gate_profile: look. "
        "Leave gate_profile out of the extra variables, or leave sweep_preset out and set the other options of the "
        "sweep themselves"
    )


@pytest.mark.parametrize("kind", ["observation", "power_cut", ""])
def test_a_preset_changes_no_run_that_does_not_test_storage(check, kind):
    own = {"a": {"sweep_preset": "look", "gate_profile": "mq-live"}}
    assert read_by(check, own, kind=kind) == {"a": {"gate_profile": "mq-live"}}
