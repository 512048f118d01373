# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs as AWX starts them with ansible-runner, and the data that AWX reads from them afterwards."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import psycopg
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import postgresql_server
from ansible_runs import NICE, PROJECT, QUICK, Controller
from certification import Certification

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home())}
"""An environment that contains nothing from the user who runs the tests."""
REQUIREMENTS = "requirements_collections"

OF_ONE_HOST = re.compile(r"(?:ok|changed|skipping|included|failed|fatal|rescued): \[([^\]>]+)\]|(\S+) +: ok=\d")
PROGRESS = "logdisk: "


@dataclass(frozen=True)
class Job:
    """The artifacts of a job."""

    private: Path
    ident: str
    exit_status: int

    @property
    def artifacts(self) -> Path:
        return self.private / "artifacts" / self.ident

    @cached_property
    def rc(self) -> int:
        return int((self.artifacts / "rc").read_text())

    @cached_property
    def status(self) -> str:
        return (self.artifacts / "status").read_text()

    @cached_property
    def output(self) -> str:
        """The content of the job's page."""
        return re.sub(r"\x1b\[[0-9;]*m", "", (self.artifacts / "stdout").read_text()).replace("\r\n", "\n")

    @cached_property
    def lines(self) -> list[str]:
        return self.output.splitlines()

    @cached_property
    def events(self) -> list[dict]:
        return sorted(
            (json.loads(path.read_text()) for path in (self.artifacts / "job_events").glob("*.json")),
            key=lambda event: event["counter"],
        )

    @property
    def largest_event(self) -> int:
        """How many characters the page has in the database of AWX."""
        return max(len(json.dumps(event)) for event in self.events)

    @cached_property
    def stats(self) -> dict:
        """The event from which AWX takes the artifacts of a job and its summaries of hosts; empty if the job was killed
        before this event."""
        found = [event["event_data"] for event in self.events if event["event"] == "playbook_on_stats"]
        return found[-1] if found else {}

    @property
    def artifact_data(self) -> dict:
        return self.stats.get("artifact_data") or {}

    @property
    def failed_hosts(self) -> set[str]:
        """The hosts that AWX shows as failed. A relaunch on failed hosts is limited to them."""
        return {host for key in ("dark", "failures") for host, count in self.stats[key].items() if count}

    @property
    def certification(self) -> Certification:
        """The only run whose directory the job left behind."""
        places = (self.private / "project/reports", self.artifacts / "logdisk")
        (only,) = (path.parent for place in places for path in place.glob("*/run.json") if not path.parent.is_symlink())
        return Certification(only)

    def events_of(self, host: str) -> int:
        """Return how many events AWX stores about a host."""
        return sum(event["event_data"].get("host") == host for event in self.events)

    def lines_with(self, hosts: int) -> int:
        """Return how many lines, not counting progress, the job would print for this many hosts if all of them were
        like its last host."""
        lines = [line for line in self.lines if not line.startswith(PROGRESS)]
        about = [found[1] or found[2] for line in lines if (found := OF_ONE_HOST.match(line))]
        names = sorted(set(about) - {"localhost"})
        # Tasks that run once for all hosts run on the first one.
        return len(lines) + (hosts - len(names)) * about.count(names[-1])


@dataclass(frozen=True)
class Runner:
    """A version of ansible-core with an ansible-runner, and a private data directory whose project is a copy of the
    checkout."""

    controller: Controller
    private: Path

    def install(self) -> dict[str, str]:
        """Install the collections in requirements.yml beside the project, as AWX does. Return the environment in which
        a job finds them."""
        target = self.private / REQUIREMENTS
        install = ["collection", "install", "--offline", "-r", "collections/requirements.yml", "-p", str(target)]
        galaxy = str(self.controller.tools / "ansible-galaxy")
        subprocess.run(
            [galaxy, *install], cwd=self.private / "project", env=ENVIRONMENT, check=True, capture_output=True
        )
        return {"ANSIBLE_COLLECTIONS_PATH": f"{target}:~/.ansible/collections:/usr/share/ansible/collections"}

    def prepare(self, answers: Mapping[str, object], environment: Mapping[str, str], **settings: object) -> None:
        """Write the input of a job. Text answers of a survey are marked as unsafe, but values in AWX's variables are
        not."""
        (self.private / "env").mkdir(exist_ok=True)
        extravars = "".join(
            f"{name}: {'!unsafe ' if isinstance(value, str) else ''}{json.dumps(value)}\n"
            for name, value in {**QUICK, **answers}.items()
        )
        (self.private / "env/extravars").write_text(extravars)
        cp = self.controller.environment
        (self.private / "env/envvars").write_text(json.dumps({**cp, **environment}))
        (self.private / "env/settings").write_text(json.dumps(settings))

    def command(self, *words: str) -> list[str]:
        return [*NICE, str(self.controller.tools / "ansible-runner"), *words]

    @property
    def environment(self) -> dict[str, str]:
        return {**ENVIRONMENT, "PATH": f"{self.controller.tools}{os.pathsep}{ENVIRONMENT['PATH']}"}

    def run(self, ident: str, *words: str, playbook: str = "certify", python_path: str = "") -> Job:
        command = self.command("run", str(self.private), "-p", f"playbooks/{playbook}.yml", "--ident", ident, *words)
        environment = {**self.environment, **({"PYTHONPATH": python_path} if python_path else {})}
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        print(done.stdout, done.stderr)
        return Job(self.private, ident, done.returncode)

    def start(self, ident: str) -> subprocess.Popen[bytes]:
        """Start a job that is to be cancelled, or to run out of time."""
        command = self.command("run", str(self.private), "-p", "playbooks/certify.yml", "--ident", ident, "--quiet")
        return subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def elsewhere(self, ident: str, worker: Path, processed: Path) -> tuple[int, Job]:
        """Transmit a job, run it in an otherwise empty directory, and process its output;
        return the worker's exit status as well."""
        (worker.parent / "sent").write_bytes(
            self._pipe("transmit", str(self.private), "-p", "playbooks/certify.yml", "--ident", ident).stdout
        )
        with (worker.parent / "sent").open("rb") as sent:
            worked = self._pipe("worker", "--private-data-dir", str(worker), stdin=sent)
        (worker.parent / "back").write_bytes(worked.stdout)
        with (worker.parent / "back").open("rb") as back:
            done = self._pipe("process", str(processed), "--ident", ident, stdin=back)
        print(done.stdout.decode(), worked.stderr.decode(), done.stderr.decode())
        return worked.returncode, Job(processed, ident, done.returncode)

    def _pipe(self, *words: str, stdin: IO[bytes] | int = subprocess.DEVNULL) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(self.command(*words), env=self.environment, stdin=stdin, capture_output=True, check=False)


def postgresql_driver(directory: Path) -> dict[str, str]:
    """Return the environment of jobs that have a history in PostgreSQL, as a credential and an execution environment
    with psycopg provide it."""
    drivers = directory / "drivers"
    drivers.mkdir()
    site = Path(psycopg.__file__).parents[1]
    for package in ("psycopg", "psycopg_binary", "psycopg_binary.libs", "typing_extensions.py"):
        if (site / package).exists():
            (drivers / package).symlink_to(site / package)
    return {"LOGDISK_HISTORY_PASSWORD": postgresql_server.PASSWORD, "PYTHONPATH": str(drivers)}


def copy_project(private: Path, files: list[Path]) -> None:
    """Copy the files of the checkout to the project of a private data directory."""
    for name in files:
        target = private / "project" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, target)
    (private / "inventory").mkdir()
