# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reasons to refuse an observation before its run is opened."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import SettingsError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.watching import (
    check_endpoint,
    check_observation,
    observed_of,
    split,
)

DEFAULTS = {"source": "auto", "calls": [], "command": "", "duration": 60.0, "interval": 10.0, "volume": "log", "pid": 0}
DEFAULTS.update({"queue_manager": "", "log_path": "", "url": "http://localhost:9157/metrics", "queue_managers": []})


def check(changes):
    check_observation({f"observe_{name}": value for name, value in {**DEFAULTS, **changes}.items()})


@pytest.mark.parametrize(
    "changes",
    [{}, {"calls": ["MQPUT", "MQCMIT"]}, {"command": "/opt/app", "source": "bpftrace"}, {"volume": "q1.log_2-a"}],
)
def test_options_that_fit_together(changes):
    check(changes)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"calls": ["MQPUT"], "source": "amqsrua"}, "but observe_source is amqsrua: set it to auto or bpftrace"),
        ({"calls": ["MQPUT", "open"]}, "observe_calls: 'open' is not the name of a call"),
        ({"calls": ['MQPUT"; system("x")']}, "is not the name of a call"),
        ({"interval": 0.5}, "observe_interval is 0.5, but must be at least 1 second"),
        ({"duration": 5.0}, "observe_duration (5 s) is shorter than observe_interval (10 s): increase"),
        ({"duration": 1e99}, "observe_duration is 1e+99 s, but must be at most 604800 s"),
        ({"duration": float("nan")}, "observe_duration is nan s, but must be at most"),
        ({"volume": "../x"}, "the volume '../x' must be a name"),
        ({"queue_managers": [{"volume": "log"}]}, "observe_queue_managers: give each one a queue_manager"),
        (
            {"queue_managers": [{"queue_manager": "QM1", "port": 9158}]},
            "and volume, log_path and url if needed, not port",
        ),
        (
            {"queue_managers": [{"queue_manager": "QM1"}, {"queue_manager": "QM1", "volume": "b"}]},
            "has the same queue_manager twice",
        ),
        (
            {"queue_managers": [{"queue_manager": "QM1", "volume": "b"}, {"queue_manager": "QM2", "volume": "b"}]},
            "has the same volume twice",
        ),
        ({"queue_managers": [{"queue_manager": "QM/1"}]}, "set observe_volume, or volume in the list"),
        ({"queue_managers": [{"queue_manager": "QM1"}], "calls": ["MQPUT"]}, "observe_calls is for one queue manager"),
        (
            {"queue_managers": [{"queue_manager": "QM1", "url": "http://u:p@h/"}]},
            "must not contain a user, a password or a query",
        ),
    ],
)
def test_options_that_do_not_fit_together_are_refused(changes, problem):
    with pytest.raises(SettingsError) as refused:
        check(changes)
    assert problem in str(refused.value)


def test_several_queue_managers_have_a_volume_each():
    given = {f"observe_{name}": value for name, value in DEFAULTS.items()}
    assert observed_of(given) == [{"queue_manager": "", "volume": "log", "log_path": "", "url": DEFAULTS["url"]}]
    several = [
        {"queue_manager": "QM1"},
        {"queue_manager": "QM2", "volume": "log2", "log_path": "/l2", "url": "http://localhost:9158/metrics"},
    ]
    assert observed_of({**given, "observe_queue_managers": several}) == [
        {"queue_manager": "QM1", "volume": "QM1", "log_path": "", "url": DEFAULTS["url"]},
        several[1],
    ]


def test_a_command_is_read_as_by_a_shell():
    assert split("/opt/app -x 'two words'") == ["/opt/app", "-x", "two words"] and split("") == []
    with pytest.raises(SettingsError, match=r"^observe_command: No closing quotation: write it as for a shell"):
        split("/opt/app 'x")


@pytest.mark.parametrize(
    "url", ["http://u:sesame@h/metrics", "http://h/metrics?token=sesame", "http://sesame@h", "http://h/metrics#sesame"]
)
def test_an_endpoint_that_may_contain_a_secret_is_refused_and_not_shown(url):
    check_endpoint("http://localhost:9157/metrics")
    with pytest.raises(SettingsError, match="observe_url must not contain a user, a password or a query") as refused:
        check_endpoint(url)
    assert "sesame" not in str(refused.value)
