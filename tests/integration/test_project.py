# SPDX-License-Identifier: GPL-3.0-or-later
"""The checkout as users see it: the first command in a new clone, and the published artifact."""

import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import controllers
import pytest
from ansible_runs import PROJECT, Controller
from certification import Certification, summaries
from fake_awx.project import project_files
from test_awx_setup import SSH, api, fetch_modules, set_up


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the checkout in a directory whose path is too long for sockets below it, and contains special
    characters of the shell."""
    target = tmp_path / "a-directory-with-a-name-that-is-long" / 'and "another" one-below-it-just-as-long' / "logdisk"
    for name in project_files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, target / name)
    return target


def make(
    directory: Path, *arguments: str, before: Sequence[str] = (), path: str = "/usr/sbin:/usr/bin:/sbin:/bin"
) -> subprocess.CompletedProcess[str]:
    """Run make as a user would. before: a command prefix."""
    done = subprocess.run(
        [*before, "make", *arguments],
        cwd=directory,
        env={"PATH": path, "HOME": str(Path.home())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout)
    return done


@pytest.mark.thorough
@pytest.mark.usefixtures("machine")
def test_make_certify_in_a_new_clone(clone: Path) -> None:
    """`make certify` measures the disk of this machine, so the status may be 0, or 2 with reasons."""
    done = make(clone, "certify", "ARGS=-e sweep_duration=1 -e sweep_warmup=0")
    certification = Certification((clone / "reports/latest").resolve())
    (record,) = certification.records.values()
    assert record["kind"] == "measurement"
    assert len(certification.table(record["host"])) == 14
    assert not record["certified"]
    assert len(summaries(done.stdout)) == 1
    assert (done.returncode == 0) == (record["verdict"] in ("pass", "warn"))
    assert done.returncode in (0, 2)
    assert done.returncode == 0 or certification.verdict["reasons"]
    assert not Path("/var/tmp/logdisk").exists()

    # Quick checks in the same clone.
    called_localhost = ["unshare", "--uts", "sh", "-c", 'hostname localhost && exec "$@"', "sh"]
    assert "PLAY [Judge]" in make(clone, "certify", "ARGS=--check", before=called_localhost).stdout
    (clone / "my hosts.ini").write_text("these ansible_connection=local\n")
    assert "ok: [these]" in make(clone, "certify", "INVENTORY=my hosts.ini", "ARGS=--check").stdout


@pytest.fixture
def python39(tmp_path: Path) -> Path:
    """A directory for PATH with a python3 that is too old for ansible-core."""
    if "3.9" not in controllers.pythons():
        pytest.skip("no Python 3.9 is found")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(controllers.pythons()["3.9"])
    return tmp_path / "bin"


@pytest.mark.thorough
def test_a_python_that_ansible_does_not_take(clone: Path, python39: Path) -> None:
    """If there is another Python, it is used. Otherwise, make prints what to install each time that it is run, and does
    nothing else."""
    find = [str(clone / "tools/find-python"), "--default"]
    found = subprocess.run(find, env={"PATH": f"{python39}:/usr/bin:/bin"}, capture_output=True, text=True, check=True)
    version = subprocess.run(
        [found.stdout.strip(), "-c", "import sys; print(sys.version_info >= (3, 10))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert version.stdout == "True\n"
    for _ in range(2):
        done = make(clone, "certify", f"PYTHON={python39}/python3")
        assert done.returncode == 2
        assert "ansible-core needs Python 3.10 or newer" in done.stdout
        assert not (clone / ".venv/.finished").exists()


@pytest.fixture
def read_only(clone: Path) -> Iterator[Path]:
    subprocess.run(["mount", "--bind", "-o", "ro", str(clone), str(clone)], check=True)
    yield clone
    subprocess.run(["umount", str(clone)], check=True)


@pytest.mark.thorough
def test_a_checkout_that_cannot_be_written(read_only: Path) -> None:
    done = make(read_only, "certify")
    assert done.returncode == 2
    assert "cannot be written: copy it" in done.stdout


@pytest.mark.thorough
def test_make_help(clone: Path) -> None:
    done = make(clone)
    assert done.returncode == 0
    assert "make certify" in done.stdout


@pytest.mark.thorough
def test_a_copy_of_a_linked_checkout_is_complete(clone: Path, tmp_path: Path) -> None:
    """The links point into the copy, wherever it is, for example in a manual project of AWX or in a project that
    ansible-runner transmits."""
    subprocess.run([str(clone / "tools/link-collection"), "collections"], cwd=clone, check=True)
    copy = Path(shutil.move(clone, tmp_path / "elsewhere"))
    linked = copy / "collections/ansible_collections/mqops/logdisk"
    for part in ("roles/gate/tasks/main.yml", "src/main.c", "tests/fixtures/tables", "galaxy.yml"):
        assert (linked / part).resolve() == copy / part
        assert (copy / part).exists()


@pytest.fixture
def artifact(clone: Path) -> Path:
    """The artifact that would be published, built in a checkout with all generated files."""
    links = "collections/ansible_collections/mqops/logdisk/galaxy.yml"
    for junk in ("build/x", ".venv/x", ".venv-dev/x", "reports/latest/run.json", "src/build/logdisk", links):
        (clone / junk).parent.mkdir(parents=True, exist_ok=True)
        (clone / junk).touch()
    output = clone.parent / "artifact"
    galaxy = [str(PROJECT / ".venv-dev/bin/ansible-galaxy"), "collection", "build", "--output-path", str(output)]
    subprocess.run(galaxy, cwd=clone, check=True, capture_output=True)
    return next(output.iterdir())


@pytest.mark.thorough
def test_the_artifact(artifact: Path) -> None:
    """The artifact contains everything that users and certification need, and nothing that is generated or only needed
    for development."""
    with tarfile.open(artifact) as artifact:
        names = set(artifact.getnames())
    tops = {name.split("/")[0] for name in names}
    documents = {"MANIFEST.json", "FILES.json", "LICENSE"} | {path.name for path in PROJECT.glob("*.md")}
    assert tops <= documents | {
        "changelogs",
        "container",
        "docs",
        "extensions",
        "meta",
        "playbooks",
        "plugins",
        "roles",
        "src",
        "tests",
    }
    assert {
        "README.md",
        "src/base/version.h",
        "roles/tester/tasks/main.yml",
        "plugins/callback/report.py",
        "tests/config.yml",
        "meta/runtime.yml",
    } <= names
    assert not any(name.startswith(("src/build", "tests/integration", "tests/testbed", "tests/unit")) for name in names)


NEEDED = ("meta", "playbooks", "plugins", "roles", "src")
"""The directories of the collection that its playbooks use."""


def installed(artifact: Path, tools: Path, directory: Path) -> dict[str, str]:
    """Install the artifact below a directory, and return an environment in which Ansible finds it there. Whatever an
    installed collection does not need is removed."""
    collections = str(directory / "collections")
    env = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(directory), "ANSIBLE_COLLECTIONS_PATH": collections}
    install = ["collection", "install", "--offline", str(artifact), "-p", collections]
    subprocess.run([str(tools / "ansible-galaxy"), *install], cwd=directory, env=env, check=True, capture_output=True)
    for path in (directory / "collections/ansible_collections/mqops/logdisk").iterdir():
        if path.is_dir() and path.name not in NEEDED:
            shutil.rmtree(path)
        elif path.is_file() and path.suffix != ".json":
            path.unlink()
    return env


@pytest.mark.thorough
@pytest.mark.parametrize("core", ["2.16", "2.21"])
def test_the_artifact_with_one_line_for_each_playbook(
    artifact: Path, controller_of: Callable[[str], Controller], tmp_path: Path, core: str
) -> None:
    """The playbooks work in an execution environment that contains the collection, if the project has no configuration
    and only imports them."""
    tools = controller_of(core).tools
    env = installed(artifact, tools, tmp_path)
    names = sorted(path.stem for path in (PROJECT / "playbooks").glob("*.yml"))
    (tmp_path / "site.yml").write_text("".join(f"- import_playbook: mqops.logdisk.{name}\n" for name in names))
    listed = subprocess.run(
        [str(tools / "ansible-playbook"), "-i", "mq01,", "--list-tasks", "site.yml"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    print(listed.stdout, listed.stderr)
    assert listed.returncode == 0
    assert "Judge the fleet" in listed.stdout
    assert listed.stdout.count("  play #") > len(names)


@pytest.mark.thorough
@pytest.mark.usefixtures("machine")
def test_a_quick_look_with_the_installed_artifact(
    artifact: Path, controller_of: Callable[[str], Controller], tmp_path: Path
) -> None:
    """The options of the inventory override those of the preset, except the profile. Options that contradict the preset
    are refused."""
    tools = controller_of("2.21").tools
    env = installed(artifact, tools, tmp_path)
    (tmp_path / "hosts.ini").write_text(
        'mq01 ansible_connection=local ansible_python_interpreter="{{ ansible_playbook_python }}" '
        "gate_profile=mq-log-gold sweep_block_sizes=4K,1M sweep_warmup=0\n"
    )
    look = [str(tools / "ansible-playbook"), "-i", "hosts.ini", "mqops.logdisk.certify", "-e", "sweep_preset=look"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([*look, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        print(done.stdout, done.stderr)
        return done

    done = run()
    certification = Certification((tmp_path / "reports/latest").resolve())
    (record,) = certification.records.values()
    assert (done.returncode == 0) == (record["verdict"] in ("pass", "warn")) and done.returncode in (0, 2)
    assert (record["profile"]["name"], record["certified"]) == ("look", False)
    parameters = certification.run["parameters"]
    asked = {name: parameters[name] for name in parameters if name.startswith("sweep_")}
    assert {**asked, "sweep_duration": 3, "sweep_warmup": 0, "sweep_file_size": "16M", "sweep_files": 4} == asked
    page = (certification.path / "index.html").read_text()
    assert "--limit=mq01 -e sweep_preset=look -e" in page and "sweep_duration&#34;" not in page

    refused = run("-e", "gate_profile=mq-log-gold")
    assert refused.returncode == 2
    assert "gate_profile, an extra variable, contradicts sweep_preset: look" in refused.stdout


@pytest.mark.thorough
def test_awx_is_set_up_by_the_installed_artifact(artifact: Path, controller: Controller, tmp_path: Path) -> None:
    """In check mode, the modules for AWX need the objects to which others refer."""
    env = installed(artifact, controller.tools, tmp_path)
    fetch_modules()
    awx = api()
    for words in ((), ("--check",)):
        awx.requests.clear()
        outcome = set_up(
            controller,
            awx,
            *words,
            playbook=tmp_path / "collections/ansible_collections/mqops/logdisk/playbooks/awx_setup.yml",
            own=Path(env["ANSIBLE_COLLECTIONS_PATH"]),
            logdisk_credentials=[SSH],
        )
        assert (outcome.status, bool(awx.changes)) == (0, not words)
