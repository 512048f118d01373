# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Selections by runs, directories, certificates and days; the error names what was not found."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.selection import SelectionError, select
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certificates_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

BASE = made_up.certificate()


def judged(day, host="a"):
    return made_up.changed(BASE, host=host, run_id=f"run-{day}", judged_at=f"2026-01-{day:02}T23:59:59Z")


CERTIFICATES = [judged(day, host) for day in (5, 6, 7) for host in "ab"]


@pytest.fixture
def history(tmp_path):
    with open_history(str(tmp_path / "history.sqlite"), create=True) as history:
        history.store(CERTIFICATES)
        yield history


def days_of(selection):
    return sorted(entry.judged_at[8:10] + entry.host for entry in selection.entries.values())


def test_terms_name_certificates_in_many_ways(history):
    assert days_of(select(history, ["run-5"])) == ["05a", "05b"]
    assert days_of(select(history, ["2026-01-06"])) == ["06a", "06b"]
    assert days_of(select(history, ["2026-01-06..2026-01-07"])) == ["06a", "06b", "07a", "07b"]
    assert days_of(select(history, [CERTIFICATES[0].sha256[:8]])) == ["05a"]
    assert days_of(select(history, [" run-5 ", "", "2026-01-05", CERTIFICATES[5].sha256])) == ["05a", "05b", "07b"]


def test_a_run_directory_need_not_be_in_the_history(history, tmp_path):
    directory = fabricate.run_directory(tmp_path, {"new": fabricate.tables(over=[])})
    made, dummy = certificates_of(directory)
    selection = select(history, [directory.path, "run-5"])
    assert made[0].sha256 in selection.entries and len(selection.entries) == 3
    assert selection.made == {made[0].sha256: made[0]}
    history.store(made)
    assert select(history, [directory.path]).made == {}


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        (["run-5", "run-9"], "has nothing under 'run-9': name a run by its ID or directory"),
        (["2026-01-09"], "has nothing under '2026-01-09'"),
        (["2026-02-30"], "'2026-02-30' is not a day"),
        (["2026-01-09..2026-01-08"], "ends before it begins"),
        (["0123abcd"], "no certificate whose SHA-256 begins with '0123abcd'"),
        ([" ", ""], "nothing is selected"),
    ],
)
def test_a_mistake_says_what_was_not_found(history, terms, sentence):
    with pytest.raises((SelectionError, OSError), match=sentence):
        select(history, terms)


def test_a_directory_without_certificates_is_told(history, tmp_path):
    directory = fabricate.run_directory(tmp_path, {})
    with pytest.raises(ValueError, match="the run has no certificates"):
        select(history, [directory.path])
