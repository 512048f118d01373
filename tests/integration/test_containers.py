# SPDX-License-Identifier: GPL-3.0-or-later
"""The image that contains only the tester: podman runs it as any user, on a read-only root file system, without a
network or capabilities."""

import contextlib
import csv
import io
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.module_utils._runs import TABLE_NAMES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kubernetes.pod_log import read_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_runs import PROJECT
from testbed.shell import run

IMAGE = "localhost/logdisk-test"
LARGEST_BYTES = 2 << 20
SMALL = [
    "--bsize=4K,16K",
    "--duration=2",
    "--fileSize=256K",
    "--numFiles=2",
    "--reserve=0",
    "--shareDevice",
    "--tables=-",
]
# As in playbooks/kubernetes/job.yml.
CONFINED = ["--read-only", "--network=none", "--cap-drop=all", "--security-opt=no-new-privileges"]


@pytest.fixture
def image(podman: None) -> str:
    run("make", "-C", str(PROJECT), "--no-print-directory", "image", f"IMAGE={IMAGE}")
    return IMAGE


@pytest.fixture
def volume() -> Iterator[Path]:
    """A directory in memory that every user may write to, so that no figure depends on a disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="logdisk-test-") as path:
        os.chmod(path, 0o1777)
        yield Path(path)


@pytest.fixture
def cgroup() -> Iterator[str]:
    """Removes the cgroup above those of the containers, because podman leaves it behind."""
    name = f"logdisk-test-{os.getpid()}"
    yield name
    for path in sorted(Path("/sys/fs/cgroup").glob(f"**/{name}/**"), reverse=True):
        with contextlib.suppress(OSError):
            path.rmdir()


@pytest.fixture
def contained(image: str, volume: Path, cgroup: str):
    """contained(*arguments, user=...) runs the tester in a container with the volume at /data, and returns the
    result."""

    def start(*arguments: str, user: str = "") -> subprocess.CompletedProcess[str]:
        command = [
            "podman",
            "run",
            "--detach",
            f"--cgroup-parent=/{cgroup}",
            *CONFINED,
            f"--volume={volume}:/data",
            *([f"--user={user}"] if user else []),
            image,
        ]
        container = run(*command, *arguments).split()[-1]
        try:
            status = int(run("podman", "wait", container))
            log = subprocess.run(["podman", "logs", container], capture_output=True, text=True, check=True)
            return subprocess.CompletedProcess(arguments, status, log.stdout, log.stderr)
        finally:
            run("podman", "rm", "--force", container)

    return start


@pytest.mark.thorough
def test_any_user_gets_the_same_as_outside(contained, volume: Path) -> None:
    size = int(run("podman", "image", "inspect", "--format={{.Size}}", IMAGE))
    outside = subprocess.run(
        [PROJECT / "src/build/static/logdisk", f"--dir={volume}", *SMALL, "--rate=50"],
        capture_output=True,
        text=True,
        check=True,
    )
    figures = {}
    for name, done in {
        "outside": outside,
        "image's user": contained(*SMALL, "--rate=50"),
        "another": contained(*SMALL, "--rate=50", user="4242:4243"),
    }.items():
        assert done.returncode == 0, (name, done.stderr)
        tables = parse_tables(read_tables(done.stdout, TABLE_NAMES))
        # At a fixed rate, the number of operations that are due is known.
        due = [
            round((row["operations"] + row["operations_not_started"]) / 10)
            for row in tables.results
            if row["worker"] == "all"
        ]
        figures[name] = (due, tables.run["source_hash"], tables.run["filesystem_type"], list(tables.results[0]))
        assert done.stderr.splitlines()[-1] == "2 of 2 steps measured"
    assert figures["outside"] == figures["image's user"] == figures["another"]
    assert figures["outside"][0] == [10, 10]
    assert size < LARGEST_BYTES
    assert list(volume.iterdir()) == []


@pytest.mark.thorough
def test_the_root_file_system_is_read_only_and_the_arguments_are_mqldts(contained, volume: Path) -> None:
    refused = contained("--dir=/new", "--createDirs", *SMALL)
    assert refused.returncode == 2
    assert "Read-only file system" in refused.stderr
    done = contained(
        "-d", "/data", "-b", "4K", "-t1", "--numFiles", "2", "--fileSize=262144", "--csvFile=/data/result.csv"
    )
    assert done.returncode == 0, done.stderr
    (row,) = csv.reader(io.StringIO((volume / "result.csv").read_text().splitlines()[1]))
    assert row[0] == "4096"


@pytest.mark.thorough
def test_the_jobs_own_arguments(contained) -> None:
    documents = yaml.safe_load((PROJECT / "playbooks/kubernetes/job.yml").read_text())["items"]
    (container,) = next(each for each in documents if each["kind"] == "Job")["spec"]["template"]["spec"]["containers"]
    small = {
        "LOGDISK_DURATION_S": "1",
        "LOGDISK_WARMUP_S": "0",
        "LOGDISK_FILE_SIZE": "1M",
        "LOGDISK_FILES": "2",
        "LOGDISK_QUEUE_MANAGERS": "1,2",
    }
    variables = {**{each["name"]: each["value"] for each in container["env"]}, **small}
    done = contained(
        *(re.sub(r"\$\((\w+)\)", lambda found: variables[found[1]], argument) for argument in container["args"]),
        "--reserve=0",
    )
    assert done.returncode == 0, done.stderr
    tables = parse_tables(read_tables(done.stdout, TABLE_NAMES))
    assert len({row["step"] for row in tables.results}) == 14
    assert [line.split()[0] for line in done.stderr.splitlines()[-15:-1]] == [
        "4K",
        "8K",
        "16K",
        "32K",
        "64K",
        "256K",
        "1M",
    ] * 2
