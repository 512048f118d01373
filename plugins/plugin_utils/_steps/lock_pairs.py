# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which hosts are tested with each other, in which directories, and which hosts create these directories. No
host is contacted."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .._action_base import ControllerAction, one_line
from .._fleet.discovered import DiscoveryError, plan_volumes
from .._fleet.volumes import recorded_volumes
from .._locks.pairs import Pair, Shared, common, names_pair, pairs_of
from .._locks.step import STAGE
from .._run.directory import RunDirectory
from .._run.shapes import as_dict
from .lock_plan import planned_volume

NO_PARTNER = (
    "no host under test shares a directory with {}: {}. Name the other host in locks_pair, or the group of hosts that "
    "share the directory in locks_group"
)
UNREAD = (
    "other hosts under test have the same queue managers as this host, but their logs cannot be inspected here, so it "
    "is not known whether the hosts share them: {}"
)
BY_HAND = "To choose the directory by hand, set workspace_path, and name the other host in locks_pair"


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts. Hosts for which no plan names a partner are paired if they have
    a queue manager of the same name with the same directory.

    Returns the ``pairs``, the planned volume of each host in a pair, the volumes of the hosts that create a directory
    (``makers``), and the ``problems`` of hosts that cannot be tested.
    """

    stage = STAGE

    argument_spec = {
        "run_path": {"type": "str", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        directory = RunDirectory.open(options["run_path"])
        variables = {host: task_vars["hostvars"][host] for host in directory.expected_hosts}
        plans = {host: own["locks_plan"] for host, own in variables.items()}
        answers = {host: as_dict((own.get("tester_ready") or {}).get("discovered")) for host, own in variables.items()}
        shared = {host: logs_of(answer) for host, answer in answers.items()}
        pairs = pairs_of(plans, shared)
        volumes, problems = volumes_of(plans, answers, shared, pairs)
        for host, volume in volumes.items():
            directory.volumes.write(host, recorded_volumes([volume]))
        return {
            "pairs": [dataclasses.asdict(pair) for pair in pairs],
            "volumes": volumes,
            "makers": makers_of(volumes, pairs),
            "problems": problems,
        }


def logs_of(answer: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return the queue managers that were discovered on a host, each with the directory of its log. The answer is
    untrusted."""
    return frozenset(
        (name, str(item.get("log_directory")))
        for name, item in _queue_managers(answer)
        if not item.get("problem") and item.get("log_directory")
    )


def _queue_managers(answer: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    items = answer.get("queue_managers")
    return [
        (str(item["name"]), item)
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, Mapping) and item.get("name")
    ]


def volumes_of(
    plans: Mapping[str, Any], answers: Mapping[str, Any], shared: Shared, pairs: Sequence[Pair]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the planned volume of each host in a pair, and for each other host the reason why it cannot be tested."""
    volumes, problems = {}, {}
    makers = {host: pair.maker for pair in pairs for host in pair.hosts}
    unread = unread_of({host: answers[host] for host in plans if not names_pair(plans, host)})
    for host, plan in plans.items():
        # The host that creates the directory comes before the others. The name of the volume is part of the path.
        made, own = volumes.get(makers.get(host)), plan["volumes"][0]
        own = {**own, "name": (made or own)["name"]}
        partners = [next(each for each in pair.hosts if each != host) for pair in pairs if host in pair.hosts]
        if names_pair(plans, host):
            volumes[host] = own
        elif host in unread:
            problems[host] = f"{UNREAD.format(unread[host])}. {BY_HAND}"
        elif not partners:
            problems[host] = NO_PARTNER.format(host, _why_alone(shared[host]))
        else:
            names = {name for partner in partners for name, _directory in common(shared, host, partner)}
            try:
                volumes[host] = _beside_logs(own, answers[host], names, made)
            except DiscoveryError as error:
                problems[host] = f"{error}. {BY_HAND}"
    return volumes, problems


def unread_of(answers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the hosts that have queue managers in common with other hosts, but cannot inspect their logs. For each of
    these hosts, name the queue managers, each with the reason. The answers are untrusted."""
    counts = Counter(name for answer in answers.values() for name in {name for name, _item in _queue_managers(answer)})
    found = {
        host: "; ".join(
            one_line(f"{name}: {item['problem']}")
            for name, item in _queue_managers(answer)
            if item.get("problem") and counts[name] > 1
        )
        for host, answer in answers.items()
    }
    return {host: problems for host, problems in found.items() if problems}


def _why_alone(logs: frozenset[tuple[str, str]]) -> str:
    names = ", ".join(sorted(name for name, _directory in logs))
    if not names:
        return "no queue manager was discovered"
    return f"no other host has a queue manager with the same directory ({names})"


def _beside_logs(
    volume: Mapping[str, Any], answer: Mapping[str, Any], names: set[str], made: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the planned volume of a host, on the file system of the logs that it shares with other hosts. ``names``
    are the queue managers of these logs, and ``made`` is the planned volume of another host that creates the directory.
    Raises DiscoveryError."""
    planned = plan_volumes(answer, [], only=names)
    if planned.refused:
        raise DiscoveryError("; ".join(each.reason for each in planned.refused))
    found = planned.volumes
    if len(found) != 1:
        raise DiscoveryError(
            f"the queue managers {', '.join(sorted(names))} share {len(found)} file systems with other hosts, but "
            "locks are tested on one at a time"
        )
    own = {key: found[0][key] for key in ("path", "queue_managers", "expect_mount")}
    if made:
        own["path"] = made["path"]
        if not own["path"].startswith(own["expect_mount"].rstrip("/") + "/"):
            raise DiscoveryError(
                f"hosts that are connected by queue managers are tested in one directory, here {own['path']}, but on "
                f"this host it would not be on the file system of {', '.join(own['queue_managers'])}, which is mounted "
                f"on {own['expect_mount']}"
            )
    return planned_volume({**volume, "places": {}, **own})


def makers_of(volumes: Mapping[str, Any], pairs: Sequence[Pair]) -> dict[str, list[dict[str, Any]]]:
    """Return the volumes of each host that creates a directory, with space for the files of all pairs that are tested
    there."""
    counts = Counter(pair.maker for pair in pairs if pair.maker in volumes)
    return {host: [_with_space(volumes[host], count)] for host, count in counts.items()}


def _with_space(volume: Mapping[str, Any], pairs: int) -> dict[str, Any]:
    (part,) = volume["parts"]
    return {**volume, "parts": [{**part, "footprint_bytes": volume["queue_manager_bytes"] * pairs}]}
