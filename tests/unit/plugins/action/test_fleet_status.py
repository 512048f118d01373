# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands that only need the history: what they write, and which hosts they fail."""

from __future__ import annotations

import json
import re
import types

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import comparison, drift
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import status as fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.status import asked_profiles
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.history import test_drift

OWN = {"name": "own", "limits": [{"metric": "latency_p99", "max": "2 ms"}]}


def asked(**profiles):
    return asked_profiles(
        {
            "hostvars": {
                host: {} if profile is None else {"gate_profile": profile} for host, profile in profiles.items()
            }
        },
        profiles,
    )


def test_a_profile_is_asked_for_by_name_path_or_content_and_only_if_it_is_set(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text(yaml.safe_dump({**OWN, "name": "mine"}))
    assert asked(a="mq-log-gold", b=OWN, c=str(path), d=None, e="", f="mq-log-gold") == {
        "a": "mq-log-gold",
        "b": "own",
        "c": "mine",
        "f": "mq-log-gold",
    }


def test_a_profile_that_cannot_be_read_is_an_error():
    with pytest.raises(DefinitionError, match="goldd"):
        asked(a="goldd")


HOSTS = ["h1", "h2"]
MORE = {
    fleet_status: {"expiring_days": 14, "valid_days": 90, "today": None},
    comparison: {"before": ["2026-10-01"], "after": ["2026-10-02"], "figure": "latency_mean", "margin": "10 %"},
    drift: {"figure": "latency_mean", "margin": "10 %"},
}


def answer(module, tmp_path, play_hosts=(*HOSTS, "localhost"), limit=None, **options):
    """Request the status of the fleet in a project that was just cloned, so there is no directory for reports. The
    history is elsewhere."""
    plugin = module.Step.__new__(module.Step)
    plugin._loader = DataLoader()
    plugin._display = types.SimpleNamespace(display=lambda text, color: None)
    plugin._task = types.SimpleNamespace(check_mode=False)
    common = {
        "hosts": "all:!localhost",
        "play_hosts": list(play_hosts),
        "history": str(tmp_path / "history.sqlite"),
        "report_dir": str(tmp_path / "reports"),
    }
    task_vars = {
        "groups": {"all": HOSTS, "ungrouped": HOSTS},
        "hostvars": {host: {} for host in HOSTS},
        "ansible_limit": limit,
        "awx_job_id": 7,
    }
    return plugin.answer({**common, **MORE[module], **options}, task_vars)


@pytest.fixture
def history(tmp_path):
    with open_history(str(tmp_path / "history.sqlite"), create=True):
        pass
    return tmp_path


def test_the_directory_of_reports_is_made(history):
    answer(fleet_status, history)
    assert {path.name for path in (history / "reports").iterdir()} == {"status.json", "status.prom", "status.html"}


def test_pages_link_to_the_pages_that_exist(history, monkeypatch):
    volume = test_drift.volume("h1", "steady", series=[test_drift.series([test_drift.row([1e5] * 6)])])
    monkeypatch.setattr(drift, "fleet_drift", lambda *_, **__: test_drift.drift(volume))

    def linked(module, name):
        answer(module, history)
        content = (history / "reports" / name).read_text()
        assert "ansible-core 2." in content and "mqops.logdisk " in content
        return {address for address in ("status.html", "drift.html") if f'href="{address}"' in content}

    assert linked(drift, "drift.html") == set()
    assert linked(fleet_status, "status.html") == {"drift.html"}
    assert linked(drift, "drift.html") == {"status.html"}


def test_the_status_shows_observations_and_the_headroom_of_certificates(history):
    certificate = made_up.certificate(host="h1")
    with open_history(str(history / "history.sqlite")) as opened:
        opened.store([certificate])
        opened.store([], [made_up.observation("2026-12-01", host=host, disk_id=None) for host in HOSTS])
    answer(fleet_status, history, today="2026-12-02")
    status = json.loads((history / "reports" / "status.json").read_text())
    (volume,) = status["volumes"]
    assert volume["closest_limit"] == certificate.content["closest_limit"]
    assert [(each["host"], each["age_days"]) for each in status["observations"]] == [("h1", 1), ("h2", 1)]
    assert "12 times slower" in (history / "reports" / "status.html").read_text()


def test_each_host_fails_by_its_own_state(history):
    told = answer(fleet_status, history)
    assert (
        told["failures"] == {host: f"{host}: never measured: the history does not contain it" for host in HOSTS}
        and "failed" not in told
    )
    (artifact,) = told["artifacts"].items()
    assert (
        artifact[0] == "logdisk_status_7"
        and artifact[1]["hosts"] == dict.fromkeys(HOSTS, "unmeasured")
        and artifact[1]["states"] == {"unmeasured": 2}
    )
    assert answer(fleet_status, history, ["h2"], limit="h2")["failures"].keys() == {"h2"}


@pytest.mark.parametrize("module", MORE)
@pytest.mark.parametrize(
    ("play_hosts", "limit", "failing"), [((*HOSTS, "localhost"), None, {"localhost"}), (HOSTS, "h1,h2", set(HOSTS))]
)
def test_what_concerns_the_fleet_fails_the_controller_or_all(tmp_path, module, play_hosts, limit, failing):
    told = answer(module, tmp_path, play_hosts, limit)
    assert told["failures"].keys() == failing and all(
        "history.sqlite does not exist" in message for message in told["failures"].values()
    )
    ((name, artifact),) = told["artifacts"].items()
    assert name == f"logdisk_{module.Step.kind}_7" and (artifact["outcome"], artifact["message"]) == (
        "internal",
        told["failures"][min(failing)],
    )


def test_hosts_that_became_worse_fail_and_otherwise_the_fleet():
    def compared(outcome, **hosts):
        volumes = [{"host": label, "outcome": own, "change": 0.125, "reason": ""} for label, own in hosts.items()]
        return {"outcome": outcome, "figure": "latency_mean", "hosts": volumes}

    known = {"h1": "h1", "h2": "h2", "h2/data": "h2"}
    worse = compared("worse", **{"h1": "inconclusive", "h2": "worse", "h2/data at /data": "worse"})
    assert comparison.own_failures(worse, known) == {
        "h2": "h2: worse: latency_mean 12.5 % | h2/data at /data: worse: latency_mean 12.5 %"
    }
    assert comparison.own_failures(compared("inconclusive", h1="inconclusive", h2="non-inferior"), known).keys() == {
        "h1"
    }
    assert comparison.own_failures(compared("worse", h1="non-inferior"), known) == {}


def test_a_host_that_is_not_in_the_play_fails_the_fleet():
    plugin = fleet_status.Step.__new__(fleet_status.Step)
    told = plugin.result({"message": "x"}, {"h1": "slow", "gone": "worse"}, [], ["h1", "localhost"], {})
    assert {host: told["failures"][host] for host in ("h1", "localhost")} == {"h1": "slow", "localhost": "worse"}


def test_the_status_names_the_classes_that_the_newest_drift_found(history, monkeypatch):
    decline = {"class": "PM1743", "figure": "latency_mean_ns", "volumes": 20, "change": 0.14, "since": "2026-01-04"}
    found = {**test_drift.drift(test_drift.volume("h1", "steady")), "declines": [{**decline, "per_month": 0.044}]}
    monkeypatch.setattr(drift, "fleet_drift", lambda *_, **__: found)
    told = answer(drift, history)
    sentence = "PM1743 became slower together: latency_mean +14 % since 2026-01-04 (20 volumes, +4.4 % per month)"
    assert told["drifting_classes"] == ["PM1743"]
    assert f"the volumes of {sentence}" in str(told["failures"])
    assert sentence in (history / "reports" / "drift.html").read_text()
    answer(fleet_status, history)
    (named,) = json.loads((history / "reports" / "status.json").read_text())["declines"]
    assert (named["text"], named["per_month"]) == (f"{sentence}; found by drift on 2026-02-01", 0.044)
    assert sentence in (history / "reports" / "status.html").read_text()
    # A drift of some hosts, or by another figure, says nothing about the class.
    monkeypatch.setattr(drift, "fleet_drift", lambda *_, **__: {**found, "declines": []})
    for options in ({"limit": "h1"}, {"figure": "latency_p99"}):
        answer(drift, history, **options)
        assert json.loads((history / "reports" / "declines.json").read_text())["declines"] != []
    answer(drift, history)
    assert json.loads((history / "reports" / "declines.json").read_text())["declines"] == []
    content = {"declines": [named], "history": "/elsewhere/history.sqlite"}
    (history / "reports" / "declines.json").write_text(json.dumps(content))
    answer(fleet_status, history)
    assert json.loads((history / "reports" / "status.json").read_text())["declines"] == []


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ('{"history": ""}', "declines"),
        ('{"history": "", "declines": 5}', "declines"),
        ('{"declines": []}', "history"),
        ('{"history": "", "declines": [{}]}', r"declines\[0\].text"),
        ('{"history": "", "declines": [{"text": "\\u001b[2J"}]}', r"declines\[0\].text"),
    ],
)
def test_declines_that_another_program_wrote_are_refused_by_name(history, content, part):
    (history / "reports").mkdir()
    (history / "reports" / "declines.json").write_text(content)
    told = answer(fleet_status, history)
    assert re.search(rf"declines.json has no usable {part}: run drift.yml again", str(told["failures"]))
