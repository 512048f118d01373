# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values from inventories and surveys. ansible-core 2.16 passes strings. Later versions read an empty string as
null, and numbers and booleans as such."""

from __future__ import annotations

import datetime
import re

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.reading import read_option, read_options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import (
    OF_PLAYBOOKS,
    ROLES,
    option_names,
    options,
    role_defaults,
)

PASTED = """
name: ours
version: 2
limits:
  - {metric: latency_mean, max: 2 ms}
waivers:
  - {host: db01, metric: latency_mean, until: 2027-01-31, reason: moves}
"""


@pytest.mark.parametrize("name", option_names())
@pytest.mark.parametrize("empty", ["", " ", "\n", None])
def test_an_empty_answer_means_that_the_option_is_not_given(name, empty):
    assert read_option(name, empty) == role_defaults().get(OF_PLAYBOOKS.get(name, name))


def test_what_a_role_has_by_default_is_read_as_it_is():
    problems = []
    assert read_options(role_defaults(), problems) == {**role_defaults(), "sweep_load_target": 0.0, "sweep_rate": 0.0}
    assert problems == []


@pytest.mark.parametrize(
    "name, answers, value",
    [
        ("sweep_duration", ["2", " 2 ", 2, 2.0, "2.0"], 2),
        ("sweep_rate", ["100.5", 100.5], 100.5),
        ("sweep_nice", ["-5"], -5),
        ("gate_report_only", ["true", "yes", True, " True ", 1], True),
        ("gate_report_only", ["false", "no", False, "0"], False),
        (
            "sweep_block_sizes",
            ["4K,64K", "4K, 64K", "4K 64K", "4K\n64K\n", " 4K ,\n64K", "4 K, 64 K", '["4K", "64K"]', "- 4K\n- 64K"],
            ["4K", "64K"],
        ),
        ("sweep_block_sizes", [["4K", " 64K", ""]], ["4K", "64K"]),
        ("sweep_loads", ["90 %, 100 %", "90%\n100%", ["90%", "100%"]], ["90%", "100%"]),
        ("sweep_loads", ["auto"], ["auto"]),
        ("sweep_queue_managers", ["1", 1, "[1]"], [1]),
        ("sweep_queue_managers", ["1 2", "1,2", ["1", 2]], [1, 2]),
        ("workspace_queue_managers", ["QM1\nQM2", "QM1, QM2", ["QM1", "QM2"]], ["QM1", "QM2"]),
        ("workspace_queue_managers", ["QM1 B", "QM1\r\nB"], ["QM1", "B"]),
        ("gate_fail_on", ["fail, unqualified", "fail\nunqualified", ["fail", "unqualified"]], ["fail", "unqualified"]),
        ("workspace_allow", ["symlink, shared_directory", "symlink shared_directory"], ["symlink", "shared_directory"]),
        (
            "sweep_target",
            ["message_size: 2K\nclients: 60", '{"message_size": "2K", "clients": 60}'],
            {"message_size": "2K", "clients": 60},
        ),
        ("sweep_options", ["alignment: 512", {"alignment": 512}], {"alignment": 512}),
        ("workspace_places", ["asu1: /mnt/1/logdisk"], {"asu1": "/mnt/1/logdisk"}),
        (
            "workspace_volumes",
            ["- {name: a, path: /a}", '[{"name": "a", "path": "/a"}]'],
            [{"name": "a", "path": "/a"}],
        ),
        ("workspace_planned_queue_managers", ["- name: QM3"], [{"name": "QM3"}]),
        ("gate_profile", ["mq-log-gold", " mq-log-gold\n"], "mq-log-gold"),
        (
            "gate_profile",
            [PASTED, yaml.safe_load(PASTED)],
            {**yaml.safe_load(PASTED.replace("2027-01-31", '"2027-01-31"'))},
        ),
        ("sweep_workload", ["built_in: commit"], {"built_in": "commit"}),
        ("gate_array_settings", ["fs9200-3: gold pool, mirrored: yes"], "fs9200-3: gold pool, mirrored: yes"),
        ("gate_array_settings", ["pool: gold\ncache: 64"], {"pool": "gold", "cache": 64}),
        ("workspace_reserve", ["5 %", " 5 %"], "5 %"),
        ("gate_sign_key", [datetime.date(2026, 1, 1)], "2026-01-01"),
        ("certify_hosts", ["db01 db02", "db01\ndb02"], ["db01", "db02"]),
        ("certify_hosts", ["all:!localhost"], "all:!localhost"),
        ("cleanup_uncollected_days", ["0", 0], 0),
    ],
)
def test_the_same_answer_in_another_way_is_the_same(name, answers, value):
    for answer in answers:
        assert read_option(name, answer) == value


@pytest.mark.parametrize(
    "name, answer, said",
    [
        ("sweep_duration", "5m", "sweep_duration: '5m' is not a whole number"),
        ("sweep_duration", "100.5", "sweep_duration: '100.5' is not a whole number"),
        ("sweep_duration", True, "sweep_duration: True is not a whole number"),
        ("sweep_duration", "-5", "sweep_duration: -5 is below 0"),
        ("sweep_rate", "fast", "sweep_rate: 'fast' is not a number"),
        ("sweep_rate", "nan", "sweep_rate: 'nan' is not a number"),
        ("sweep_direct", "perhaps", "sweep_direct: 'perhaps' is neither true nor false"),
        ("sweep_mode", "alone", "sweep_mode: 'alone' is not one of together, isolated"),
        ("sweep_queue_managers", "1 x", "sweep_queue_managers: 'x' is not a whole number"),
        ("workspace_queue_managers", [["QM1"]], "workspace_queue_managers: ['QM1'] is not a text"),
        ("workspace_allow", ["everything"], "workspace_allow: 'everything' is not one of symlink, shared_directory, "),
        (
            "workspace_path",
            "/fut/{{ inventory_hostname }}",
            "workspace_path: '/fut/{{ inventory_hostname }}' contains a template, and a",
        ),
        ("workspace_places", {"asu1": ["/a{% if x %}"]}, "workspace_places: '/a{% if x %}' contains a template"),
        ("workspace_places", "mnt", "workspace_places: 'mnt' is not a dictionary: write it as YAML or JSON"),
        ("workspace_volumes", "name: a", "workspace_volumes: 'name: a' is not a list of dictionaries"),
        (
            "workspace_planned_queue_managers",
            "- path: /a",
            "workspace_planned_queue_managers: missing required arguments: name",
        ),
        ("workspace_reserve", "110%", "workspace_reserve: '110%' is not a share from 0 to below 100 %"),
        ("workspace_reserve", "much", "workspace_reserve: 'much' is not a size"),
        ("gate_profile", "name: x\nname: y", "gate_profile: The text is not valid YAML: the key 'name' is given twice"),
        (
            "gate_fail_on",
            [],
            (
                "gate_fail_on: an empty list would let every run through: leave the option "
                "out, or set gate_report_only: true"
            ),
        ),
        ("gate_fail_on", "[]", "gate_fail_on: an empty list would let every run through"),
        ("cleanup_uncollected_days", "x", "cleanup_uncollected_days: 'x' is not a whole number"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(name, answer, said):
    with pytest.raises(ValueError, match="^" + re.escape(said)):
        read_option(name, answer)


def test_all_that_is_wrong_is_said():
    problems = []
    assert read_options({"sweep_mode": "alone", "sweep_files": "4", "sweep_nice": "very"}, problems) == {
        "sweep_files": 4
    }
    assert [problem.partition(":")[0] for problem in problems] == ["sweep_mode", "sweep_nice"]


FILES = [
    path
    for pattern in ("roles/*/tasks/*.yml", "roles/*/vars/*.yml", "playbooks/**/*.yml")
    for path in ROLES.parent.glob(pattern)
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_no_task_reads_an_option_by_itself(path):
    """Extra variables override everything, so only the lookup can normalize the answers of a survey."""
    of_users = {name for name, option in options().items() if option.written is not None} | set(OF_PLAYBOOKS)
    # Set by certify.yml itself, never by a user.
    of_users -= {"sweep_discovered", "workspace_collected"}
    expressions = re.findall(r"\{\{.*?\}\}|when: [^\n]*", path.read_text(encoding="utf-8"), re.DOTALL)
    words = set(re.findall(r"(?<![\w.])\w+", re.sub(r"'[^']*'", "", " ".join(expressions))))
    assert words & of_users == set()
