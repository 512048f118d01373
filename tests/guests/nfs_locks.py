# SPDX-License-Identifier: GPL-3.0-or-later
"""The test of locks on real NFS, between virtual machines. README.md describes it:

nfs_locks.py [CASE...]    runs mqops.logdisk.locks in all cases of nfs_cases.py, or in those that are named
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nfs_bed
from kernel import BUILD, PROJECT, kernel, run
from nfs_bed import Guest
from nfs_cases import CASES, CRASH, NEW_SCOPE, Case
from nfs_image import root_disk
from nfs_outcome import HEADER, Outcome

LEASE_S = int(os.environ.get("LEASE_S", "10"))
LOAD_S = float(os.environ.get("LOAD_S", "20"))
OFF_S = LEASE_S + 20
"""How long a host is without power. It must not be back before its lease ends, because it then gives up its locks."""
GOLD = {"name": "gold-with-short-load", "version": 1, "extends": "mq-locks-gold", "locks": {"load_s": LOAD_S}}
BASIC = {
    "name": "basic",
    "version": 1,
    "limits": [{"metric": "latency_mean", "max": "9 ms"}, {"metric": "lock_hand_over", "max": "4 s"}],
    "locks": {"load_s": 1},
}
RUN_S = 3600


def guests_of(case: Case) -> tuple[Guest, list[Guest]]:
    server = Guest("server", 0, f"file-server start {case.server} {LEASE_S}\n")
    clients = []
    for number, name in ((1, "one"), (2, "two")):
        # NFSv3 uses a separate protocol for locks, for which a host needs these services.
        script = "rpcbind\nrpc.statd\n" if case.version == "3" else ""
        script += f"modprobe nfs {case.parameters}\n"
        script += f"until mount -t nfs -o {case.mount_options} {server.address}:/srv/shared /fut; do sleep 1; done\n"
        script += f"hostname {name}\n" if case.renamed else ""
        script += "touch /run/is-ready\n"
        clients.append(
            Guest(
                name,
                number,
                script,
                host_name=case.host_names[number - 1],
                machine_id=case.machine_ids[number - 1],
                off_s=OFF_S,
            )
        )
    return server, clients


def fail_over_command(case: Case, server: Guest) -> str:
    if not case.fail_over:
        return ""
    if case.fail_over == CRASH:
        return f"kill -9 $(cat {server.pid_file})"
    scope = "moved" if case.fail_over == NEW_SCOPE else ""
    script = f"file-server stop {case.server} {LEASE_S}; file-server start {case.server} {LEASE_S} {scope}"
    return f"ssh {' '.join(server.ssh_options)} root@{server.address} '{script}'"


def inventory(case: Case, server: Guest, clients: list[Guest]) -> dict[str, Any]:
    hosts = {}
    for guest in clients:
        hosts[guest.name] = {
            "ansible_host": guest.address,
            "ansible_user": "root",
            "ansible_ssh_timeout": 60,  # a busy machine
            "ansible_ssh_common_args": " ".join(guest.ssh_options),
            "ansible_python_interpreter": "/usr/bin/python3",
            "locks_confirm": guest.name if case.is_cut else "",
            "locks_cut_command": f"kill -9 $(cat {guest.pid_file})" if case.is_cut else "",
        }
    hosts[clients[0].name].update(locks_pair=[clients[1].name], locks_server_command=fail_over_command(case, server))
    variables = {
        "workspace_path": "/fut/logdisk",
        "tester_method": "binary",
        "gate_profile": GOLD if case.is_cut else BASIC,
        "locks_wait": nfs_bed.BOOT_S,
    }
    return {"all": {"hosts": hosts, "vars": variables}}


def play(folder: Path, content: dict[str, Any]) -> tuple[int, str]:
    """Run the playbook of the collection like a user; return its exit status and what it printed."""
    hosts = folder / "hosts.yml"
    hosts.write_text(json.dumps(content, indent=1))
    tools = Path(sys.executable).parent
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PYTHON"))},
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(folder / "cp"),
        "XDG_CACHE_HOME": str(PROJECT / "build/cache"),
    }
    command = ["ansible-playbook", "-i", hosts, PROJECT / "playbooks/locks.yml"]
    with (folder / "screen").open("w") as screen:
        status = subprocess.run(
            [str(word) for word in command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=screen,
            stderr=subprocess.STDOUT,
            timeout=RUN_S,
            check=False,
        ).returncode
    return status, (folder / "screen").read_text()


def record_of(folder: Path) -> dict[str, Any]:
    """Return the record of the first host."""
    paths = [path for path in folder.glob("reports/*/hosts/*/*/record.json") if not path.parents[3].is_symlink()]
    records = {(record := json.loads(path.read_text()))["host"]: record for path in paths}
    return records.get("one") or {}


def try_case(name: str, root: Path) -> tuple[Outcome, str]:
    """Return the result of a case, and a complaint if it is not the expected one."""
    case = CASES[name]
    server, clients = guests_of(case)
    begin_s = time.monotonic()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as path, nfs_bed.running(Path(path), root, server, clients):
        for guest in clients:
            guest.wait_until("test -e /run/is-ready", "mounts the directory")
        status, screen = play(Path(path), inventory(case, server, clients))
        outcome = Outcome(case, status, record_of(Path(path)))
        complaint = outcome.complaint()
        keep(name, Path(path), [server, *clients])
    print(f"| {' | '.join(outcome.row())} |  {name}: {time.monotonic() - begin_s:.0f} s", flush=True)
    return outcome, f"{name}: {complaint}\n{screen if complaint else ''}" if complaint else ""


def keep(name: str, folder: Path, guests: list[Guest]) -> None:
    """Keep the report and the logs of a case for troubleshooting."""
    target = BUILD / "nfs" / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder / "reports", target / "reports", symlinks=True, dirs_exist_ok=True)
    shutil.copy(folder / "screen", target)
    for guest in guests:
        shutil.copy(guest.console, target)
        (target / f"{guest.name}.messages").write_text(guest.try_shell("dmesg; cat /var/log/ganesha.log").stdout)


def main() -> None:
    names = sys.argv[1:] or list(CASES)
    if unknown := [name for name in names if name not in CASES]:
        raise SystemExit(f"{__doc__}\nno such case: {', '.join(unknown)}; there are {', '.join(CASES)}")
    root = root_disk()
    nfs_bed.enter_namespaces()
    signal.signal(signal.SIGTERM, lambda *_signal: sys.exit("stopped"))  # so that guests and files are removed
    nfs_bed.make_network()
    print(run("qemu-system-x86_64", "--version").splitlines()[0], next((kernel() / "lib/modules").iterdir()).name)
    print(f"| {' | '.join(HEADER)} |\n|{' --- |' * len(HEADER)}", flush=True)
    complaints = [complaint for name in names if (complaint := try_case(name, root)[1])]
    raise SystemExit("\n".join(complaints) or 0)


if __name__ == "__main__":
    main()
