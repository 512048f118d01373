# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gate compares runs with their baseline: what is compared, and the effect on verdict, report, certificate and
history."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from math import exp
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils._units import format_duration
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import Certificate
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare import against_baseline, class_comparison
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.change import HostChange
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.selection import SelectionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certificates_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate, open_run
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

SIZES = (4096, 1048576)


class Nights:
    """A fleet that is certified night by night."""

    def __init__(self, base, hosts, sizes=SIZES, over=None):
        self.base, self.hosts, self.sizes, self.over, self.day = base, hosts, sizes, over, 0
        self.noise = random.Random("one percent")
        self.place = str(base / "history.sqlite")

    def measure(self, kind="last", slower=(), facts=(), seconds=600, **baseline):
        """Return the run directory of the next night before its gate. For the hosts in slower, latencies are multiplied
        by the given factor."""
        self.day += 1
        asked = {"kind": kind, "accept": False, "margin": 0.1, "named": [], "certificates": [], **baseline}
        history = {"place": self.place, "required": True}
        open_history(self.place, create=True).close()
        directory = RunDirectory.create(
            str(self.base / "reports"),
            fabricate.run_data(self.hosts, run_id=f"R{self.day}", baseline=asked, history=history),
        )
        for number, host in enumerate(self.hosts):
            latency_ns = int(200_000 * exp(self.noise.gauss(0, 0.01)) * dict(slower).get(host, 1))
            files = fabricate.tables(
                fabricate.sweep_rows(self.sizes, latency_ns=latency_ns, bandwidth=1e15, seconds=seconds),
                over=self.over,
                option_duration_s=seconds,
            )
            record = fabricate.judged(directory.run, host, files)
            known = {
                "machine_id": f"{number:032x}",
                "boot_id": f"boot-{number}",
                "filesystem_size_bytes": 10**12,
                **dict(facts),
            }
            moment = f"2026-{1 + self.day // 28:02d}-{1 + self.day % 28:02d}T10:00:00Z"
            directory.records.write(
                dataclasses.replace(record, created_at=moment, run_id=f"R{self.day}", facts={**record.facts, **known}),
                files,
            )
        return directory

    def certify(self, kind="last", **keys):
        """Return the run directory of the next night and the verdicts of the gate by host."""
        directory = self.measure(kind, **keys)
        assert gate.compare(directory) == ""
        found = verdicts(directory)
        assert remembered(directory) == ""
        return directory, found


def verdicts(directory):
    verdict, problem = gate.judge(directory)
    assert problem == ""
    return {host["host"]: host["verdict"] for host in verdict["hosts"]}


def remembered(directory):
    return gate.remember(directory, *gate.make_certificates(directory))


def reasons(directory, host="h0"):
    record = judged_record(directory, f"hosts/{host}/log")
    return record.reasons or record.notes


def reason(directory, host="h0"):
    return reasons(directory, host)[-1]


@pytest.fixture
def four(tmp_path):
    """Four hosts with three runs for which no comparison was requested."""
    nights = Nights(tmp_path, [f"h{number}" for number in range(4)])
    for _ in range(3):
        assert set(nights.certify("")[1].values()) == {"pass"}
    return nights


def test_a_host_that_became_slower_is_named_by_the_third_run_and_by_each_one_then(four):
    for more in ("2 more runs should tell", "1 more run should tell"):
        directory, found = four.certify(slower={"h1": 1.3})
        assert set(found.values()) == {"inconclusive"}
        assert more in reason(directory, "h1")
    for _ in range(2):
        directory, found = four.certify(slower={"h1": 1.3})
        assert found == {"h0": "pass", "h1": "fail", "h2": "pass", "h3": "pass"}
    assert reason(directory, "h1").startswith("worse than its baseline: latency_mean is ")
    assert reason(directory, "h0").startswith("not worse than its baseline: latency_mean is ")
    with open_history(four.place) as history:
        outcomes = [entry.outcome for entry in history.of_name("h1", "log")]
        effects = [entry.effect for entry in history.of_name("h1", "log")]
    assert outcomes == [None] * 3 + ["inconclusive"] * 2 + ["worse"] * 2
    assert effects[-2:] == ["fails"] * 2


def test_a_stream_with_sizes_of_its_own_is_compared_as_well(tmp_path, monkeypatch):
    usual = class_comparison.rows_of

    def with_own_sizes(content, figure):
        return {
            (None if size == SIZES[1] else size, *row): value for (size, *row), value in usual(content, figure).items()
        }

    monkeypatch.setattr(class_comparison, "rows_of", with_own_sizes)
    nights = Nights(tmp_path, ["h0"])
    nights.certify("")
    directory, dummy = nights.certify()
    assert directory.comparisons.read("hosts/h0/log")["worst_row"]["block_size_bytes"] in (None, SIZES[0])


