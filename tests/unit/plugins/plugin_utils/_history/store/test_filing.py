# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Storing run directories in the history: every judged volume is stored once, no matter what happens to the others."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history import certificate as certificates
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certificates_of, certify
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

GOOD = fabricate.tables(over=[])


@pytest.fixture
def history(tmp_path):
    """The location of an empty history."""
    place = str(tmp_path / "history.sqlite")
    open_history(place, create=True).close()
    return place


@pytest.fixture
def directory(tmp_path, history):
    """A run that the gate judged: a host that passes, an unreachable one, and one that never reported."""
    keys = {"expected": ["db07", "DB 08", "db09"], "history": {"place": history, "required": True}}
    return fabricate.run_directory(tmp_path / "reports", {"db07": GOOD}, [fabricate.failed("DB 08")], **keys)


def entries(place):
    with open_history(place) as history:
        return {entry.host: entry.effect for entry in history.newest()}


def files(directory):
    return sorted(Path(directory.path).rglob("certificate.json"))


def test_each_volume_gets_a_certificate_beside_its_record_and_in_the_history(directory, history):
    assert gate.remember(directory, *gate.make_certificates(directory)) == ""
    assert entries(history) == {"db07": "certifies", "DB 08": "attempt", "db09": "attempt"}
    with open_history(history) as opened:
        assert {hashlib.sha256(path.read_bytes()).hexdigest() for path in files(directory)} == {
            entry.sha256 for entry in opened.newest()
        }


def test_without_files_the_certificates_are_made_and_none_is_written(directory):
    written = certify(directory)
    for path in files(directory):
        path.unlink()
    assert certificates_of(directory) == written
    assert files(directory) == []


def test_a_certificate_stays_as_it_was_made(directory, monkeypatch):
    """A later version of this collection may make a different certificate from the same record. That certificate must
    not be stored in addition to the first."""
    made = certify(directory)
    monkeypatch.setattr(certificates, "FIGURES", ())
    assert certificates_of(directory) == made


def test_a_record_that_is_filed_again_gets_a_new_certificate(directory, history):
    gate.remember(directory, *gate.make_certificates(directory))
    directory.records.write(fabricate.judged(directory.run, "DB 08", GOOD), GOOD)
    assert len(files(directory)) == 2
    assert gate.remember(directory, *gate.make_certificates(directory)) == ""
    with open_history(history) as opened:
        assert [entry.effect for entry in opened.of_name("DB 08", "log")] == ["attempt", "certifies"]


def test_merged_runs_and_preflights_have_none(directory, tmp_path):
    assert certificates_of(merge_runs([directory.path], str(tmp_path / "merged"))) == ([], [])
    assert certificates_of(
        fabricate.run_directory(tmp_path / "preflights", {}, gate=False, expected=["db07"], check_mode=True)
    ) == ([], [])


@pytest.mark.parametrize(
    "name, damage, message",
    [
        ("results.csv", lambda path: path.write_bytes(b"other"), "SHA-256 differs"),
        ("certificate.json", lambda path: path.write_bytes(b"{}"), "the certificate has no schema"),
        ("certificate.json", lambda path: path.symlink_to("/dev/zero"), "cannot be read"),
    ],
)
def test_one_damaged_volume_is_named_and_does_not_keep_the_others_out(directory, history, name, damage, message):
    path = Path(directory.path) / "hosts/db07/log" / name
    damage(path)
    problem = gate.remember(directory, *gate.make_certificates(directory))
    assert "hosts/db07/log: " in problem and message in problem and f"history_import={directory.path}" in problem
    assert entries(history) == {"DB 08": "attempt", "db09": "attempt"}


def test_a_certificate_that_was_copied_from_another_host_does_not_stand_for_this_one(directory, history):
    made = certify(directory)[0]
    good, other = (
        Path(directory.path) / "hosts/db07/log/certificate.json",
        Path(directory.path) / "hosts/db09/log/certificate.json",
    )
    other.write_bytes(good.read_bytes())
    problem = gate.remember(directory, *gate.make_certificates(directory))
    assert "hosts/db09/log: its certificate.json belongs to another run, host or volume" in problem
    other.unlink()
    assert certificates_of(directory) == (made, [])


def test_a_host_whose_tables_cannot_be_used_is_an_attempt(tmp_path, history):
    directory = fabricate.run_directory(
        tmp_path / "reports",
        {},
        [fabricate.failed("db07", "error", "collect")],
        history={"place": history, "required": True},
    )
    directory.records.write(fabricate.failed("db07", "error", "collect"), {"results.csv": b"nonsense"})
    assert gate.remember(directory, *gate.make_certificates(directory)) == ""
    assert entries(history) == {"db07": "attempt"}
