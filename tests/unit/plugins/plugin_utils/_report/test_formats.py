# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files for programs: each is accepted by the schema that it promises, or by the parser that reads it, for runs of every kind."""

from __future__ import annotations

import os

import pytest
import xmlschema
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate


@pytest.fixture(scope="module")
def jenkins():
    return xmlschema.XMLSchema(str(fabricate.PROJECT / "tests/fixtures/jenkins/junit-10.xsd"))


def test_jenkins_accepts_the_results(of_each_kind, jenkins):
    assert [error.reason for error in jenkins.iter_errors(os.path.join(of_each_kind.path, "junit.xml"))] == []
