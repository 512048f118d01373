# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run that is stored in the history can be restored unchanged anywhere."""

from __future__ import annotations

import filecmp
import os

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import kept
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import JUDGED, OPENED, HistoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.archive import ArchiveError
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate


def test_a_run_comes_back_as_it_was_judged(place, tmp_path):
    directory = fabricate.run_directory(tmp_path / "reports", {"db07": fabricate.tables(over=[])})
    run_id, elsewhere = directory.run["run_id"], str(tmp_path / "elsewhere")
    with open_history(place, create=True) as history:
        kept.keep(history, directory, JUDGED)
        fetched = kept.fetch(history, run_id, elsewhere)
        compared = filecmp.dircmp(directory.path, fetched.path)
        assert fetched.path == os.path.join(elsewhere, run_id) and not (
            compared.left_only or compared.right_only or compared.diff_files
        )
        # Files that already exist are not fetched again.
        fetched.records.write(fabricate.failed("db07"))
        assert [record.verdict for record in list(judged_records(kept.fetch(history, run_id, elsewhere)))] == [
            "unreachable"
        ]


def test_what_is_not_kept_or_no_archive_is_said(place, tmp_path):
    with open_history(place, create=True) as history:
        history.keep_run({"run_id": "run1"}, b"no archive", OPENED)
        with pytest.raises(HistoryError, match="does not contain the report of the run 'run2'"):
            kept.fetch(history, "run2", str(tmp_path))
        with pytest.raises(HistoryError, match="does not contain the report"):
            kept.fetch(history, "..", str(tmp_path))
        with pytest.raises(ArchiveError, match="the archive of the run run1 cannot be unpacked"):
            kept.fetch(history, "run1", str(tmp_path))
