# SPDX-License-Identifier: GPL-3.0-or-later
"""Only the hosts under test affect the verdict, and all of them are judged. If this cannot be ensured, the run is
refused before a host is contacted."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_runs import PROFILE, QUICK, Controller, Outcome, first_of
from certification import summaries
from testbed import Bed, HostSpec

Start = Callable[..., Bed]
VERDICT, USAGE = "verdict", "usage"
HARMLESS = {**PROFILE, "name": "lax", "limits": [{"metric": "latency_mean", "max": "9 s"}]}
REFUSED_BY_ANSIBLE = (1, 4)
"""The exit status of ansible-playbook if a play cannot be templated, by version."""


def outcome_file(outcome: Outcome) -> dict:
    return json.loads((outcome.directory / "reports/outcome.json").read_text())


def failed_hosts(outcome: Outcome) -> set[str]:
    """Return the hosts that the recap shows in red."""
    recap = outcome.screen[outcome.screen.index("PLAY RECAP") :]
    return {host for host, failed in re.findall(r"^(\S+)\s+: ok=.* failed=(\d+)", recap, re.MULTILINE) if failed != "0"}


def assert_refused(outcome: Outcome, bed: Bed, *said: str) -> None:
    assert outcome.status == 2
    assert outcome_file(outcome)["outcome"] == USAGE
    (line,) = summaries(outcome.screen)
    assert line.startswith("USAGE: ")
    for text in said:
        assert text in line
    assert not any(host.files("/root/.mqops-logdisk", "/fut/logdisk") for host in bed), "nothing was touched"


def test_hosts_that_are_not_under_test_have_no_say(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The first host of the inventory is in another group, and requires less."""
    lax = {
        "gate_report_only": True,
        "gate_fail_on": [],
        "gate_profile": HARMLESS,
        "gate_report_dir": str(tmp_path / "elsewhere"),
        "sweep_mode": "isolated",
    }
    bed = start(
        HostSpec("a-dev", groups=("dev",), variables=lax), HostSpec("b-prod", groups=("prod",), python="broken")
    )
    inventory = bed.inventory(
        tmp_path / "hosts.yml", variables={name: value for name, value in QUICK.items() if name != "gate_profile"}
    )
    outcome = controller.run("certify", "-i", str(inventory), certify_hosts="prod")
    assert outcome.status == 2
    assert failed_hosts(outcome) == {"b-prod"}
    run = outcome.certification.run
    assert (run["expected_hosts"], run["profile"]["name"], run["policy"]["report_only"]) == (
        ["b-prod"],
        "mq-log-silver",
        False,
    )
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("gate_fail_on", ["fail"], ["fail", "error"]),
        pytest.param("sweep_mode", "isolated", "together", marks=pytest.mark.thorough),
    ],
)
def test_hosts_under_test_that_disagree(
    start: Start, controller: Controller, tmp_path: Path, name: str, one: object, other: object
) -> None:
    bed = start(HostSpec("h1", variables={name: one}), HostSpec("h2", variables={name: other}))
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"))
    assert_refused(outcome, bed, f"{name} differs", "h1", "h2", str(one), str(other))


def test_what_is_wrong_is_refused_once(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1", "h2")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    for variables, said in (
        ({"sweep_duration": "5m"}, "sweep_duration"),
        ({"workspace_allow": ["everything"]}, "workspace_allow"),
        ({"gate_profile": {"name": "x", "limits": [{"metric": "speed", "max": 1}]}}, "speed"),
        ({"gate_fail_on": ["fial"]}, "fial"),
        ({"gate_expected_count": 3}, "gate_expected_count is 3, but there are 2"),
    ):
        outcome = controller.certify(inventory, **variables)
        assert_refused(outcome, bed, said)
        # Problems that are found when the run is opened fail every host. Problems with options fail the controller on
        # behalf of all hosts.
        assert failed_hosts(outcome) == ({"h1", "h2"} if "gate_expected_count" in variables else {"localhost"})


