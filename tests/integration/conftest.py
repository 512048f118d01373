# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of all integration tests: hosts, and versions of ansible-core."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import controllers
import pytest
from ansible_runs import PROJECT, Controller
from testbed import Bed, HostSpec, Settings, reaper
from testbed.settings import default_prefix
from testbed.shell import run


@pytest.fixture(scope="session")
def settings() -> Settings:
    if os.geteuid() != 0:
        pytest.fail("the integration tests make network namespaces and mounts: run them as root")
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    return Settings(prefix=default_prefix("t") + worker)


@pytest.fixture(scope="session", autouse=True)
def _nothing_left(settings: Settings) -> Iterator[None]:
    """Remove the remains of earlier runs before the first test, and check after the last test that nothing is left."""
    reaper.reap(settings)
    yield
    left = reaper.leftovers(settings)
    reaper.reap(settings)
    assert not left


@pytest.fixture
def podman(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Podman with its own storage, which does not need permission to mount. Containers are run by runc:
    crun refuses some arrangements of cgroups.

    The storage is not below the directory of the test, because sockets need short names. With longer names, podman does
    not notice that a container has ended.
    """
    with tempfile.TemporaryDirectory(prefix="podman-", ignore_cleanup_errors=True) as path:
        storage = Path(path, "storage.conf")
        storage.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{path}/graph"\nrunroot = "{path}/run"\n')
        containers = Path(path, "containers.conf")
        engine = (
            'cgroup_manager = "cgroupfs"\nevents_logger = "file"\nlock_type = "file"\nruntime = '
            f'"runc"\ntmp_dir = "{path}/tmp"\n'
        )
        containers.write_text(f"[containers]\ndefault_ulimits = []\n[engine]\n{engine}")
        monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(storage))
        monkeypatch.setenv("CONTAINERS_CONF", str(containers))
        monkeypatch.setenv("BUILDAH_ISOLATION", "chroot")
        yield


@pytest.fixture(scope="session")
def tester() -> Path:
    """The tester of this checkout. Only one worker builds it at a time."""
    (PROJECT / "build").mkdir(exist_ok=True)
    with (PROJECT / "build/tester.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run("make", "-s", "-C", str(PROJECT / "src"), "build/logdisk")
    return PROJECT / "src/build/logdisk"


@pytest.fixture
def machine() -> Iterator[None]:
    """Only one test at a time may use this machine itself as a host. Otherwise, the queue managers of other tests,
    which this machine can see, would cause a refusal."""
    (PROJECT / "build").mkdir(exist_ok=True)
    with (PROJECT / "build/machine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def start(settings: Settings) -> Iterator[Callable[..., Bed]]:
    """start(HostSpec, ...) or start("name", ...) starts hosts, which are removed after the test."""
    with Bed(settings) as bed:
        yield lambda *specs: bed.up(HostSpec(spec) if isinstance(spec, str) else spec for spec in specs)


@pytest.fixture
def background() -> Iterator[Callable[..., Future]]:
    """background(function, ...) runs a function in the background. The test does not end before the function has
    ended."""
    with ThreadPoolExecutor() as executor:
        yield executor.submit


@pytest.fixture
def controller_of(settings: Settings, tmp_path: Path) -> Iterator[Callable[[str], Controller]]:
    """controller_of("2.16") returns this version of ansible-core in an empty working directory. It skips the test if
    this machine has no Python for this version."""

    def make(name: str) -> Controller:
        core = controllers.core(name)
        if not core.make():
            pytest.skip(
                f"ansible-core {core.version} needs Python {core.oldest_python} to {core.newest_python}, none is found"
            )
        directory = tmp_path / "work"
        directory.mkdir()
        return Controller(
            core.directory / "bin", directory, {"ANSIBLE_SSH_CONTROL_PATH_DIR": str(settings.state / "cp")}
        )

    yield make
    # Ansible makes this directory for its connections, even if the test has no bed, which would remove it.
    with contextlib.suppress(OSError):
        (settings.state / "cp").rmdir()
        settings.state.rmdir()


@pytest.fixture
def controller(controller_of: Callable[[str], Controller]) -> Controller:
    """The newest ansible-core that this machine can run, or the one that LOGDISK_TEST_CORE names."""
    return controller_of(controllers.core(os.environ.get("LOGDISK_TEST_CORE") or "newest").name)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With an ansible-core other than the newest, run only the tests whose result may depend on the version.

    Tests that need the whole machine run one after another in the same worker, so that no other worker waits for them.
    These and the long tests come first, because the tests that start last should be short.
    """
    if controllers.core(os.environ.get("LOGDISK_TEST_CORE") or "newest") != controllers.newest():
        others = [item for item in items if "controller" not in item.fixturenames]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]
    for item in items:
        if "machine" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group("machine"))
    items.sort(key=lambda item: ("machine" not in item.fixturenames, item.get_closest_marker("long") is None))
