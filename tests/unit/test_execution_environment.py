# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-builder accepts the definition of the execution environment, with and without psycopg.
The images are not fetched."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import controllers
import pytest

ROOT = Path(__file__).resolve().parents[2]
DEFINITION = (ROOT / "execution-environment/execution-environment.yml").read_text()


def pinned(name):
    """Return the versions that the tests use."""
    return re.search(rf"^{re.escape(name)}==[\d.]+", (ROOT / "requirements-dev.txt").read_text(), re.MULTILINE).group()


@pytest.mark.parametrize("wanted", ["", pinned("psycopg[binary]")], ids=["as it is", "with psycopg"])
def test_ansible_builder_takes_the_definition(tmp_path, wanted):
    (tmp_path / "execution-environment.yml").write_text(
        DEFINITION.replace("# python:", "python:") if wanted else DEFINITION
    )
    builder = Path(sys.executable).with_name("ansible-builder")
    subprocess.run([builder, "create", "--verbosity", "0"], cwd=tmp_path, check=True)
    context = tmp_path / "context"
    assert "name: mqops.logdisk" in (context / "_build/requirements.yml").read_text()
    containerfile = (context / "Containerfile").read_text()
    assert f"ansible-core=={[core for core in controllers.CORES if not core.is_candidate][-1].version}" in containerfile
    assert pinned("ansible-runner") in containerfile
    requirements = context / "_build/requirements.txt"
    assert (requirements.read_text().strip() if requirements.exists() else "") == wanted
