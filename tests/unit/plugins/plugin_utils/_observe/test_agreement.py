# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The same load gives the same figures through every source of MQ's publications: bytes, writes and means agree."""

from __future__ import annotations

import csv
import datetime
import io

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import Options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.samples import Sample
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.sources import amqsrua, prometheus
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.tables import tables_of
from mq import expositions
from mq.expositions import Clock, Publication

START = datetime.datetime(2026, 11, 23, 8, tzinfo=datetime.timezone.utc)
QM1 = Options("QM1")
MIB = 1 << 20
NUMBER = 12
"""The publications of a queue manager; only the first GET returns the first one."""
LOADS = {
    "steady": [Publication(16 * MIB + 8192 * (5 * n % 7), 400, 8192) for n in range(NUMBER)],
    "rising": [Publication((4 + n) * MIB, 300 + 10 * n, 8192) for n in range(NUMBER)],
    "falling": [Publication((40 - 2 * n) * MIB, 900 - 50 * n, 16384) for n in range(NUMBER)],
    "up and down": [Publication((4 + 3 * (n % 3)) * MIB, 300 + 100 * (n % 3), 8192) for n in range(NUMBER)],
    "idle": [Publication(0, 300, 8192)] * NUMBER,
}
SOURCES = {
    "mq_prometheus, counters": lambda gets: expositions.mq_prometheus(gets, "counter"),
    "mq_prometheus, gauges": lambda gets: expositions.mq_prometheus(gets, "gauge"),
    "mq_prometheus, counters that it keeps": lambda gets: expositions.mq_prometheus(
        gets, "counter", keeps_counters=True
    ),
    "mq-container": expositions.mq_container,
}


def row(observation):
    """Return the judged figures of the log, from its table."""
    rows = list(csv.DictReader(io.StringIO(tables_of(observation, QM1)["results.csv"].decode())))
    return {
        name: rows[-1][name]
        for name in (
            "elapsed_ns",
            "operations",
            "bytes",
            "latency_mean_ns",
            "write_size_mean_bytes",
            "logger_utilisation_share",
        )
    }


def by_amqsrua(publications):
    text = expositions.amqsrua(publications, START + datetime.timedelta(seconds=10))
    return amqsrua.read([Sample(START.timestamp() + 3600, 10**15, each) for each in text.split("\n\n")], QM1)


def by_prometheus(answers):
    return prometheus.read(
        [Sample(START.timestamp() + 10 * n, 10**12 + 10**10 * n, text) for n, text in enumerate(answers)], QM1
    )


@pytest.mark.parametrize("source", [name for name in SOURCES if "keeps" not in name])
@pytest.mark.parametrize("load", LOADS)
def test_one_publication_at_each_get(load, source):
    found = by_prometheus(SOURCES[source](list(Clock().gets(LOADS[load]))))
    assert row(found) == row(by_amqsrua(LOADS[load][1:]))
    assert found.problems == ()


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("load", LOADS)
def test_a_get_that_comes_before_the_publication_costs_nothing(load, source):
    """A GET without a new publication is never counted as an idle interval, whether the exporter then drops its figures
    or repeats them. The averages of a publication are lost if the next publication arrives before the GET."""
    pattern = (1, 0, 1, 1, 2, 0)
    found = by_prometheus(SOURCES[source](list(Clock(pattern).gets(LOADS[load]))))
    written = LOADS[load][1:]
    assert sum(each.bytes for each in found.intervals) == sum(each.physical_bytes for each in written)
    assert all(each.latency_mean_ns for each in found.intervals)
    if load in ("steady", "idle"):
        assert row(found)["latency_mean_ns"] == row(by_amqsrua(written))["latency_mean_ns"]
        assert sum(each.operations for each in found.intervals) == sum(
            each.physical_bytes // each.size_bytes for each in written
        )


def test_a_counter_of_neither_exporter_is_not_guessed():
    """Five answers with rising, falling or equal values prove nothing, because with each of these loads, one kind of
    counter looks like the other."""
    for load in ("steady", "rising", "falling"):
        texts = expositions.mq_prometheus(list(Clock().gets(LOADS[load])), "counter")
        stripped = [
            "\n".join(line for line in text.splitlines() if "exporter_publications" not in line) + "\n"
            for text in texts
        ]
        found = by_prometheus(stripped)
        assert [each.bytes for each in found.intervals] == [None] * (NUMBER - 1)
        assert [problem.partition(",")[0] for problem in found.problems] == [
            "The exporter declares the bytes written as a counter"
        ]
