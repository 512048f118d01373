#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: observed
short_description: Collect, end or remove observations
description:
  - Returns the samples of an observation that M(mqops.logdisk.observe) started, beginning at O(offset), and renews its
    lease.
  - The action plugin stores the samples in the run directory on the controller and shows the new intervals. When the
    observation has ended, it makes the tables, and writes the record of the host. It calls the module several times
    if there are many samples.
  - It can also end or remove observations. If O(run_id) is empty, it does this for all observations on the host.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run.user
options:
  run_id:
    description: ID of the run. If empty, the module applies to all observations on the host.
    type: str
    default: ""
  state_dir:
    description: Directory on the host for the state of observations.
    type: str
    required: true
  volume:
    description: Name of the volume. The action plugin sets it.
    type: str
    default: log
  ask:
    description:
      - V(poll) returns the samples of the observation of O(volume), and lets it continue. V(finish) does the same, but
        ends the observation.
      - V(end) ends observations. The samples are kept until they are collected or the lease has expired.
      - V(remove) ends observations and removes their state. If O(run_id) is empty, only those whose process has
        disappeared are removed.
    type: str
    choices: [poll, finish, end, remove]
    default: poll
  offset:
    description: Number of bytes of the samples that are already known. The action plugin sets it.
    type: int
    default: 0
  lease:
    description: Number of seconds for which the observation continues without another call.
    type: float
    default: 120
attributes:
  check_mode:
    description: In check mode, the module does not end or remove any observation. It returns what it would end or
      remove.
    support: full
"""

EXAMPLES = r"""
- name: End all observations of the host
  mqops.logdisk.observed:
    state_dir: ~/.mqops-logdisk/observations
    ask: end
"""

RETURN = r"""
state:
  description:
    - The state of the observation, V(running), V(ended), V(dead) or V(absent). V(dead) means that its process
      disappeared.
    - The action plugin returns V(finished) when the record is written, and V(unknown) if the host did not answer.
  returned: if O(ask) is V(poll) or V(finish)
  type: str
samples:
  description:
    - The lines of the samples from O(offset) on, compressed and encoded in base64. If there are more of them, RV(more)
      is true.
    - The action plugin stores them and does not return them.
  returned: if O(ask) is V(poll) or V(finish)
  type: str
more:
  description: Whether there are more samples. The action plugin collects them all and does not return it.
  returned: if O(ask) is V(poll) or V(finish)
  type: bool
stopped:
  description: IDs of the runs whose observation was ended, or would be ended in check mode.
  returned: if O(ask=end)
  type: list
  elements: str
removed:
  description: Directories that were removed, or would be removed in check mode.
  returned: if O(ask=remove)
  type: list
  elements: str
volumes:
  description: State and progress of the volume by its name. The action plugin adds it.
  returned: if O(ask) is V(poll) or V(finish)
  type: dict
collected:
  description: Names of the volumes whose record was written. The action plugin adds it.
  returned: if the observation has ended
  type: list
  elements: str
"""

import base64
import zlib

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _observer, _runs, _user


def chosen(p):
    """Return the observations that are to be ended or removed."""
    return [each for each in _observer.observations_below(p["state_dir"]) if p["run_id"] in ("", each.run_id)]


def end(observations, check):
    """End the observations that are running, and return the IDs of their runs."""
    running = [each for each in observations if each.state() == _observer.RUNNING]
    if not check:
        _observer.terminate(running, lambda each: each.state() != _observer.RUNNING)
    return sorted({each.run_id for each in running})


def remove(p, observations, check):
    """Remove the state of observations, and return the directories."""
    removable = [each for each in observations if each.exists() and (p["run_id"] or not each.is_alive())]
    for observation in removable:
        if not check:
            observation.remove()
    return [each.path for each in removable]


def polled(p, observation):
    """Renew the lease of an observation, and return its state and new samples."""
    if observation.exists():
        observation.renew_lease(p["lease"])
    # The state is read first. If the observation has ended, its output is complete when it is read afterwards.
    state = observation.state()
    lines = observation.read_samples(p["offset"]) if state != _observer.ABSENT else b""
    more = bool(lines) and bool(observation.read_samples(p["offset"] + len(lines)))
    return dict(state=state, more=more, samples=base64.b64encode(zlib.compress(lines)).decode("ascii"))


def answer(p, check):
    if p["ask"] == "remove":
        removed = remove(p, chosen(p), check)
        return dict(changed=bool(removed), removed=removed)
    if p["ask"] == "end":
        stopped = end(chosen(p), check)
        return dict(changed=bool(stopped), stopped=stopped)
    observation = _observer.Observation(p["state_dir"], p["run_id"], p["volume"])
    stopped = end([observation], check) if p["ask"] == "finish" else []
    return dict(changed=bool(stopped), **polled(p, observation))


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", default=""),
            state_dir=dict(type="str", required=True),
            volume=dict(type="str", default="log"),
            ask=dict(type="str", choices=["poll", "finish", "end", "remove"], default="poll"),
            offset=dict(type="int", default=0),
            lease=dict(type="float", default=120),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module, "observe_become")
    try:
        found = answer(p, module.check_mode)
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(**found)


if __name__ == "__main__":
    main()
