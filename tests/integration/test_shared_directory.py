# SPDX-License-Identifier: GPL-3.0-or-later
"""Two hosts use one directory of a shared file system. What each of them does and cleans up leaves the directory of the
other host alone, while the other host measures, after it crashed, and while it holds locks there."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

from ansible_runs import QUICK, Controller
from leftovers import left_on, wait_until_measuring
from lockers import Locker
from testbed import Bed, HostSpec, ServerSpec
from testbed.bed import answers
from testbed.shell import wait_for

HOUR_S = 3600
SHARED = {"workspace_path": "/fut/logdisk", "workspace_allow": ["remote_file_system"]}
ENDLESS = {**SHARED, "sweep_block_sizes": ["4K"], "sweep_duration": 600, "sweep_poll_interval": 3, "sweep_rate": 100}


def test_no_host_removes_the_directory_of_another_one(
    start: Callable[..., Bed], controller: Controller, tmp_path: Path
) -> None:
    server = ServerSpec("log")
    bed = start(*(HostSpec(name, disk="shared", server=server) for name in ("one", "two")))
    inventory = str(bed.inventory(tmp_path / "hosts.yml"))
    elsewhere = Controller(controller.tools, tmp_path / "second", controller.environment)
    elsewhere.directory.mkdir()
    variables = tmp_path / "variables.json"
    variables.write_text(json.dumps({**QUICK, **ENDLESS, "certify_hosts": "two"}))

    lost = controller.start("certify", "-i", inventory, "-e", f"@{variables}")
    wait_until_measuring([bed["two"]])
    (directory,) = (path for path in bed["two"].files("/fut/logdisk") if Path(path).name.startswith("logdisk-"))
    run_id = Path(directory).name.removeprefix("logdisk-").removesuffix("-log")
    on_two = bed["two"].root / directory.lstrip("/")

    def kept_by(host: str, **options: object) -> str:
        """Clean up a host, although the directory is old. Return what is printed; the directory must still be there."""
        old = on_two.stat().st_mtime - 2 * HOUR_S
        os.utime(on_two, (old, old))
        outcome = elsewhere.run("cleanup", "-i", inventory, certify_hosts=host, **SHARED, **options)
        assert outcome.status == 0 and (on_two / "QM1").is_dir()
        return outcome.words

    advice = f"kept {directory}: created by two, where its run may still be alive: clean up that host."
    assert advice in kept_by("one")
    assert "two: kept" not in kept_by("two")  # it knows that its own run is alive
    # Another run on the path removes what was never started, but not this.
    measured = elsewhere.certify(Path(inventory), certify_hosts="one", sweep_block_sizes=["4K"], **SHARED)
    assert not measured.certification.records["one"]["error"]
    assert (on_two / "QM1").is_dir() and bed["two"].pids("logdisk")

    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    bed["two"].reboot()
    wait_for(lambda: answers(bed["two"]), "the host is back")
    on_two = bed["two"].root / directory.lstrip("/")
    assert advice in kept_by("one")

    # Another host holds a lock in the directory, so its run is not over, although no process of it is left on its host.
    holder = Locker(bed, bed["one"], f"{directory.removeprefix('/fut/')}/pair1-lock")
    holder.tell("lock", "wait")
    wait_for(lambda: holder.answered, "the lock is held")
    held = elsewhere.run("cleanup", "-i", inventory, certify_hosts="two", **SHARED)
    assert held.status == 2 and "is in use" in held.words and (on_two / "pair1-lock").is_file()
    holder.end()

    cleaned = elsewhere.run("cleanup", "-i", inventory, certify_hosts="two", **SHARED)
    assert cleaned.status == 0 and f"two: removed {directory}" in cleaned.words
    assert {host.name: left_on(host) for host in bed} == {"one": [], "two": []}

    # A host that is gone for good cannot clean up: its run can be named.
    bed.ssh(bed["two"], f"mkdir -p {directory}/QM1")
    machine = '{"boot_id": "b", "hostname": "gone", "machine_id": "m"}'
    for path, role in ((directory, "run"), ("/fut/logdisk", "base")):
        mark = f'{{"kind": "mqops.logdisk", "role": "{role}", "run_id": "{run_id}", "machine": {machine}}}'
        bed.ssh(bed["two"], f"echo '{mark}' > {path}/.mqops-logdisk.json")
    assert "created by gone" in kept_by("one")
    assert elsewhere.run("cleanup", "-i", inventory, certify_hosts="one", cleanup_run_id=run_id, **SHARED).status == 0
    assert {host.name: left_on(host) for host in bed} == {"one": [], "two": []}
