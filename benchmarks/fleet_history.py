#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the time and memory that are needed to compare the runs of a large fleet, and to search its history for
drift. This includes writing the pages and the JSON files.

    PYTHONPATH=collections .venv-dev/bin/python benchmarks/fleet_history.py \\
        [--hosts N] [--certificates N] [--runs N] [--directory DIR]

(`make link lint` creates `collections` and `.venv-dev`.) The history is a file. It contains N certificates with 7 rows
for each host, from one run per week. The last runs are compared with the same number of runs before them. Each part
runs in a separate process, whose peak memory is shown. Neither part may report a host, because the fleet has not
changed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import Certificate, fingerprint
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.fleet_comparison import (
    compare_fleet,
    statement_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.fleet_drift import fleet_drift
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.selection import select
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.comparison import (
    comparison_text,
    render_comparison,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.drift import drift_text, render_drift
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

FIRST_DAY = datetime.date(2026, 1, 1)
DEVIATION = 0.03
FIGURE, MARGIN = "latency_mean_ns", 0.1


def certificates(hosts: int, run: int, rng: random.Random) -> Iterator[Certificate]:
    """Yield a certificate for each host from the run of one week. Figures differ between runs by DEVIATION; half of
    this difference is common to all rows of a host."""
    day = FIRST_DAY + datetime.timedelta(days=7 * run)
    base = {**made_up.certificate().content, "method_version": 1}
    times = {
        "judged_at": f"{day}T10:00:00Z",
        "valid_from": f"{day}",
        "valid_until": f"{day + datetime.timedelta(days=90)}",
        "run_id": f"run-{run:03}",
    }
    for number in range(hosts):
        common = rng.gauss(0, 1)
        factors = [math.exp(DEVIATION * (common + rng.gauss(0, 1)) / math.sqrt(2)) for dummy in base["rows"]]
        rows = [{**row, FIGURE: row[FIGURE] * factor} for row, factor in zip(base["rows"], factors, strict=True)]
        identity = {**base["identity"], "machine_id": f"{number:032x}"}
        yield Certificate.of_content(
            {
                **base,
                **times,
                "host": f"db{number:04}",
                "rows": rows,
                "identity": identity,
                "volume_id": fingerprint(identity),
            }
        )


def compare(place: str, hosts: list[str], certificates: int, runs: int, directory: str) -> str:
    """Compare the last runs with the same number before them, and write everything that the playbook writes."""
    with open_history(place) as history:
        names = [f"run-{run:03}" for run in range(certificates)]
        sides = [select(history, part) for part in (names[-2 * runs : -runs], names[-runs:])]
        comparison = compare_fleet(history, *sides, hosts, figure=FIGURE, margin=MARGIN)
    statement = statement_of(comparison)
    comparison_text(comparison, statement, "")
    write(directory, "comparison", json.dumps(comparison, indent=1), render_comparison(comparison, statement))
    return statement


def drift(place: str, hosts: list[str], certificates: int, runs: int, directory: str) -> str:
    """Search for drift, and write everything that the playbook writes."""
    with open_history(place) as history:
        found = fleet_drift(history, hosts, figure=FIGURE, margin=MARGIN)
    write(directory, "drift", json.dumps(found), render_drift(found))
    return drift_text(found, "").splitlines()[1].strip()


def write(directory: str, name: str, data: str, page: Iterator[str]) -> None:
    for suffix, pieces in (("json", [data]), ("html", page)):
        with open(os.path.join(directory, f"{name}.{suffix}"), "w", encoding="utf-8") as file:
            file.writelines(pieces)


def measured(name: str, work: Callable[..., str], directory: str, *arguments: object) -> None:
    """Call a function in a separate process, and print its time and memory."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        begin, processor = time.perf_counter(), time.process_time()
        said = work(*arguments, directory)
        elapsed_s, processor_s = time.perf_counter() - begin, time.process_time() - processor
        memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sizes = ", ".join(
            f"{suffix} {os.path.getsize(os.path.join(directory, f'{name}.{suffix}')) / 1e6:.1f} MB"
            for suffix in ("html", "json")
        )
        print(
            f"{name}: {elapsed_s:.1f} s ({processor_s:.1f} s of processor time), {memory_mib:.0f} MiB, {sizes}: {said}",
            flush=True,
        )
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise SystemExit(f"{name} failed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--certificates", type=int, default=40)
    parser.add_argument("--runs", type=int, default=3, help="on either side of the comparison")
    parser.add_argument("--directory", help="the directory for the SQLite file")
    options = parser.parse_args()
    rng, hosts = random.Random("fleet"), [f"db{number:04}" for number in range(options.hosts)]
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        place = os.path.join(directory, "history.sqlite")
        for run in range(options.certificates):
            with open_history(place, create=True) as history:
                history.store(certificates(options.hosts, run, rng))
        for name, work in (("comparison", compare), ("drift", drift)):
            measured(name, work, directory, place, hosts, options.certificates, options.runs)


if __name__ == "__main__":
    main()
