# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds hosts in the inventory that are the same machine, and compares the hosts' clocks with the controller's."""

from __future__ import annotations

from typing import Any

from .._action_base import ControllerAction
from .._english.findings import in_words
from .._fleet.machines import clock_of_hosts, doubles
from .._run.words import words_of


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts. Hosts that were not probed are ignored.

    Returns a message for each host that is the same machine as another one (``doubles``), the hosts without a tester
    (``waiting``, which includes the doubles), and those whose workspace the start cannot create
    (``without_workspace``).
    """

    stage = "tester"

    argument_spec = {"hosts": {"type": "list", "elements": "str", "required": True}}

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        hostvars = task_vars["hostvars"]
        ready = {name: hostvars[name].get("tester_ready") or {} for name in options["hosts"]}
        facts = {name: known.get("facts") or {} for name, known in ready.items()}
        found, wrong_clock = doubles(facts), clock_of_hosts(facts)
        if wrong_clock:
            self._display.warning(in_words(wrong_clock, words_of("")))
        testers = {name: known["tester"] for name, known in ready.items() if "tester" in known}
        return {
            "doubles": found,
            "waiting": [name for name, tester in testers.items() if name in found or not tester["installed"]],
            "without_workspace": [name for name in testers if not ready[name].get("workspace")],
        }