def test_everything_follows_from_the_run_directory(four):
    for _ in range(3):
        directory, dummy = four.certify(slower={"h1": 1.3})
    certificate = Certificate.parse(Path(directory.path, "hosts/h1/log/certificate.json").read_bytes()).content
    assert (certificate["verdict"], certificate["limits_verdict"], certificate["effect"]) == ("fail", "pass", "fails")
    assert certificate["comparison"]["outcome"] == "worse"
    with open_history(four.place) as history:
        before = [entry.sha256 for entry in history.of_name("h1", "log")[:3]]
    assert certificate["comparison"]["before"] == before
    assert len(certificate["comparison"]["after"]) == 2
    Path(four.place).unlink()
    made, problems = certificates_of(RunDirectory.open(directory.path))
    assert problems == [] and certificate in [each.content for each in made]
    assert verdicts(directory) == {"h0": "pass", "h1": "fail", "h2": "pass", "h3": "pass"}
    render(directory)
    for name in ("index.html", "report.md", "junit.xml", "report.json", "summary.txt"):
        assert "worse than its baseline" in Path(directory.path, name).read_text(encoding="utf-8"), name


def test_a_report_has_before_and_after_side_by_side(four):
    directory, _found = four.certify(slower={"h1": 1.3})
    rows = directory.comparisons.read("hosts/h1/log")["rows"]
    assert [row["block_size_bytes"] for row in rows] == list(SIZES)
    assert all(row["after"] / row["before"] == pytest.approx(1.3, rel=0.05) for row in rows)
    text = " ".join(re.sub(r"<[^>]+>", " ", Path(render(directory)["index.html"]).read_text(encoding="utf-8")).split())
    before, after = (format_duration(rows[0][side]) for side in ("before", "after"))
    assert f"latency_mean Before Now Change 4 KiB {before} {after} +" in text
    assert "Before: the mean of the earlier runs." in text
    assert "rows" not in certificates_of(directory)[0][0].content["comparison"]


def test_the_fields_of_a_comparison_are_documented(four):
    directory, dummy = four.certify()
    text = (fabricate.PROJECT / "docs/files.md").read_text(encoding="utf-8")
    comparison = json.loads(Path(directory.path, "hosts/h0/log/comparison.json").read_text(encoding="utf-8"))
    assert [name for name in comparison if f"`{name}`" not in text] == []


def test_a_class_of_eight_decides_by_fewer_runs_and_knows_a_common_night(tmp_path):
    nights = Nights(tmp_path, [f"h{number}" for number in range(10)])
    for _ in range(3):
        nights.certify("")
    common = dict.fromkeys(nights.hosts, 1.03)
    directory, found = nights.certify(slower={**common, "h3": 1.4})
    assert found == {**dict.fromkeys(nights.hosts, "pass"), "h3": "fail"}
    assert "beyond its class most at 4 KiB" in reason(directory, "h3")


def test_hosts_of_one_class_may_have_different_windows(tmp_path):
    """A host that was disturbed in one run is compared with its class, based on its other runs."""
    nights = Nights(tmp_path, [f"h{number}" for number in range(9)])
    for _ in range(3):
        nights.certify("")
    directory = nights.measure()
    record = directory.records.read("hosts/h0/log")
    files = directory.records.tables(record)
    directory.records.write(dataclasses.replace(record, disturbances=["steal"]), files)
    gate.compare(directory)
    remembered(directory)
    assert verdicts(directory) == {**dict.fromkeys(nights.hosts, "pass"), "h0": "inconclusive"}
    assert reason(directory) == "it cannot be compared with its baseline: its measurement was disturbed"
    assert nights.certify(slower={"h0": 1.4})[1] == {**dict.fromkeys(nights.hosts, "pass"), "h0": "fail"}


def test_a_host_alone_in_its_window_is_still_held_against_its_class(tmp_path):
    """Five runs of a single host are too few to decide. The other hosts of its class took part in the same runs, so the
    host can be compared with its class, although each of the other hosts was already conclusive in its first run."""
    nights = Nights(tmp_path, [f"h{number}" for number in range(9)])
    for _ in range(3):
        nights.certify("")
    for _ in range(2):
        directory, found = nights.certify(slower={"h0": 1.165}, margin=0.18)
        assert found == {**dict.fromkeys(nights.hosts, "pass"), "h0": "inconclusive"}
    comparison = directory.comparisons.read("hosts/h0/log")
    assert len(comparison["after"]) == 1 and comparison["bound"] is not None


