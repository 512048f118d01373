# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every job that the tester prints for fio runs in fio."""

from __future__ import annotations

import json
import subprocess

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import command_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

SHIPPED = fabricate.PROJECT / "roles/sweep/files/workloads"
TESTER = fabricate.PROJECT / "src/build/logdisk"
BUILT_IN = {
    "mq-log": ["--bsize=4K", "--qm=2", "--createDirs"],
    "commit": ["--workload=commit", "--apps=10", "--msgSize=2K"],
}
FILES = ["--fileSize=8M", "--numFiles=12", "--reserve=0", "--shareDevice", "--duration=1"]


def arguments_of(name):
    workload = load_workload(name, str(SHIPPED))
    return BUILT_IN[name] if workload.built_in else [*command_line(workload.told), f"--load={workload.loads[-1]}"]


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(path.stem for path in SHIPPED.glob("*.yml")))
def test_the_printed_job_runs(name, tmp_path):
    command = [str(TESTER), *arguments_of(name), *FILES, f"--dir={tmp_path}/files"]
    (tmp_path / "files").mkdir()
    job = tmp_path / "job.fio"
    job.write_text(run(*command, "--showFio"))
    run(*command, "--keepFiles")
    answer = run("fio", "--output-format=json", str(job))
    groups = json.loads(answer[answer.index("{") :])["jobs"]
    assert [group["error"] for group in groups] == [0] * len(groups)
    assert all(group["read"]["total_ios"] + group["write"]["total_ios"] > 0 for group in groups)
