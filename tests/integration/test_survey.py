# SPDX-License-Identifier: GPL-3.0-or-later
"""Survey answers as AWX passes them on: as extra variables with texts that are marked as unsafe. Versions of
ansible-core read such texts differently."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from ansible_runs import PROJECT, Controller, Outcome
from certification import summaries
from testbed import Bed

CORES = pytest.mark.parametrize("core", ["2.16", "2.21"])
PASTED = """
name: ours
version: 3
limits:
  - {metric: latency_mean, max: 9 s}
waivers:
  - {host: elsewhere, metric: latency_mean, until: 2099-01-31, reason: it moves}
"""


class Answer(str):
    """A text answer."""


yaml.SafeDumper.add_representer(Answer, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style="'"))


def preflight(controller: Controller, inventory: Path, answers: dict[str, object]) -> Outcome:
    """Run a preflight with answers. Every text among them is marked as unsafe, as in AWX."""
    path = controller.directory / "answers.yml"
    path.write_text(yaml.safe_dump({name: marked(value) for name, value in answers.items()}))
    return controller.run("preflight", "-i", str(inventory), "-e", f"@{path}")


def marked(value: object) -> object:
    return (
        [marked(each) for each in value]
        if isinstance(value, list)
        else Answer(value)
        if isinstance(value, str)
        else value
    )


def options() -> dict[str, object]:
    """Return the default of every option of every role."""
    return {
        name: value
        for path in PROJECT.glob("roles/*/defaults/main.yml")
        for name, value in yaml.safe_load(path.read_text()).items()
    }


@pytest.mark.thorough
@CORES
def test_nothing_but_empty_answers(
    core: str, start: Callable[..., Bed], controller_of: Callable[[str], Controller], tmp_path: Path
) -> None:
    bed = start("h1")
    small = {"workspace_path": "/fut/logdisk", "sweep_file_size": "1M", "sweep_files": "4"}
    empty = dict.fromkeys([*options(), "certify_hosts"], "")
    outcome = preflight(
        controller_of(core), bed.inventory(tmp_path / "hosts.yml"), {**empty, "gate_class": " ", **small}
    )
    assert outcome.status == 0
    assert outcome.certification.records["h1"]["reasons"][0].startswith("ready: 7 steps in about 71 min")
    parameters = outcome.certification.run["parameters"]
    expected = {**options(), **small, "sweep_files": 4, "sweep_duration": 600}
    assert {name: parameters.get(name) for name in parameters if parameters.get(name) != expected[name]} == {}
    assert outcome.certification.run["policy"] == {
        "fail_on": expected["gate_fail_on"],
        "report_only": False,
        "valid_days": 90,
    }


@pytest.mark.thorough
@CORES
def test_answers_of_every_kind(
    core: str, start: Callable[..., Bed], controller_of: Callable[[str], Controller], tmp_path: Path
) -> None:
    bed = start("h1")
    answers = {
        "certify_hosts": "h1\n",
        "gate_profile": PASTED,
        "gate_fail_on": ["fail", "unqualified"],
        "gate_report_only": "true",
        "gate_valid_days": 30,
        "gate_expected_count": " 1 ",
        "gate_baseline": "none",
        "gate_array_settings": "pool: gold\ncache: 64",
        "sweep_block_sizes": "4K, 16 K\n64K",
        "sweep_queue_managers": "1",
        "sweep_duration": " 2 ",
        "sweep_warmup": 0,
        "sweep_rate": 100.5,
        "sweep_file_size": "1M",
        "sweep_files": "4",
        "sweep_direct": "no",
        "sweep_target": "message_size: 2K\nmessages_per_s: 5000\nclients: 60",
        "sweep_options": "alignment: 512",
        "workspace_volumes": "- name: data\n  path: /fut/logdisk\n  queue_managers: QM1 QM2",
        "workspace_allow": "symlink, shared_directory",
        "workspace_reserve": " 1 % ",
        "tester_install_compiler": "false",
    }
    outcome = preflight(controller_of(core), bed.inventory(tmp_path / "hosts.yml"), answers)
    assert outcome.status == 0
    run = outcome.certification.run
    assert (run["profile"]["name"], run["profile"]["version"], run["profile"]["waivers"][0]["until"]) == (
        "ours",
        3,
        "2099-01-31",
    )
    assert run["policy"] == {"fail_on": ["fail", "unqualified"], "report_only": True, "valid_days": 30}
    assert (run["host_array_settings"], run["host_targets"]["h1"]["target_clients"]) == (
        {"h1": "cache=64, pool=gold"},
        60,
    )
    assert run["parameters"]["sweep_block_sizes"] == ["4K", "16K", "64K"]
    asked = [run["parameters"][name] for name in ("sweep_duration", "sweep_rate", "workspace_allow")]
    assert asked == [2, 100.5, ["symlink", "shared_directory"]]
    (record,) = outcome.certification.records.values()
    assert (record["volume"], record["reasons"][0].split(" in ")[0]) == ("data", "ready: 3 steps")


@pytest.mark.thorough
@CORES
def test_what_cannot_be_used_is_refused_once(
    core: str, controller_of: Callable[[str], Controller], tmp_path: Path
) -> None:
    inventory = tmp_path / "hosts.ini"
    inventory.write_text("h1 ansible_host=192.0.2.1\nh2 ansible_host=192.0.2.2\n")
    wrong = {
        "workspace_path": (
            "/fut/{{ inventory_hostname }}",
            "'/fut/{{ inventory_hostname }}' contains a template, and a template is not evaluated",
        ),
        "sweep_duration": ("5m", "'5m' is not a whole number"),
        "sweep_mode": ("alone", "'alone' is not one of together, isolated"),
        "sweep_direct": ("perhaps", "'perhaps' is neither true nor false"),
        "workspace_allow": ("symlink, everything", "'everything' is not one of symlink, shared_directory"),
        "gate_fail_on": ([], "an empty list would let every run through"),
        "gate_profile": ("name: x\nname: y", "The text is not valid YAML: the key 'name' is given twice"),
        "tester_method": ("magic", "'magic' is not one of compile, binary"),
    }
    outcome = preflight(controller_of(core), inventory, {name: answer for name, (answer, _said) in wrong.items()})
    assert outcome.status == 2
    told = json.loads((outcome.directory / "reports/outcome.json").read_text())
    assert told["outcome"] == "usage"
    for name, (_answer, said) in wrong.items():
        assert f"h1, h2: {name}: {said}" in told["message"]
    assert len(summaries(outcome.screen)) == 1 and f"USAGE: {told['message']}" in outcome.words
    assert "argument_spec" not in outcome.words
    assert outcome.certifications == []
