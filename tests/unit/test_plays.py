# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No option of the command line and no setting of Ansible leaves out a part of a playbook, or ends its clean-up."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import playbook_files

ROOT = Path(__file__).parents[2]
PLAYBOOKS = playbook_files()
TASKS = [*PLAYBOOKS, *sorted((ROOT / "roles").glob("*/tasks/*.yml"))]
OURS = "mqops.logdisk."

MAY_BE_ENDED = {
    # They only read.
    *("check_options",),
    # They prepare the run or a host. A task that fails later removes what the host has until then.
    *("open_run", "plan", "cut_plan", "lock_plan", "lock_pairs", "lock_guard", "machines", "schedule"),
    *("probe", "build", "workspace", "start", "lock_start", "observe"),
}
"""The actions and steps that ANSIBLE_TASK_TIMEOUT may end. All others wait, collect, judge or clean up."""


def parsed(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def plays():
    return [(path, play) for path in PLAYBOOKS for play in parsed(path) if "hosts" in play]


def tasks_in(entries):
    for entry in entries:
        yield entry
        for part in ("tasks", "block", "rescue", "always"):
            yield from tasks_in(entry.get(part) or ())


def own_tasks():
    return [
        pytest.param(
            task,
            task[key].get("name") or key.removeprefix(OURS),
            id=f"{path.parent.parent.name}/{path.stem}: {task['name']}",
        )
        for path in TASKS
        for task in tasks_in(parsed(path))
        for key in task
        if key.startswith(OURS)
    ]


@pytest.mark.parametrize(
    ("path", "play"), [pytest.param(*each, id=f"{each[0].stem}: {each[1]['name']}") for each in plays()]
)
def test_no_setting_changes_how_a_play_runs(path, play):
    assert (play["strategy"], play["any_errors_fatal"], play["gather_facts"]) == ("linear", False, False)


FIRST = [path for path in PLAYBOOKS if "hosts" in parsed(path)[0] and path.name != "judge.yml"]


@pytest.mark.parametrize("path", FIRST, ids=lambda path: path.stem)
def test_the_first_play_selects_its_hosts_by_the_lookup_that_refuses_parts(path):
    """Tags, a limit or a pattern that matches nothing would otherwise end with status 0."""
    assert "query('mqops.logdisk.hosts_under_test'," in parsed(path)[0]["hosts"]


@pytest.mark.parametrize(("task", "action"), own_tasks())
def test_only_tasks_that_prepare_or_read_are_ended_by_a_time_limit(task, action):
    assert ("timeout" in task) == (action not in MAY_BE_ENDED)
    assert task.get("timeout", 0) == 0
