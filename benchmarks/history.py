#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures how long a history takes to store the certificates of a fleet and to report their states,
in a file and in PostgreSQL.

    PYTHONPATH=collections .venv-dev/bin/python benchmarks/history.py [--hosts N] [--runs N] [--directory DIR]

(`make link lint` creates `collections` and `.venv-dev`.) For 10,000 hosts, the target for storing prepared certificates
with 7 rows each, and an observation of each host, is at most 30 s. The target for producing the status in all formats,
including opening the history, is at most 2 s. With more runs, the history is longer. The newest run is compared with
the targets.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import Certificate, fingerprint
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import changed_since, status_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.problems import problems_by_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.result import Result
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.standing import KIND as POWER_CUTS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.status_txt import status_prom, status_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import PASSWORD_VARIABLE, open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import DEFAULT, KINDS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up, postgresql_server

STORE_LIMIT_S = 30
STATUS_LIMIT_S = 2
LIMIT_HOSTS = 10_000
FIRST_DAY = datetime.date(2026, 1, 1)


def certificates(hosts: int, run: int) -> Iterator[Certificate]:
    """Yield a certificate for each host from the run of one day."""
    day = FIRST_DAY + datetime.timedelta(days=run)
    base = made_up.certificate().content
    times = {
        "judged_at": f"{day}T10:00:00Z",
        "valid_from": f"{day}",
        "valid_until": f"{day + datetime.timedelta(days=90)}",
    }
    for number in range(hosts):
        identity = {**base["identity"], "machine_id": f"{number:032x}"}
        machine = {"boot_id": f"boot-{number}-{run // 30}", "hostname": f"db{number}"}
        own = {
            "host": f"db{number}",
            "run_id": f"run-{run}",
            "identity": identity,
            "volume_id": fingerprint(identity),
            "machine": machine,
        }
        yield Certificate.of_content({**base, **own, **times})


def observations(hosts: int, run: int) -> Iterator[Result]:
    """Yield an observation of each host from the same day."""
    day = FIRST_DAY + datetime.timedelta(days=run)
    for number in range(hosts):
        yield made_up.observation(str(day), host=f"db{number}", disk_id=None)


def measure(place: str, hosts: int, runs: int) -> tuple[float, float]:
    """Store several runs. Return the seconds that storing the last run took, and those that the status then took."""
    for run in range(runs):
        begin = time.perf_counter()
        with open_history(place, create=True) as history:
            added = history.store(certificates(hosts, run), list(observations(hosts, run)))
        stored_s = time.perf_counter() - begin
        assert added == 2 * hosts
    begin = time.perf_counter()
    with open_history(place) as history:
        today, revocations = Today(FIRST_DAY + datetime.timedelta(days=runs), expiring_days=14), history.revocations()
        entries, results = history.newest(), {name: history.results(name) for name in KINDS if name != DEFAULT.name}
        lines, plans = fleet_status(entries, revocations, today, results[POWER_CUTS]), history.plans()
        changed = changed_since(history, lines)
    expected = [line.host for line in lines]
    problems = problems_by_host(lines, expected, plans)
    status = status_json(lines, expected, problems, today, revocations, changed, {**results, DEFAULT.name: entries})
    json.dumps(status)
    status_prom(status)
    status_text(status)
    status_s = time.perf_counter() - begin
    assert len(lines) == hosts and {line.state for line in lines} == {"valid"}
    assert len([each for each in status["volumes"] if each["observation"] and each["closest_limit"]]) == hosts
    return stored_s, status_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=LIMIT_HOSTS)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--directory", help="the directory for the SQLite file")
    options = parser.parse_args()
    os.environ[PASSWORD_VARIABLE] = postgresql_server.PASSWORD
    slow = []
    with tempfile.TemporaryDirectory(dir=options.directory) as directory, postgresql_server.running_server() as server:
        for name, place in (
            ("SQLite", os.path.join(directory, "history.sqlite")),
            ("PostgreSQL", server.new_database()),
        ):
            stored_s, status_s = measure(place, options.hosts, options.runs)
            print(
                f"{name}: {options.hosts} certificates stored in {stored_s:.1f} s, status in {status_s:.2f} s, "
                f"after {options.runs} run(s)"
            )
            share = options.hosts / LIMIT_HOSTS
            slow += [name] * (stored_s > STORE_LIMIT_S * share or status_s > STATUS_LIMIT_S * share)
    if slow:
        print(f"too slow: {', '.join(slow)}")
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main())
