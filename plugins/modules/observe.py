#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: observe
short_description: Start observing a live queue manager in the background
description:
  - Finds the queue manager and its recovery log, chooses the source of the figures, and checks it. A problem with the
    source fails the task at once.
  - Starts a process in its own session that writes the output of the source to a file in O(state_dir).
    M(mqops.logdisk.observed) collects it.
  - If M(mqops.logdisk.observed) is not called for O(lease) seconds, the process stops the program that it uses to
    observe, removes its state, and ends.
  - Nothing on the host is changed. The queue manager is only observed.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run
  - mqops.logdisk.run.user
options:
  state_dir:
    description: Directory on the host for the state of observations.
    type: str
    required: true
  volume:
    description: Name of the volume that the recovery log is on, for the record.
    type: str
    default: log
  source:
    description:
      - The source of the figures. The option C(observe_source) of the role P(mqops.logdisk.observe#role) describes
        the sources.
      - V(auto) chooses the first source that can be used. Sources that need less privilege are tried first.
      - With O(calls) or O(command), it chooses V(bpftrace).
    type: str
    default: auto
  duration:
    description: Number of seconds after which the observation ends.
    type: float
    required: true
  interval:
    description: Number of seconds between two samples. MQ publishes its figures every ten seconds.
    type: float
    default: 10
  lease:
    description: Number of seconds after which an observation ends and removes its state if
      M(mqops.logdisk.observed) has not been called.
    type: float
    default: 120
  queue_manager:
    description: Name of the queue manager. If empty, the only running queue manager is used or, if none is running, the
      only queue manager of the host.
    type: str
    default: ""
  log_path:
    description: Directory of the recovery log. If empty, the directory in C(qm.ini) is used.
    type: str
    default: ""
  url:
    description: Address of the metrics of the queue manager, for the source V(prometheus).
    type: str
    default: http://localhost:9157/metrics
  amqsrua:
    description: Path of the program C(amqsrua). If empty, the module looks for it in the installations of MQ.
    type: str
    default: ""
  calls:
    description: Calls from applications to MQ that are to be observed in addition to the writes to the log, for example
      V(MQPUT).
    type: list
    elements: str
    default: []
  library:
    description: Path of the MQI library whose calls are observed. If empty, the library that the process has loaded is
      used.
    type: str
    default: ""
  pid:
    description: The process whose calls are observed. V(0) means all.
    type: int
    default: 0
  command:
    description: A program with its arguments. It is started and observed. The observation ends when the program ends.
    type: list
    elements: str
    default: []
  mqs_ini:
    description: Path of the file that lists the queue managers.
    type: path
    default: /var/mqm/mqs.ini
attributes:
  check_mode:
    description: In check mode, the module checks the source without starting the observation.
    support: full
"""

EXAMPLES = r"""
- name: Observe the queue manager for ten minutes
  mqops.logdisk.observe:
    state_dir: ~/.mqops-logdisk/observations
    run_id: 20261121T104935Z-1f0c2a
    duration: 600
"""

RETURN = r"""
source:
  description: The source that was chosen.
  returned: success
  type: str
  sample: prometheus
facts:
  description:
    - Facts about the host, the queue manager, its recovery log and the file system that holds it, and the results of
      checking the source.
    - The action plugin adds the offset of the clock.
  returned: success
  type: dict
  sample: {queue_manager: QM1, log_path: /var/mqm/log/QM1, filesystem_type: xfs, source: prometheus, user: ansible}
host:
  description: Name of the host in the inventory.
  returned: success
  type: str
run_id:
  description: ID of the run.
  returned: success
  type: str
state:
  description: V(running), as in the result of M(mqops.logdisk.observed).
  returned: success
  type: str
volumes:
  description: State and progress of the volume by its name.
  returned: success
  type: dict
  sample: {log: {state: running, progress: {}}}
times:
  description: When the observation began, when it is expected to end, and when the controller stops waiting for it, by
    the clock of the controller.
  returned: success
  type: dict
time_epoch_s:
  description: The time on the host when the module ended.
  returned: success
  type: float
"""

import time

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import (
    _machine,
    _observer,
    _queue_manager_info,
    _queue_managers,
    _runs,
    _time_limit,
    _user,
    _volume_identity,
)
from ..module_utils._sources import choice
from ..module_utils._sources import SourceError

VOLUME_LIMIT_S = 10
OF_SOURCES = (
    "queue_manager",
    "log_path",
    "url",
    "amqsrua",
    "calls",
    "library",
    "pid",
    "command",
    "interval",
    "duration",
)
"""The options that are passed to a source."""


def queue_manager_of(p, found):
    """Return what was discovered about the queue manager to observe. If nothing was discovered, return only its
    ``name``, which may be empty. Raises SourceError."""
    managers = dict((each["name"], each) for each in found["queue_managers"])
    if p["queue_manager"]:
        return managers.get(p["queue_manager"], dict(name=p["queue_manager"]))
    running = [name for name in _queue_managers.running_queue_managers() if name != "?"]
    names = running or sorted(managers)
    if len(names) > 1:
        state = "running on" if running else "defined on"
        todo = "set observe_queue_manager to one of them, or observe_queue_managers"
        raise SourceError("several queue managers are %s this host (%s): %s" % (state, ", ".join(names), todo))
    return managers.get(names[0], dict(name=names[0])) if names else dict(name="")


def log_of(p, manager, problems):
    """Return the path of the recovery log and an empty text, or an empty text and the reason why the path is not
    known."""
    if p["log_path"] or manager.get("log_path"):
        return p["log_path"] or manager["log_path"], ""
    reasons = [manager["problem"]] if manager.get("problem") else problems
    if not reasons and manager["name"]:
        reasons = ["%s: %s" % (manager["name"], _queue_managers.not_listed(p["mqs_ini"]))]
    return "", "; ".join(reasons) or "%s does not contain a queue manager" % p["mqs_ini"]


def facts_of_volume(log_path):
    """Return the facts of the volume below the log, or the ``volume_problem`` if its storage does not answer."""
    if not log_path:
        return {}
    answer = _time_limit.call_all([lambda: _volume_identity.facts_of(log_path)], VOLUME_LIMIT_S)[0]
    return answer if isinstance(answer, dict) else dict(volume_problem="%s: %s" % (log_path, answer))


def prepare(p, run_command):
    """Return the chosen source, and all facts. Raises SourceError."""
    found = _queue_manager_info.discover(p["mqs_ini"], run_command)
    manager = queue_manager_of(p, found)
    log_path, problem = log_of(p, manager, found["problems"])
    options = dict((key, p[key]) for key in OF_SOURCES)
    options.update(
        queue_manager=manager["name"],
        queue_manager_running=manager.get("running"),
        log_path=log_path,
        log_path_problem=problem,
    )
    name, source, checked = choice.choose(p["source"], options)
    # The source may know the queue manager even if the host does not, for example because it runs in a container.
    queue_manager = manager["name"] or checked.get("source_queue_manager") or ""
    known = dict(
        source=name, queue_manager=queue_manager, log_path=log_path, queue_manager_running=manager.get("running")
    )
    facts = dict(checked)
    facts.update(_machine.host_facts(), **facts_of_volume(log_path))
    facts.update((key, known[key]) for key in known if known[key] not in ("", None) or key not in facts)
    return source, facts


def main():
    module = AnsibleModule(
        argument_spec=dict(
            run_id=dict(type="str", required=True),
            state_dir=dict(type="str", required=True),
            volume=dict(type="str", default="log"),
            source=dict(type="str", default=choice.AUTO),
            duration=dict(type="float", required=True),
            interval=dict(type="float", default=10),
            lease=dict(type="float", default=120),
            queue_manager=dict(type="str", default=""),
            log_path=dict(type="str", default=""),
            url=dict(type="str", default="http://localhost:9157/metrics"),
            amqsrua=dict(type="str", default=""),
            calls=dict(type="list", elements="str", default=[]),
            library=dict(type="str", default=""),
            pid=dict(type="int", default=0),
            command=dict(type="list", elements="str", default=[]),
            mqs_ini=dict(type="path", default=_queue_managers.MQS_INI),
            user=dict(type="str", default=""),
        ),
        supports_check_mode=True,
    )
    p = module.params
    _user.refuse_other(module, "observe_become")
    try:
        observation = _observer.Observation(p["state_dir"], p["run_id"], p["volume"])
        source, facts = prepare(p, module.run_command)
        if not module.check_mode:
            _runs.own_directory(observation.state_dir)
            _observer.remove_forgotten(observation.state_dir)
            observation.start(
                source, p["duration"], p["lease"], dict(volume=p["volume"], queue_manager=facts["queue_manager"])
            )
    except (OSError, SourceError, _runs.RunError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=True, source=facts["source"], facts=facts, time_epoch_s=time.time())


if __name__ == "__main__":
    main()
