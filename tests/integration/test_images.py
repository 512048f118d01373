# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that use the files of a container image, as with LOGDISK_MOLECULE_IMAGE."""

import dataclasses
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from testbed import Bed, HostSpec, Settings, images, trees
from testbed.shell import TestbedError, run

IMAGE = "localhost/logdisk-test:complete"


@pytest.fixture
def own_cache(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    yield dataclasses.replace(settings, cache=tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)


@pytest.mark.acceptance
@pytest.mark.usefixtures("podman")
def test_a_host_from_an_image(settings: Settings, own_cache: Settings) -> None:
    tree = trees.tree(settings, "trixie")
    with subprocess.Popen(["tar", "--create", "--directory", str(tree), "."], stdout=subprocess.PIPE) as archive:
        subprocess.run(
            ["podman", "import", "--quiet", "-", IMAGE], stdin=archive.stdout, stdout=subprocess.DEVNULL, check=True
        )
    with Bed(own_cache) as bed:
        bed.up([HostSpec("h1", image=IMAGE)])
        assert "trixie" in bed.ssh(bed["h1"], "cat /etc/os-release")
        assert str(bed["h1"].tree).startswith(str(own_cache.cache / "image-"))
    assert run("podman", "ps", "--all", "--quiet") == ""


@pytest.mark.thorough
@pytest.mark.usefixtures("podman")
def test_an_image_that_is_not_there(own_cache: Settings) -> None:
    with pytest.raises(TestbedError, match="localhost/logdisk-test:nowhere"):
        trees.tree(own_cache, image="localhost/logdisk-test:nowhere")


@pytest.mark.thorough
def test_an_image_and_no_engine(own_cache: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "ENGINES", ("no-such-engine",))
    with pytest.raises(TestbedError, match="neither no-such-engine answers"):
        trees.tree(own_cache, image=IMAGE)
