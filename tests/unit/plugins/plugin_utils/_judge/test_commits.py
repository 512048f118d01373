# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Limits on commits: to which rows they apply, and how figures are compared without statistics. A run of commits never
passes with a profile for writes."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables

from tests.unit.plugins.plugin_utils import fabricate

P99 = {"stream": "commit", "metric": "latency_p99", "max": "5 ms"}


def profile(*limits):
    return load_profile({"name": "commits", "limits": list(limits)})


def commits(commit_ns=400_000, queue_managers=1, applications=(1, 60), **tables):
    """Return the tables of applications that commit messages of 2 KiB."""
    measured = {(2048, count): (2500, 8192, 200_000, commit_ns) for count in applications}
    rows = fabricate.commit_rows(measured, queue_managers)
    return fabricate.tables(rows, **{**fabricate.COMMIT_RUN, **tables})


def judge(files, *limits, **record):
    return judge_record(HostRecord("db07", **record), parse_tables(files), profile(*limits), fabricate.TODAY)


def judged_rows(part, metric="latency_p99"):
    return [(row["stream"], row["load_point"], row["verdict"]) for row in part["judgements"] if row["metric"] == metric]


def test_a_limit_names_its_stream():
    part = judge(commits(over=[]), P99)
    assert part["verdict"] == "pass"
    assert judged_rows(part) == [("commit", 1, "pass"), ("commit", 60, "pass")]
    # Without a stream, a limit on latency_max judges the writes, like the hard limits.
    assert judged_rows(part, "latency_max") == [("log", 1, "pass"), ("log", 60, "pass")]
    assert judged_rows(judge(commits(over=[]), {**P99, "stream": "log"})) == [("log", 1, "pass"), ("log", 60, "pass")]


def test_a_limit_at_a_number_of_applications():
    part = judge(commits(4_000_000), {**P99, "load_point": 60, "message_size": "2K"})
    assert part["verdict"] == "fail"
    assert part["reasons"] == ["latency_p99 8 ms > 5 ms at 2 KiB, 60 applications of queue manager 1 (150,000 commits)"]
    assert judged_rows(part) == [("commit", 60, "fail")]
    assert judge(commits(4_000_000), {**P99, "message_size": "4K"})["verdict"] == "inconclusive"


def test_commits_are_judged_as_they_stand_and_say_so():
    (judgement,) = [
        row
        for row in judge(commits(over=[]), {**P99, "load_point": 60})["judgements"]
        if row["metric"] == "latency_p99"
    ]
    assert judgement["method"] == "as it stands" and "confidence" not in judgement
    assert judgement["reason"].endswith(
        ", as it stands: many commits end with the same write, so there is no confidence bound for them"
    )


def test_several_queue_managers_are_named():
    files = commits(9_000_000, queue_managers=2)
    reasons = [row["reason"] for row in judge(files, P99, workspace={"queue_managers": ["QMA", "QMB"]})["judgements"]]
    assert [reason for reason in reasons if "60 applications of queue manager QMB" in reason]
    assert [reason for reason in reasons if "60 applications of each queue manager" in reason]


def test_a_profile_for_writes_does_not_pass_commits():
    """The profile's limits are for block sizes, but the steps have message sizes."""
    shipped = load_profile("mq-log-silver", fabricate.PROFILES)
    part = judge_record(HostRecord("db07"), parse_tables(commits(over=[])), shipped, fabricate.TODAY)
    assert (part["verdict"], part["certified"]) == ("inconclusive", False)
    assert "no row to which it applies was measured (block size <= 64 KiB)" in " ".join(part["reasons"])
    passed = judge(commits(over=[]), P99)
    assert (passed["verdict"], passed["certified"], passed["qualification"]) == (
        "pass",
        False,
        "its workload was commit instead of mq-log",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"block_size": "4K"}, "use message_size"),
        ({"stream": "log", "block_size": "4K", "message_size": "2K"}, "use message_size"),
        ({"metric": "response_p99"}, "which commits do not have"),
    ],
)
def test_a_wrong_limit(change, message):
    with pytest.raises(DefinitionError, match=message):
        profile({**P99, **change})


def test_a_limit_on_commits_is_read_back():
    limit = {**P99, "message_size": {"min": "1K", "max": "4K"}, "load_point": 60}
    assert load_profile(profile(limit).as_dict()) == profile(limit)
    assert profile(limit).limits[0].rows_text == "stream commit, message size 1 KiB to 4 KiB, load point 60"
    assert profile(limit).thresholds_ns == []
