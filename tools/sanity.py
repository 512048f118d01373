#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-test's sanity tests on a built artifact: sanity.py [--all] ARTIFACT

The artifact is installed outside any git work tree, because in a directory that git ignores, ansible-test finds no
files, skips everything and reports success. For the same reason, a skipped test counts as a failure, unless it reports
that this machine lacks the tool or the Python that it needs. Such tests are listed as not covered.

The tests run with the newest release of ansible-core, or, with --all, with every version with which
the collection is tested. Only the oldest of these supports Python 3.6. Two tests take as long as all others together,
so they run at the same time as the others. One of the two, the import test, takes this long for each Python, so without
--all it runs with only one Python.
"""

import argparse
import configparser
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import controllers

BUILD = controllers.PROJECT / "build/sanity"
# The versions of pip with which the supported versions of ansible-core create their environments.
PIP_VERSIONS = ("21.3.1", "23.1.2", "24.2", "25.2")
NOT_COVERED = re.compile(
    r"could not be found|due to missing|required program|not supported by|requires Python|unsupported Python",
    re.IGNORECASE,
)

# ansible-test downloads the script that installs pip into a new environment, unless the script is in its cache. The
# following script runs pip from pip's own wheel, and installs the same packages as the original.
GET_PIP = """\
import sys

sys.path.insert(0, {wheel!r})
from pip._internal.cli.main import main

arguments = [word for word in sys.argv[1:] if word not in ("--no-setuptools", "--no-wheel")]
sys.exit(main(["install", "--upgrade", "--force-reinstall"] + arguments))
"""


class Job(NamedTuple):
    """Runs some of the tests with one ansible-core. The log of these tests is called `name`, and so is their copy of
    the collection. They need a separate copy, because they write to it."""

    core: controllers.Core
    name: str
    arguments: list[str]


def jobs(core: controllers.Core, every_python: bool) -> list[Job]:
    python = [] if every_python else ["--python", ".".join(map(str, sys.version_info[:2]))]
    alone = {"pylint": [], "import": python}
    others = [word for test in alone for word in ("--skip-test", test)]
    if core.is_candidate:
        # Its pylint needs a package that is in no package registry yet.
        del alone["pylint"]
        print(f"sanity: ansible-core {core.name}: NOT COVERED: pylint of a release candidate")
    return [
        *(Job(core, f"{core.name}-{test}", ["--test", test, *more]) for test, more in alone.items()),
        Job(core, core.name, others),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("artifact", type=Path)
    options = parser.parse_args()
    cores = controllers.CORES if options.all else (controllers.newest_release(),)
    made = [core for core in cores if core.make()]
    for core in cores:
        if core not in made:
            print(f"sanity: ansible-core {core.name} NOT COVERED: no Python for it on this machine")
    wanted = [job for core in made for job in jobs(core, options.all)]
    for job in wanted:
        provide_pip(job)
    with (
        tempfile.TemporaryDirectory(prefix="logdisk-sanity-", dir="/var/tmp") as directory,
        ThreadPoolExecutor((os.cpu_count() or 1) + 1) as executor,
    ):
        passed = executor.map(
            lambda job: sanity(job, install(options.artifact.resolve(), Path(directory, job.name), job)), wanted
        )
        failed = [job.name for job, is_good in zip(wanted, passed, strict=True) if not is_good]
    if failed:
        print(f"sanity: failed: {', '.join(failed)}")
    return 1 if failed else 0


def home(job: Job) -> Path:
    """Return the home directory of a job. ansible-test keeps its environments and caches below HOME, which two jobs
    cannot share. These directories are kept in the checkout for the next run."""
    return BUILD / f"home-{job.name}"


def provide_pip(job: Job) -> None:
    provide_pip_configuration(job)
    cache = home(job) / ".ansible/test/cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in PIP_VERSIONS:
        wheel = BUILD / f"pip-{version}-py3-none-any.whl"
        if not wheel.exists():
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                f"--dest={BUILD}",
                f"pip=={version}",
            ]
            subprocess.run(command, check=True)
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(GET_PIP.format(wheel=str(wheel)))


def provide_pip_configuration(job: Job) -> None:
    """Write the configuration of pip, from files and environment variables, to the home directory of a job. Otherwise,
    neither would be used in the environments of ansible-test."""
    known = configparser.RawConfigParser()
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    for key, value in re.findall(r"^(\S+?)='(.*)'$", listed, re.MULTILINE):
        section, _, option = key.rpartition(".")
        section = "global" if section == ":env:" else section
        if not known.has_section(section):
            known.add_section(section)
        known.set(section, option, value)
    path = home(job) / ".config/pip/pip.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        known.write(file)


def install(artifact: Path, directory: Path, job: Job) -> Path:
    directory.mkdir()
    core = controllers.newest_release()
    galaxy = str(core.directory / "bin/ansible-galaxy")
    # Use --force, because the command would otherwise find the checkout's own links and do nothing.
    command = [
        galaxy,
        "collection",
        "install",
        "--force",
        "--offline",
        "--no-deps",
        f"--collections-path={directory}",
        str(artifact),
    ]
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=directory,
        env={**environment(job), "ANSIBLE_COLLECTIONS_PATH": str(directory)},
    )
    return directory / "ansible_collections/mqops/logdisk"


def sanity(job: Job, collection: Path) -> bool:
    """Run a job on its copy of the collection, and print its result."""
    shutil.rmtree(collection / "tests/output", ignore_errors=True)
    command = [str(job.core.directory / "bin/ansible-test"), "sanity", "--color", "no", *job.arguments]
    log, label = (
        BUILD / f"core-{job.name}.log",
        f"sanity: ansible-core {job.core.version}{job.name.removeprefix(job.core.name).replace('-', ', ')}",
    )
    with log.open("w") as output:
        env = environment(job)
        done = subprocess.run(
            command,
            cwd=collection,
            env=env,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    lines = log.read_text().splitlines()
    skipped = [line for line in lines if re.search(r"\bskipp", line, re.IGNORECASE)]
    not_covered = [line for line in skipped if NOT_COVERED.search(line)]
    wrong = [line for line in skipped if line not in not_covered]
    ran = len([line for line in lines if line.startswith("Running sanity test ")])
    for line in without_python(list(dict.fromkeys(not_covered))):
        print(f"{label}: NOT COVERED: {line}")
    if done.returncode or wrong or not ran:
        print("\n".join([line for line in lines if line.startswith(("ERROR", "FATAL"))] + wrong))
        print(f"{label}: status {done.returncode}, {ran} tests ran, {len(wrong)} skipped; the output is in {log}")
        return False
    print(f"{label}: {ran} tests ran, all passed")
    return True


def without_python(lines: list[str]) -> list[str]:
    """Return the lines, with those about a missing Python merged into one per test."""
    versions: dict[str, list[str]] = {}
    others = []
    for line in lines:
        found = re.search(r'test "(\S+)" on Python (\S+) because it could not be found', line)
        if found:
            versions.setdefault(found[1], []).append(found[2])
        else:
            others.append(line)
    return [
        *(f"{test} with Python {', '.join(missing)}, not found here" for test, missing in versions.items()),
        *others,
    ]


def environment(job: Job) -> dict[str, str]:
    """Put real interpreters first in PATH, because the wrapper scripts of a version manager may not work."""
    folders = [str(job.core.directory / "bin"), *(str(Path(path).parent) for path in controllers.pythons().values())]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    return {**kept, "HOME": str(home(job)), "PATH": os.pathsep.join([*folders, os.environ["PATH"]])}


if __name__ == "__main__":
    sys.exit(main())
