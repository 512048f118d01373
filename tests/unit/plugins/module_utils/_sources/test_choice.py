# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import yaml
from ansible_collections.mqops.logdisk.plugins.module_utils._sources import choice
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.sources import SOURCES
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.fabricate import PROJECT

NAMES = [name for name, dummy in choice.SOURCES]


def test_the_controller_reads_what_the_sources_of_a_host_say():
    assert sorted(SOURCES) == sorted(NAMES)


def test_the_role_offers_every_source_in_the_order_in_which_they_are_tried():
    specs = yaml.safe_load((PROJECT / "roles/observe/meta/argument_specs.yml").read_text(encoding="utf-8"))
    option = specs["argument_specs"]["main"]["options"]["observe_source"]
    assert option["choices"] == [choice.AUTO, *NAMES]
    described = " ".join(option["description"])
    assert [name for name in NAMES if f"V({name}) " not in described] == []


def test_no_source_that_needs_privilege_is_asked_while_queue_managers_are_discovered():
    asked = [name for name, dummy in choice.OF_AVERAGES]
    assert "amqsrua" in asked and choice.BPFTRACE not in asked