def test_accepting_begins_a_new_baseline(four):
    faster = {"h0": 0.7, "h1": 0.7, "h2": 0.7, "h3": 0.7}
    for _ in range(3):
        four.certify(slower=faster)
    back_to_normal = four.measure()
    gate.compare(back_to_normal)
    assert set(verdicts(back_to_normal).values()) == {"pass"}  # three faster nights do not become the new baseline
    accepted, found = four.certify("", slower=faster, accept=True)
    assert set(found.values()) == {"pass"}
    certificate = Certificate.parse(accepted.certificates.read("hosts/h0/log")).content
    assert (certificate["accepted"], certificate["comparison"]) == (True, None)
    directory, found = four.certify()
    assert set(found.values()) == {"fail"}
    assert "higher than in 1 run before" in reason(directory)


def test_named_certificates(four):
    with open_history(four.place, make_tables=True) as history:
        run = [entry.sha256 for entry in history.of_run("R2")]

        def asked(name, accept=False):
            settings = {"gate_margin": 0.1, "gate_baseline_accept": accept, "gate_baseline": [name]}
            return open_run._baseline(settings, four.place, make_tables=True)

        assert (asked("R2")["kind"], asked("R2")["certificates"]) == ("certificates", sorted(run))
        assert asked(run[0][:8])["certificates"] == run[:1]
        for unknown in ("R9", "0" * 8, "nonsense"):
            with pytest.raises((SelectionError, OSError), match=unknown):
                asked(unknown)
        assert asked("R9", accept=True)["kind"] == ""
    directory, found = four.certify("certificates", certificates=run[:1])
    assert set(found.values()) == {"inconclusive"}
    assert (
        json.loads(Path(directory.path, "hosts/h0/log/comparison.json").read_text(encoding="utf-8"))["before"]
        == run[:1]
    )
    assert "gate_baseline names no certificate of it" in reason(directory, "h1")


def test_a_named_baseline_may_be_of_the_disk_before_and_of_mqldt(four):
    with open_history(four.place, create=True) as history:
        rows = [
            {"block_size_bytes": size, "load_point": 1, "stream": "log", "operation": "write", "bytes_per_s": 1e6}
            for size in SIZES
        ]
        profile = {"name": "mqldt", "version": 1}
        imported = {"source": "mqldt", "host": "h0", "volume_id": None, "method_version": None, "rows": rows}
        imported["profile"] = profile
        verdict = {"verdict": "inconclusive", "effect": "attempt", "valid_from": None, "valid_until": None}
        old = Certificate.of_content({**made_up.certificate().content, **imported, **verdict, "parameters": {}})
        history.store([old])
    directory, dummy = four.certify("certificates", certificates=[old.sha256])
    comparison = json.loads(Path(directory.path, "hosts/h0/log/comparison.json").read_text(encoding="utf-8"))
    assert (comparison["figure"], comparison["before"], comparison["outcome"]) == (
        "bytes_per_s",
        [old.sha256],
        "inconclusive",
    )
    with open_history(four.place) as history:
        own = history.of_name("h0", "log")[1].sha256
    directory, dummy = four.certify("certificates", certificates=[old.sha256, own])
    comparison = directory.comparisons.read("hosts/h0/log")
    assert (comparison["figure"], comparison["before"]) == ("latency_mean_ns", [own])


@pytest.mark.parametrize(
    "keys, said",
    [
        (
            {"facts": {"filesystem_uuid": "new"}},
            "the history contains certificates under its name (the newest from run R3), but for another volume",
        ),
        (
            {"seconds": 700},
            "none of its certificates can be compared; the newest (run R3): it was measured with another duration_s",
        ),
        ({"facts": {"mount_point": ""}}, "it is not known which volume this is"),
    ],
)
def test_a_volume_without_anything_to_compare_is_inconclusive_and_says_why(four, keys, said):
    directory, found = four.certify(**keys)
    assert set(found.values()) == {"inconclusive"}
    assert said in reason(directory)


def test_a_first_run_says_how_to_begin(tmp_path):
    nights = Nights(tmp_path, ["h0"])
    for said in (
        "the history contains no certificate of it",
        "the only certificate with which it can be compared was itself compared with a baseline",
        "all 2 certificates with which it can be compared were themselves compared with a baseline",
    ):
        directory, found = nights.certify()
        assert found == {"h0": "inconclusive"}
        assert said in reason(directory) and "certify it with gate_baseline_accept: true to begin a baseline" in reason(
            directory
        )


def test_a_revoked_certificate_is_no_baseline(tmp_path):
    nights = Nights(tmp_path, ["h0"], fabricate.BLOCK_SIZES, [])
    nights.certify("")
    with open_history(nights.place) as history:
        (entry,) = history.of_run("R1")
        history.revoke(entry.sha256, "wrong disk", "me")
    assert "none of its certificates can be compared; the newest (run R1): it is revoked" in reason(nights.certify()[0])
    directory, dummy = nights.certify("certificates", certificates=[entry.sha256])
    assert "gate_baseline names no certificate of it, or only revoked ones" in reason(directory)


