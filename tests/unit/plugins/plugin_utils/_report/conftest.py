# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs of every kind, and a browser."""

from __future__ import annotations

import os
import shutil

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import Browser


@pytest.fixture(scope="session")
def _every_verdict(tmp_path_factory):
    return runs.every_verdict(tmp_path_factory.mktemp("every_verdict"))


@pytest.fixture
def every_verdict(_every_verdict, tmp_path):
    """A run with a host for each verdict."""
    return RunDirectory.open(shutil.copytree(_every_verdict.path, tmp_path / os.path.basename(_every_verdict.path)))


@pytest.fixture(scope="session")
def rendered(tmp_path_factory):
    """Return a function that returns the rendered run of a kind. Tests must not change this run."""
    made = {}

    def of_kind(name):
        if name not in made:
            made[name] = runs.KINDS[name](tmp_path_factory.mktemp(name))
            render(made[name])
        return made[name]

    return of_kind


@pytest.fixture(params=sorted(runs.KINDS))
def of_each_kind(request, rendered):
    """The rendered run of each kind, one after the other."""
    return rendered(request.param)


@pytest.fixture(scope="session")
def hostile(rendered):
    """A run in which everything that a host or an inventory can name is hostile."""
    return rendered("hostile")


@pytest.fixture(scope="session")
def browser():
    with Browser() as running:
        yield running
