# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports about live queue managers: certified and observed figures side by side, how busy the logger is, and the
limits of the source."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.observation.overview import finding_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.observation import figures_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import with_seal
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report import runs
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import needs_a_browser
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import HOSTILE, empty_columns


@pytest.fixture
def observation(rendered):
    return rendered("observation")


def test_the_summary_says_what_each_log_gets_the_slowest_against_its_certificate_first(observation):
    text = runs.content(observation, "summary.txt")
    assert text.startswith(
        "FAIL: db01 is 12 times slower than certified, and 1 more is slower. Live queue managers on 4 hosts: 1 fail, "
        "1 missing, 2 observed without a verdict. An observation certifies nothing."
    )
    live = [line.split("live     ")[1] for line in text.splitlines() if line.startswith("  live")]
    assert [line.partition(":")[0] for line in live] == ["db01", "db01", "db02", "db02", "db03", "db03"]
    assert (
        live[0]
        == "db01: queue manager QM1, log writes of 35.2 KiB take 2.69 ms on average, logger busy 26.9 % of the time"
    )
    assert live[1] == "db01: 12 times slower than certified: the volume changed or is shared."
    assert live[5].startswith("db03: The history contains no certificate of this volume")


def test_the_summary_says_what_is_to_be_said_against_a_comparison(tmp_path):
    directory = runs.observation(tmp_path)
    directory.records.add_kind_data(
        "db01",
        "log",
        {
            "certificate": {
                "outcome": "slower",
                "text": "Slower.",
                "caveats": ["It is compared with a test that failed."],
            }
        },
    )
    judge_run(directory, GATE)
    render(directory)
    assert "  live     db01: Slower. It is compared with a test that failed.\n" in runs.content(
        directory, "summary.txt"
    )


LOG, CALLS = (
    {"stream": "log", "worker": "all", "block_size_bytes": 8192},
    {"stream": "MQPUT", "worker": "all", "operations": 900},
)


@pytest.mark.parametrize(
    ("rows", "watched", "text"),
    [
        ([], "log", "its log writes are not known"),
        ([CALLS], "log", "its log writes are not known"),
        ([{**LOG, "operations": 0}, CALLS], "log", "no log write was observed"),
        ([CALLS], "MQPUT", "only calls were observed, not its log"),
        ([{**LOG, "operations": 900}], "log", "the duration of its log writes is not known"),
        ([{**LOG, "operations": 900, "latency_mean_ns": 690_000}], "log", "log writes of 8 KiB take 690 us on average"),
    ],
)
def test_what_was_not_watched_is_not_called_idle(rows, watched, text):
    host = SimpleNamespace(
        own={"queue_manager": "QM1", "intervals": [{"stream": watched}]},
        rows=rows,
        results=lambda: ((None, row) for row in rows),
    )
    assert figures_text(host) == f"queue manager QM1, {text}"


def test_the_page_has_certified_and_observed_side_by_side(observation):
    text = runs.page_text(observation)
    assert "Mean of writes of 35.2 KiB, 1 queue manager 218 us 2.69 ms 12.3" in text
    assert "Slowest write since the queue manager started \u2013 812 ms, 2026-11-18 11:06:40 UTC" in text
    assert "The logger was writing 26.9 % of the time, in the busiest interval 26.9 %." in text
    assert "2026-11-21 10:46:42 UTC log 900 us 5 ms" in text
    assert "Watching added about 900 ns to each write" in text
    assert "MQPUT 6,000 2.69 ms 900 us 5 ms" in text


@pytest.mark.parametrize(
    ("names", "figures", "text"),
    [
        ("a", [("slower", 12.3)], "12 times slower than certified"),
        ("a", [("alike", 1.1)], "as certified"),
        ("a", [("faster", 0.5)], "2 times faster than certified"),
        ("a", [("unknown", 3)], ""),
        ("a", [(None, None)], ""),
        ("ab", [("slower", 2), ("alike", 1)], "a is 2 times slower than certified"),
        (
            "abc",
            [("slower", 2), ("slower", 3), ("slower", 2.5)],
            "b is 3 times slower than certified, and 2 more are slower",
        ),
        ("ab", [("alike", 1), ("unknown", 3)], "1 of 2 hosts as certified"),
    ],
)
def test_the_finding_is_about_the_slowest(names, figures, text):
    hosts = [
        SimpleNamespace(label=name, own={"certificate": {"outcome": outcome, "ratio": ratio}})
        for name, (outcome, ratio) in zip(names, figures, strict=True)
    ]
    model = SimpleNamespace(hosts=hosts, hosts_with_own=hosts, size=f"{len(hosts)} hosts")
    assert finding_text(model) == text


@needs_a_browser
@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 800)])
def test_the_headline_is_large_and_on_the_first_screen(browser, observation, width, height):
    browser.open(f"{observation.path}/index.html", width=width, height=height)
    assert browser.run("document.querySelector('.finding').getBoundingClientRect().bottom") < height / 2
    assert browser.run("parseFloat(getComputedStyle(document.querySelector('.finding')).fontSize)") >= 20