def test_a_history_that_fails_never_loses_the_report_and_never_passes(four):
    directory = four.measure()
    Path(four.place).write_bytes(b"this is not a database, " * 100)
    problem = gate.compare(directory)
    assert problem.startswith("the hosts were not compared with their baseline: ")
    assert set(verdicts(directory).values()) == {"inconclusive"}
    assert any(text.startswith("it was not compared with its baseline: the history ") for text in reasons(directory))
    assert remembered(directory) != ""
    assert gate.report(directory) == "" and Path(directory.path, "index.html").exists()
    # The certificate of such a run records that it was not compared, so it never becomes a baseline.
    (entry, *dummy) = (certificate.entry for certificate in certificates_of(directory)[0])
    assert (entry.effect, entry.limits_verdict, entry.outcome, entry.baseline is None) == (
        "attempt",
        "pass",
        None,
        False,
    )


def test_the_gate_compares_again_only_what_it_has_not_compared(four):
    """A host whose tables are collected later is compared at that time. The other hosts keep the result of the first
    gate."""
    directory = four.measure()
    record, files = (
        directory.records.read("hosts/h0/log"),
        directory.records.tables(directory.records.read("hosts/h0/log")),
    )
    directory.records.write(fabricate.failed("h0"))
    gate.compare(directory)
    kept = directory.comparisons.read("hosts/h1/log")
    assert (kept["outcome"], directory.comparisons.read("hosts/h0/log")) == ("inconclusive", None)
    remembered(directory)
    directory.records.write(record, files)
    directory.comparisons.write("hosts/h1/log", {**kept, "reason": "as it was"})
    gate.compare(directory)
    assert directory.comparisons.read("hosts/h0/log")["outcome"] == "inconclusive"
    assert directory.comparisons.read("hosts/h1/log")["reason"] == "as it was"


def test_preflights_and_runs_that_ask_for_nothing_are_not_compared(four):
    preflight = fabricate.run_directory(
        four.base / "preflights", {}, gate=False, expected=["h0"], check_mode=True, baseline={"kind": "last"}
    )
    assert gate.compare(preflight) == ""
    directory, dummy = four.certify("")
    assert directory.comparisons.read("hosts/h0/log") is None


@pytest.mark.parametrize(
    "change, sentence",
    [
        (
            HostChange("h", "worse", 3, 3, 0.31, 0.34, 0.28, (65536, 1, "log", "write"), 0.35),
            "worse than its baseline: latency_mean is 31 % higher than in 3 runs before (with 95 % confidence at least "
            "28 % higher, margin 10 %); beyond its class most at 64 KiB, 35 % higher",
        ),
        (
            HostChange("h", "worse", 1, 5, 0.31, 0.34, 0.31, (65536, 1, "log", "write"), 0.35),
            "worse than its baseline: latency_mean is 31 % higher than in 1 run before (with 95 % confidence at least "
            "28 % higher, margin 10 %); most at 64 KiB, 35 % higher",
        ),
        (
            HostChange("h", "non-inferior", 3, 3, -0.05, -0.02),
            (
                "not worse than its baseline: latency_mean is 5 % lower than in 3 runs before (with 95 % confidence at "
                "most 2 % lower, margin 10 %)"
            ),
        ),
        (
            HostChange("h", "inconclusive", 3, 3, 0.05, 0.12, runs_needed=5, after_needed=9),
            "it is not known whether it is worse than its baseline: latency_mean is 5 % higher than in 3 runs before "
            "(with 95 % confidence at most 12 % higher, margin 10 %): 6 more runs should tell",
        ),
        (
            HostChange("h", "inconclusive", 3, 3, 0.05, 0.12, runs_needed=5),
            "it is not known whether it is worse than its baseline: latency_mean is 5 % higher than in 3 runs before "
            "(with 95 % confidence at most 12 % higher, margin 10 %): this takes 5 runs before and as many after",
        ),
        (
            HostChange("h", "inconclusive", 3, 3, 0.1, 0.12),
            "it is not known whether it is worse than its baseline: latency_mean is 10 % higher than in 3 "
            "runs before (with 95 % confidence at most 12 % higher, margin 10 %): the change is at the "
            "margin, so more runs will not decide it",
        ),
    ],
)
def test_sentences(change, sentence):
    assert against_baseline.reason_of(change, "latency_mean_ns", 0.1) == sentence


def test_a_throughput_that_is_worse_is_lower():
    change = HostChange("h", "worse", 3, 3, 0.25, 0.25, 0.25, (65536, 1, "log", "write"), 0.25)
    assert "bytes_per_s is 20 % lower than in 3 runs before" in against_baseline.reason_of(change, "bytes_per_s", 0.1)
