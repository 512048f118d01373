# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The latency that a volume's certificate predicts for its live queue manager, and the text if the observed latency
differs."""

from __future__ import annotations

import datetime

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.observation.certified import (
    hold_against_certificates,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.observation.record import observed
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

NOW = datetime.datetime.now(datetime.timezone.utc)
TODAY = NOW.strftime("%Y-%m-%dT%H:%M:%SZ")
LONG_AGO = (NOW - datetime.timedelta(days=200)).strftime("%Y-%m-%dT%H:%M:%SZ")
FACTS = {"mount_point": "/var/mqm/log", "filesystem_type": "xfs"}


@pytest.fixture
def history(tmp_path):
    """The location of an empty history."""
    place = str(tmp_path / "history.sqlite")
    open_history(place, create=True).close()
    return place


@pytest.fixture
def certify(tmp_path, history):
    """Certify db07 with 200 us + size / (2 GB/s), or with the values in the arguments."""

    def made(created_at=TODAY, profile="mq-log-silver", files=None, **sweep):
        files = files or fabricate.tables(fabricate.sweep_rows(**sweep), over=[])
        directory = RunDirectory.create(
            str(tmp_path / "tests"), fabricate.run_data(["db07"], profile, history={"place": history, "required": True})
        )
        directory.records.write(fabricate.judged(directory.run, "db07", files, created_at=created_at), files)
        assert gate.remember(directory, *gate.make_certificates(directory)) == ""

    return made


@pytest.fixture
def observe(tmp_path, history):
    """Observe db07 with a mean latency and size, and return the notes about the certificate."""

    def made(latency_ns, size=32768, place=history, facts=FACTS, **figures):
        rows = fabricate.step_rows(1, size, latency_ns=latency_ns, **figures)
        files = fabricate.tables(rows, program="observe")
        directory = RunDirectory.create(
            str(tmp_path / "seen"), fabricate.run_data(["db07"], kind="observation", history={"place": place})
        )
        workspace = {"path": "/var/mqm/log", "queue_managers": ["QM1"]}
        seen = {"source": "bpftrace"}
        directory.records.write(
            observed(directory.run, "db07", "log", dict(facts), workspace, files, seen, fabricate.TODAY), files
        )
        hold_against_certificates(directory)
        (record,) = list(judged_records(directory))
        return record.kind_data["certificate"]

    return made


def test_the_line_of_the_certificate_predicts_the_mean_of_a_size_that_was_not_measured(certify, observe):
    certify()
    held = observe(225_000, size=49152)
    assert held["expected_ns"] == pytest.approx(200_000 + 49152 / 2, rel=0.001)
    assert held["ratio"] == pytest.approx(1.0, rel=0.01)
    assert (held["outcome"], held["state"], held["caveats"]) == ("alike", "valid", [])
    assert held["text"].startswith("As certified (1 times")


@pytest.mark.parametrize(
    "factor, outcome, text",
    [
        (1.3, "alike", "within the usual differences between runs"),
        (1.7, "slower", "Observe again: if this continues"),
        (3.0, "slower", "3 times slower than certified: the volume changed or is shared."),
        (0.25, "faster", "4 times faster than certified"),
    ],
)
def test_strong_words_need_more_than_noise(certify, observe, factor, outcome, text):
    certify()
    held = observe(int(factor * 216_384))
    assert held["outcome"] == outcome
    assert text in held["text"]


def test_few_writes_are_not_compared(certify, observe):
    certify()
    held = observe(3_000_000, operations=29)
    assert (held["outcome"], held["text"]) == (
        "unknown",
        "Only 29 log writes were observed, which is too few to compare them with a certificate.",
    )


def test_a_volume_that_was_certified_for_several_at_once_may_simply_be_shared(certify, observe):
    certify(queue_managers=(1, 9))
    held = observe(3 * 216_384)
    assert (
        held["text"]
        == "3 times slower than certified for one queue manager, but as certified for 9: the volume is shared."
    )
    assert held["others"][0]["ratio"] == pytest.approx(1.0, rel=0.01)


def test_a_test_of_several_at_once_alone_says_so(certify, observe):
    certify(queue_managers=(4,))
    assert (
        "The test was of 4 queue managers that wrote at once. A queue manager that writes alone should be faster."
        in observe(400_000)["caveats"]
    )


def test_a_size_outside_the_certified_ones_is_called_extrapolated(certify, observe):
    certify()
    (caveat,) = observe(2_000_000, size=3 << 20)["caveats"]
    assert caveat == (
        "The queue manager writes 3 MiB on average, which is outside the range of certified "
        "sizes (4 KiB to 1 MiB): extrapolated."
    )


def test_an_expired_certificate_is_compared_and_named(certify, observe):
    certify(created_at=LONG_AGO)
    held = observe(216_384)
    assert held["state"] == "expired"
    assert held["caveats"][0].startswith("It is compared with the certificate which expired on ")


def test_a_valid_certificate_is_preferred_to_a_newer_attempt(certify, observe):
    certify(created_at=LONG_AGO)
    certify(created_at=TODAY[:11] + "00:00:00Z")
    certify(profile="look", latency_ns=400_000, files=None)
    held = observe(216_384)
    assert (held["profile"], held["state"], held["outcome"]) == ("mq-log-silver", "valid", "alike")


def test_a_test_that_did_not_certify_is_named_if_there_is_nothing_better(certify, observe):
    certify(profile="look")
    (caveat,) = observe(216_384)["caveats"]
    assert caveat == f"It is compared with a test that did not certify (verdict pass), of {TODAY[:10]}."


def test_a_failed_test_is_named(certify, observe):
    certify(latency_ns=30_000_000)
    assert observe(30_000_000)["caveats"] == [f"It is compared with a test that failed, of {TODAY[:10]}."]


def test_the_certificate_of_a_volume_that_lost_writes_is_not_called_valid(certify, observe, history):
    certify()
    with open_history(history) as opened:
        (own,) = opened.of_name("db07", "log")
        loss = made_up.cuts_of(own, "2026-05-30", "fail", 1)
        opened.store([], [loss])
    held = observe(216_384)
    assert (held["state"], held["outcome"]) == ("failed", "alike")
    lost = "the certificate of a volume that lost acknowledged writes in a power cut on 2026-05-30"
    assert held["caveats"] == [f"It is compared with {lost}, of {TODAY[:10]}."]


def test_another_file_system_under_the_same_name_is_compared_with_a_caveat(certify, observe):
    certify()
    held = observe(216_384, facts={**FACTS, "filesystem_uuid": "another"})
    assert held["outcome"] == "alike"
    assert held["caveats"][0].startswith("The certificate was found by the names of the host and the volume")


def test_means_without_a_line_are_interpolated(certify, observe):
    certify(block_sizes=(4096, 65536))
    held = observe(200_000)
    assert held["expected_ns"] == pytest.approx(216_384, rel=0.001)
    assert held["caveats"][-1].startswith(
        "The certified means do not follow a line (a line needs the means of at least 3 write sizes, but the run "
        "measured 2)"
    )


def test_a_size_that_was_measured_needs_no_line(certify, observe):
    certify(block_sizes=(4096, 65536))
    held = observe(200_000, size=65536)
    assert held["expected_ns"] == pytest.approx(232_768, rel=0.001)
    assert not any("follow a line" in caveat for caveat in held["caveats"])


def test_without_a_certificate_or_a_history_there_is_nothing_to_compare(observe, tmp_path):
    assert observe(200_000)["text"].startswith("The history contains no certificate of this volume")
    assert "does not exist" in observe(200_000, place=str(tmp_path / "none.sqlite"))["text"]


def test_a_log_that_did_not_write_is_not_compared(certify, observe):
    certify()
    assert (
        observe(200_000, operations=0)["text"]
        == "No log write was observed, so there is nothing to compare with a certificate."
    )