@pytest.mark.thorough
def test_an_option_of_one_host_does_not_keep_the_others_from_being_ended(
    controller: Controller, tmp_path: Path
) -> None:
    """A wrong option fails only the host whose task reads it, and no host if no task reads it."""
    here = f"ansible_connection=local sweep_state_dir={tmp_path}/runs observe_state_dir={tmp_path}/observations"
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(f"a {here}\nb {here} observe_become=perhaps\nc {here} sweep_duration=5m\n")
    outcome = controller.run("stop", "-i", str(inventory))
    assert outcome.status == 2 and failed_hosts(outcome) == {"b"}
    assert "observe_become: 'perhaps' is neither true nor false" in outcome.words.replace("''", "'")
    wrong = controller.run("stop", "-i", str(inventory), sweep_duration="5m")
    assert (
        failed_hosts(wrong) == {"localhost"}
        and "USAGE: a, b, c: sweep_duration: '5m' is not a whole number" in wrong.words
    )


@pytest.mark.thorough
def test_a_report_directory_that_cannot_be_made(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1")
    (tmp_path / "file").touch()
    outcome = controller.certify(
        bed.inventory(tmp_path / "hosts.yml"), gate_report_dir=str(tmp_path / "file" / "reports")
    )
    assert outcome.status == 2
    assert summaries(outcome.screen)[0].startswith("USAGE: ")
    assert bed["h1"].files("/fut/logdisk") == []


@pytest.mark.thorough
def test_a_host_has_its_own_profile(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start(
        HostSpec("h1", python="broken", variables={"gate_profile": HARMLESS}),
        HostSpec("h2", python="broken"),
        HostSpec("h3", python="broken"),
    )
    inventory = bed.inventory(
        tmp_path / "hosts.yml", variables={name: value for name, value in QUICK.items() if name != "gate_profile"}
    )
    run = controller.run("certify", "-i", str(inventory)).certification.run
    assert run["profile"]["name"] == "mq-log-silver"
    assert {host: profile["name"] for host, profile in run["host_profiles"].items()} == {"h1": "lax"}


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (("--tags", "x"), {}),
        pytest.param(("--skip-tags", "x"), {}, marks=pytest.mark.thorough),
        pytest.param((), {"ANSIBLE_RUN_TAGS": "x"}, marks=pytest.mark.thorough),
        pytest.param(("--start-at-task", "Decide"), {}, marks=pytest.mark.thorough),
        (("--limit", "h1,h3"), {}),
        pytest.param(("-e", "certify_hosts=h1,h3"), {}, marks=pytest.mark.thorough),
        pytest.param(("-e", "certify_hosts=all:!h3"), {}, marks=pytest.mark.thorough),
    ],
)
def test_a_part_of_what_is_expected(
    controller: Controller, tmp_path: Path, arguments: tuple[str, ...], env: dict[str, str]
) -> None:
    """The command would silently skip tasks or hosts, so it ends before its first play, with a different status than
    that of a verdict."""
    inventory = tmp_path / "hosts.ini"
    inventory.write_text("h1 ansible_host=192.0.2.1\nh2 ansible_host=192.0.2.2\n")
    outcome = controller.certify(inventory, *arguments, env=env)
    assert outcome.status in REFUSED_BY_ANSIBLE
    assert "PLAY [" not in outcome.screen
    assert "cannot be run in part" in outcome.words or "matches no host" in outcome.words


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [("--tags", "x"), ("--limit", "h1,h3"), ("-i", "/dev/null", "--limit", "h1")])
def test_a_part_of_what_is_decided(controller: Controller, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    inventory = tmp_path / "hosts.ini"
    inventory.write_text("" if "-i" in arguments else "h1 ansible_host=192.0.2.1\n")
    outcome = controller.run("report", "-i", str(inventory), *arguments, report_runs="nowhere")
    assert outcome.status in REFUSED_BY_ANSIBLE
    assert "PLAY [" not in outcome.screen


MISTYPED_HOSTS = (
    (("-e", "certify_hosts=tpyo"), {}, "certify_hosts names 'tpyo'"),
    (("-e", "certify_hosts=h1,tpyo"), {}, "certify_hosts names 'tpyo'"),
    (("-i", "/dev/null"), {}, "the inventory contains no hosts"),
)
MISTYPED = (
    (("--tags", "nothing"), {}, "cannot be run in part, but --tags nothing would"),
    (("--limit", "h1,tpyo"), {}, "--limit names 'tpyo'"),
    (("--start-at-task", "Nothing"), {}, "--start-at-task 'Nothing'"),
    ((), {"ANSIBLE_SKIP_TAGS": "always"}, "--skip-tags always"),
)


@pytest.mark.parametrize(
    ("playbook", "arguments", "env", "said"),
    first_of(
        [
            *((playbook, *case) for case in (*MISTYPED_HOSTS, *MISTYPED) for playbook in ("stop", "cleanup")),
            # These playbooks do not select hosts.
            *((playbook, *case) for case in MISTYPED for playbook in ("verify", "history", "awx_setup")),
        ]
    ),
)
def test_a_mistyped_selection_is_not_an_empty_one(
    controller: Controller, tmp_path: Path, playbook: str, arguments: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    """In an emergency, the load would go on although the command to stop it ends with status 0."""
    inventory = tmp_path / "hosts.ini"
    inventory.write_text("h1 ansible_host=192.0.2.1\n")
    own = () if "-i" in arguments else ("-i", str(inventory))
    outcome = controller.run(playbook, *own, *arguments, env=env)
    assert outcome.status in REFUSED_BY_ANSIBLE
    assert said in outcome.words and "PLAY [" not in outcome.screen


@pytest.fixture
def idle(tmp_path: Path) -> Path:
    """An inventory with a host on which nothing runs."""
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(
        f"h1 ansible_connection=local sweep_state_dir={tmp_path}/runs observe_state_dir={tmp_path}/observations "
        f"workspace_path={tmp_path}\n"
    )
    return inventory


@pytest.mark.parametrize(
    ("playbook", "said"),
    [
        ("stop", "no host was measuring or observing the run tpyo, so nothing was ended: correct the run ID"),
        ("cleanup", "nothing of the run tpyo was found, so nothing was removed: correct the run ID"),
    ],
)
def test_a_mistyped_run_id_ends_nothing_and_says_so(
    controller: Controller, idle: Path, playbook: str, said: str
) -> None:
    assert controller.run(playbook, "-i", str(idle)).status == 0
    outcome = controller.run(playbook, "-i", str(idle), **{f"{playbook}_run_id": "tpyo"})
    assert outcome.status == 2 and said in outcome.words


@pytest.mark.parametrize(
    ("playbook", "name", "said"),
    [
        ("stop", "stop_run", "stop_run is not an option: stop_run_id is read."),
        ("stop", "sweep_stop_run", "may set sweep_stop_run: leave it out"),
        ("cleanup", "workspace_cleanup_run", "may set workspace_cleanup_run: leave it out"),
        ("cleanup", "cleanup_of", "cleanup_of is not an option: cleanup_run_id, cleanup_uncollected_days are read."),
    ],
)
def test_a_run_id_under_another_name_is_refused(
    controller: Controller, idle: Path, playbook: str, name: str, said: str
) -> None:
    outcome = controller.run(playbook, "-i", str(idle), **{name: "x"})
    assert outcome.status == 2 and said in outcome.words


def test_hosts_that_were_not_asked_are_named(controller: Controller, idle: Path) -> None:
    idle.write_text(idle.read_text() + "h2 ansible_host=127.0.0.1 ansible_port=1\n")
    stopped = controller.run("stop", "-i", str(idle), stop_run_id="abc")
    assert stopped.status != 0
    assert "no host that answered was measuring or observing the run abc" in stopped.words
    assert "Runs may continue on hosts that failed or did not answer (h2). When they answer, run this" in stopped.words
    assert (
        "No run was measuring or observing. Runs may continue on hosts" in controller.run("stop", "-i", str(idle)).words
    )
    cleaned = controller.run("cleanup", "-i", str(idle), cleanup_run_id="abc")
    assert cleaned.status != 0 and "h2: left behind could not clean up: Failed to connect" in cleaned.words


def test_a_name_that_is_a_pattern_is_refused(controller: Controller, tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.ini"
    inventory.write_text('"db 01" ansible_host=192.0.2.1\nh1 ansible_host=192.0.2.2\n')
    outcome = controller.certify(inventory)
    assert outcome.status in REFUSED_BY_ANSIBLE
    assert "Ansible reads the name of the host 'db 01' as a pattern" in outcome.words
    # Only plays that name their hosts need plain names.
    assert controller.run("awx_setup", "-i", str(inventory), awx_setup_data="/nowhere").status == 2
    run = fabricate.run_directory(controller.directory / "reports", {"h1": fabricate.tables(fabricate.sweep_rows())})
    assert controller.run("history", "-i", str(inventory), history_import=run.path).status == 0
    assert "PLAY RECAP" in controller.run("report", "-i", str(inventory), certify_hosts="h1").screen


PLAYBOOKS = (
    "certify",
    "certify_pvc",
    "preflight",
    "observe",
    "power_cut",
    "report",
    "collect",
    "status",
    "compare",
    "drift",
    "history",
    "stop",
    "cleanup",
)
INVENTORY = """
[dev]
adev
[dev:vars]
certify_hosts=dev
[prod]
b1
b2 gate_profil=look observe_mine=1
[all:vars]
ansible_host=192.0.2.1
"""


@pytest.mark.parametrize("playbook", first_of(PLAYBOOKS))
def test_a_command_does_not_do_what_mistyped_or_hidden_variables_say(
    controller: Controller, tmp_path: Path, playbook: str
) -> None:
    """The variables of groups apply to tasks, but not to plays, so more hosts could be measured than expected. This is
    refused, and no host is contacted."""
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(INVENTORY)
    hidden = controller.run(playbook, "-i", str(inventory))
    assert hidden.status == 2
    assert "adev: certify_hosts is 'dev', but this command has the hosts 'all:!localhost'" in hidden.words.replace(
        "''", "'"
    )
    mistyped = controller.run(playbook, "-i", str(inventory), certify_hosts="prod", workspce_path="/x", awx_job_id=7)
    assert mistyped.status == 2
    assert "workspce_path is not an option: workspace_path was probably meant." in mistyped.words
    assert hidden.certifications == []


def test_names_like_those_of_options_are_warnings_once(controller: Controller, tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(INVENTORY)
    outcome = controller.run("status", "-i", str(inventory), certify_hosts="prod", logdisk_accept_names="observe_mine")
    assert re.findall(r"^WARNING: .*", outcome.screen, re.MULTILINE) == [
        "WARNING: gate_profil is not an option, gate_profile was probably meant (b2)"
    ]
    other = controller.run("certify", "-i", str(inventory), certify_hosts="prod", gate_hosts="b1")
    assert other.status == 2 and "only the playbooks of this collection may set gate_hosts: leave" in other.words


def test_an_inventory_source_that_fails(controller: Controller, tmp_path: Path) -> None:
    good, bad = tmp_path / "hosts.ini", tmp_path / "cloud"
    good.write_text("h1 ansible_host=192.0.2.1\n")
    bad.write_text("#!/bin/sh\nexit 1\n")
    bad.chmod(0o755)
    outcome = controller.certify(good, "-i", str(bad))
    assert outcome.status not in (0, 2)
    assert outcome.certifications == []


@pytest.mark.thorough
def test_another_strategy_changes_nothing(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1", HostSpec("h2", python="broken"))
    inventory = bed.inventory(tmp_path / "hosts.yml")
    outcome = controller.certify(inventory, env={"ANSIBLE_STRATEGY": "free", "ANSIBLE_ANY_ERRORS_FATAL": "true"})
    assert outcome.status == 2
    assert {host: record["verdict"] for host, record in outcome.certification.records.items()} == {
        "h1": "pass",
        "h2": "error",
    }
    assert len(summaries(outcome.screen)) == 1


@pytest.mark.thorough
def test_each_host_fails_by_its_own_verdict(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("good", HostSpec("bad", python="broken"), "dead")
    bed["dead"].link_down()
    inventory = bed.inventory(tmp_path / "hosts.yml")
    outcome = controller.certify(inventory, "--limit", "bad,good")
    assert outcome.status == 2
    assert failed_hosts(outcome) == {"bad"}
    told = outcome_file(outcome)
    assert (told["outcome"], told["verdict"], told["gate_failed"]) == (VERDICT, "error", True)
    assert "expected 2 hosts; the limit left out dead" in outcome.words

    through = controller.certify(inventory, gate_fail_on=["fail", "error"])
    assert through.status == 2
    assert failed_hosts(through) == {"bad"}
    assert through.certifications[-1].records["dead"]["verdict"] == "unreachable"