def test_the_page_shows_the_limits_that_judged_and_which_were_broken(observation):
    text = runs.page_text(observation)
    assert "\u2717 OBS-001 latency_mean <= 2 ms: 2.69 ms \u2713 4 kept" in text
    assert "OBS-001 latency_mean <= 2 ms every row fail" in text
    assert "LOG-201" not in text  # its profile does not judge observations
    assert "36,000 B" not in text + runs.content(observation, "summary.txt")


def test_a_profile_that_judges_no_observation_has_no_criteria_there(tmp_path):
    directory = runs.observation(tmp_path, own_profile=False, profile="mq-log-silver")
    render(directory)
    assert "No limit judged this run: the profile does not judge observations." in runs.page_text(directory)


def test_certified_and_observed_are_one_picture_without_empty_columns(observation):
    text = runs.content(observation, "index.html")
    assert "certified mean 218 us, observed mean 2.69 ms, slowest 5 ms, limit on the mean 2 ms" in text
    assert empty_columns(f"{observation.path}/index.html") == []


def test_the_page_says_what_the_source_cannot_say(observation):
    text = runs.page_text(observation)
    assert "These are rolling averages: there are no percentiles, the number of writes is an estimate" in text
    assert "\u2248 814" in text


def test_a_utilisation_of_more_than_all_the_time_is_called_an_artefact(tmp_path):
    directory = runs.observation(tmp_path, latency_ns=30_000_000)
    render(directory)
    assert "A share above 100 % is not possible" in runs.page_text(directory)


def test_nothing_about_certifying_is_said_of_an_observation(observation):
    for name in ("index.html", "report.md", "summary.txt"):
        assert "not certify" not in runs.content(observation, name)
    assert 'class="reproduction"' not in runs.content(observation, "index.html")


def test_monitoring_has_the_ratio_and_the_utilisation(observation):
    text = runs.content(observation, "logdisk.prom")
    assert re.search(
        r'logdisk_run_observed_to_certified_latency_ratio{host="db01",volume="log",queue_manager="QM1"} 12\.3', text
    )
    assert re.search(r'logdisk_run_logger_utilisation_ratio{host="db02",volume="log",queue_manager="QM1"} 0\.05', text)
    assert 'logdisk_run_verdict{host="db02",volume="log",verdict="observed"} 1' in text


def test_a_hostile_name_of_a_queue_manager_is_only_text(tmp_path):
    directory = runs.observation(tmp_path, queue_manager=HOSTILE[0])
    render(directory)
    assert "<script>alert(1)</script>" not in runs.content(directory, "index.html")


def with_observation(directory, change):
    """Change the observation in the record of db01, with the right SHA-256, and render the report again."""
    (folder,) = [folder for folder in directory.records.folders() if "db01" in folder]
    path = f"{directory.path}/{folder}/record.json"
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    del record["sha256"]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(with_seal({**record, "observation": change(record["observation"])}), file)
    render(directory)


def changed(directory, **observation):
    with_observation(directory, lambda before: {**before, **observation})


def test_the_summary_says_that_an_observation_ended_early(tmp_path):
    directory = runs.observation(tmp_path)
    changed(directory, ending="process 7 ended")
    assert "logger busy 26.9 % of the time, ended before its time after 60 s\n" in runs.content(
        directory, "summary.txt"
    )


MISSHAPEN = {"intervals": [7, {"stream": "log"}], "utilisation": "x", "facts": [1], "maxima": {}}
CERTIFICATE = {"certificate": {"caveats": 3, "others": 4, "ratio": "x"}}


@pytest.mark.parametrize(
    ("broken", "unusable"),
    [
        (None, ""),
        ("x", ""),
        (7, ""),
        ([], ""),
        ({"certificate": 3}, ".certificate"),
        (CERTIFICATE, ".certificate.caveats"),
        (MISSHAPEN, ".intervals[0]"),
    ],
)
def test_a_record_with_a_misshapen_observation_is_an_error(tmp_path, broken, unusable):
    directory = runs.observation(tmp_path)
    with_observation(directory, lambda before: broken)
    assert (f"record.json has no usable observation{unusable}" in runs.page_text(directory)) == (broken is not None)


def test_live_logs_share_one_column_and_have_advice_of_their_own(tmp_path):
    """Each log has its own mean write size."""
    directory = runs.observation(tmp_path, own_profile=False)
    render(directory)
    report = json.loads(runs.content(directory, "report.json"))
    advice = {cause["statement"].partition(" ")[0]: cause["next_step"] for cause in report["causes"]}
    assert advice["gone:"] == "Look in Ansible's output for the last task of the host, and observe it again."
    assert advice["latency_p99"] == "Observe longer, or with observe_source: bpftrace, which sees each write."
    (table,) = re.findall(r"^\| host \|.*$", runs.content(directory, "report.md"), re.MULTILINE)
    assert table == "| host | verdict | certified | Log writes |"
    assert "Classes of similar volumes" not in runs.page_text(directory)
    assert "own sizes" not in runs.content(directory, "summary.txt") + runs.page_text(directory)


def test_an_observation_that_ended_early_decides_nothing(tmp_path):
    directory = runs.observation(tmp_path, ending="the queue manager ended", own_profile=False)
    render(directory)
    text = runs.content(directory, "summary.txt")
    assert "the observation ended early: the queue manager ended" in text
