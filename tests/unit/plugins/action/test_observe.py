# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an observation is refused for before its host is contacted."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.action import observe


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, ""),
        ({"calls": ["MQPUT", "MQCMIT"]}, ""),
        ({"command": ["/opt/app"], "source": "bpftrace"}, ""),
        ({"calls": ["MQPUT"], "source": "amqsrua"}, "but observe_source is amqsrua: set it to auto or bpftrace"),
        ({"command": ["/opt/app"], "source": "prometheus"}, "but observe_source is prometheus"),
        ({"calls": ["MQPUT", "open"]}, "observe_calls: 'open' is not the name of a call"),
        ({"calls": ['MQPUT"; system("x")']}, "is not the name of a call"),
        ({"interval_s": 0.5}, "observe_interval is 0.5, but must be at least 1 second"),
        ({"duration_s": 5.0}, "observe_duration (5 s) is shorter than observe_interval (10 s)"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(changes, problem):
    options = {"source": "auto", "calls": [], "command": [], "duration_s": 60.0, "interval_s": 10.0, **changes}
    found = observe.why_refused(**options)
    assert problem in found and bool(problem) == bool(found)


def test_a_command_is_read_as_by_a_shell():
    assert observe.split("/opt/app -x 'two words'") == ["/opt/app", "-x", "two words"] and observe.split("") == []
    with pytest.raises(AnsibleActionFail, match=r"^observe_command: No closing quotation: write it as for a shell"):
        observe.split("/opt/app 'x")
