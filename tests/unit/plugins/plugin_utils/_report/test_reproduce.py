# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands that repeat a measurement."""

from __future__ import annotations

import json
import shlex

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.reading import PRESETS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import repeated_defaults, role_defaults
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.reproduce import reproduction, run_options
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HOSTILE

WORKSPACE = {"path": "/var/mqm/log/logdisk"}
OPTIONS = run_options(fabricate.recorded_run("measured"))


def again(host="db07", workspace=WORKSPACE, parameters=None, **options):
    return reproduction(
        host,
        workspace,
        {**OPTIONS, **options},
        role_defaults() if parameters is None else parameters,
        repeated_defaults(),
    )


def test_the_ansible_command_has_the_variables_that_differ_from_the_defaults():
    defaults = role_defaults()
    parameters = {
        **defaults,
        "sweep_duration": 600,
        "workspace_path": "/m q",
        "sweep_files": "differs between hosts",
        "gate_report_dir": "elsewhere",
    }
    found = again(parameters=parameters)
    words = shlex.split(found.ansible)
    assert words[:5] == ["ansible-playbook", "playbooks/certify.yml", "-i", "inventory.yml", "--limit=db07"]
    assert json.loads(words[6]) == {"sweep_duration": 600, "workspace_path": "/m q"}
    assert found.varying == ("sweep_files",)


def test_without_other_variables_the_ansible_command_has_none():
    assert again().ansible == "ansible-playbook playbooks/certify.yml -i inventory.yml --limit=db07"


def test_a_preset_stands_for_its_values():
    looked = {**role_defaults(), "sweep_preset": "look", **PRESETS["look"]}
    command = "ansible-playbook playbooks/certify.yml -i inventory.yml --limit=db07 -e sweep_preset=look"
    assert again(parameters=looked).ansible == command
    changed = {**looked, "sweep_files": 8, "sweep_warmup": role_defaults()["sweep_warmup"]}
    assert again(parameters=changed).ansible == f"""{command} -e '{{"sweep_files": 8, "sweep_warmup": 5}}'"""


def test_no_command_to_copy_overwrites_a_device():
    assert "by-id" not in again(parameters={**role_defaults(), "sweep_devices_erase": ["/dev/disk/by-id/x"]}).ansible


@pytest.mark.parametrize(
    ("directories", "told"),
    [(["/a/r/x", "/a/r/y"], True), (["/a/r/x", "/b/r/y"], False), (["/dev/disk/by-id/x"], False), (["/ab/r/x"], False)],
)
def test_what_was_tested_on_several_paths_or_on_a_device_has_no_command_of_the_tester(directories, told):
    assert bool(again(workspace={"path": "/a", "directories": directories}).tester) is told


def test_the_tester_gets_the_options_of_run_csv():
    assert again(option_verify="1", option_cpus="0-3").tester == (
        "logdisk --dir=/var/mqm/log/logdisk/repeat --createDirs --bsize=4096,65536 --qm=1,2 --duration=2 --warmup=0 "
        "--fileSize=1048576 --numFiles=3"
        " --delay=15000 --verify --cpu=0-3"
    )


@pytest.mark.parametrize("text", [*HOSTILE, "$(reboot)", "a;b", "\nexec_prerun=reboot", "'\"'"])
def test_hostile_values_stay_one_word(text):
    found = again(
        host=text,
        workspace={"path": text},
        parameters={**role_defaults(), "sweep_pool": text},
        option_sync=text,
        option_block_sizes_bytes=text,
    )
    assert "\n" not in found.ansible + found.tester
    assert (len(shlex.split(found.ansible)), len(shlex.split(found.tester))) == (7, 11)
