# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the real ansible-playbook of a version of ansible-core, as a user would in a separate directory."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
from certification import Certification
from testbed.shell import wait_for

PROJECT = Path(__file__).resolve().parents[2]

# A profile that a healthy disk passes in one second, even on a busy machine. The delay SLOW_MS is so long that it
# cannot be due to a busy machine; a mean above 10 ms is a hard failure in every profile.
PROFILE = {
    "name": "test",
    "version": 1,
    "qualifies": {"min_duration_s": 300, "confidence": "none"},
    "limits": [{"metric": "latency_mean", "max": "9 ms"}],
}
SLOW_MS = 30
# Tests run in parallel. The disks and testers of the hosts have priority over all controllers, as if they had their own
# processors.
NICE = ("nice", "-n", "10")

QUICK = {
    "workspace_path": "/fut/logdisk",
    "gate_profile": PROFILE,
    "sweep_block_sizes": ["4K", "64K"],
    "sweep_duration": 1,
    "sweep_warmup": 0,
    "sweep_file_size": "1M",
    "sweep_files": 4,
    "sweep_poll_interval": 1,
    # The tester is built once on the controller. If every host compiled it, the compiler would take most of the
    # processor time of these tests.
    "tester_method": "binary",
}
COMPILE = {"tester_method": "compile"}
"""Variables for tests of hosts that build their tester."""


def first_of(cases: Iterable[object]) -> list[object]:
    """Cases of a parametrized test; `make test` runs only the first."""
    first, *others = cases
    return [
        first,
        *(pytest.param(*(each if isinstance(each, tuple) else [each]), marks=pytest.mark.thorough) for each in others),
    ]


@dataclass(frozen=True)
class Outcome:
    """The result of a playbook's run. ``screen`` is everything that it printed."""

    status: int
    screen: str
    directory: Path

    @property
    def words(self) -> str:
        """The output on the screen as a single line, because older versions of ansible-core break lines within
        sentences."""
        return " ".join(self.screen.split())

    @property
    def certifications(self) -> list[Certification]:
        """The contents of its run directories, oldest first."""
        return [
            Certification(path.parent)
            for path in sorted((self.directory / "reports").glob("*/run.json"))
            if not path.parent.is_symlink()
        ]

    @property
    def certification(self) -> Certification:
        (only,) = self.certifications
        return only


MOST_TRIES = 6


def is_undisturbed(outcome: Outcome) -> bool:
    """Return whether the result depends only on the disks of the hosts. Only such runs are compared, and a limit can
    fail only in such runs."""
    return not any(record["disturbances"] for record in outcome.certifications[-1].records.values())


@dataclass(frozen=True)
class Controller:
    """A version of ansible-core, and the directory in which its user works."""

    tools: Path
    directory: Path
    environment: dict[str, str]

    def run(
        self,
        playbook: Path | str,
        *arguments: str,
        env: dict[str, str] | None = None,
        timeout_s: float = 900,
        **variables: object,
    ) -> Outcome:
        """Run a playbook of the collection (given by its name) or another playbook (given by its path). Keywords become
        extra variables."""
        if isinstance(playbook, str):
            playbook = PROJECT / "playbooks" / f"{playbook}.yml"
        extra = self.directory / "variables.json"
        extra.write_text(json.dumps(variables))
        running = subprocess.Popen(
            [*NICE, str(self.tools / "ansible-playbook"), "-e", f"@{extra}", *arguments, str(playbook)],
            cwd=self.directory,
            env=self._environment(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = running.communicate(timeout=timeout_s)
        except BaseException:
            # The processes for the hosts would otherwise wait for hosts that no longer exist.
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            raise
        print(output)  # pytest shows this output if the test fails
        return Outcome(running.returncode, output, self.directory)

    def start(
        self, playbook: str, *arguments: str, stdout: int | IO[str] = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Start a playbook of the collection in a separate process group, so that it can be interrupted or killed."""
        command = [
            *NICE,
            str(self.tools / "ansible-playbook"),
            str(PROJECT / "playbooks" / f"{playbook}.yml"),
            *arguments,
        ]
        output = {"stdin": subprocess.DEVNULL, "stdout": stdout, "stderr": subprocess.STDOUT}
        return subprocess.Popen(
            command, cwd=self.directory, env=self._environment({}), start_new_session=True, **output
        )

    @staticmethod
    def interrupt(running: subprocess.Popen[bytes]) -> int:
        """Send a playbook the signal of Ctrl-C, and return its exit status. First waits until Ansible is not starting a
        process, because Python would ignore the signal at that moment."""
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")

        def is_waiting() -> bool:
            before = children.read_text()
            time.sleep(0.2)
            return bool(before) and children.read_text() == before

        wait_for(is_waiting, "Ansible waits for a task")
        os.killpg(running.pid, signal.SIGINT)
        return running.wait(timeout=300)

    def command(self, line: str, *arguments: str) -> Outcome:
        """Run a command line of ansible-playbook exactly as it was printed on the screen."""
        words = shlex.split(line)
        words[0] = str(self.tools / words[0])
        environment = self._environment({})
        done = subprocess.run(
            [*words, *arguments],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        print(done.stdout, done.stderr)
        return Outcome(done.returncode, done.stdout, self.directory)

    def certify(
        self, inventory: Path, *arguments: str, env: dict[str, str] | None = None, **variables: object
    ) -> Outcome:
        """Certify the inventory's hosts with a quick sweep."""
        return self.run("certify", "-i", str(inventory), *arguments, env=env, **{**QUICK, **variables})

    def certify_until(
        self, is_good: Callable[[Outcome], bool], inventory: Path, *arguments: str, **variables: object
    ) -> Outcome:
        """Certify repeatedly until a run is not disturbed by other load on this machine. Disturbed runs are discarded,
        together with their entries in the history."""
        history = self.directory / "reports/history.sqlite"
        for _ in range(MOST_TRIES):
            before = history.read_bytes() if history.exists() else b""
            outcome = self.run("certify", "-i", str(inventory), *arguments, **variables)
            if is_good(outcome):
                return outcome
            shutil.rmtree(outcome.certifications[-1].path)
            history.unlink()
            if before:
                history.write_bytes(before)
        pytest.fail(f"this machine spoiled each of {MOST_TRIES} runs")

    def _environment(self, env: dict[str, str]) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ANSIBLE_", "LOGDISK_", "PYTHON", "VIRTUAL_ENV"))
        }
        path = f"{self.tools}{os.pathsep}{os.environ['PATH']}"
        config = {"ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"), "XDG_CACHE_HOME": str(PROJECT / "build/cache")}
        return {**kept, "PATH": path, "NO_COLOR": "1", "ANSIBLE_NOCOLOR": "1", **config, **self.environment, **env}
