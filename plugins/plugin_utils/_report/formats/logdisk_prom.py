# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""logdisk.prom: the verdict and the figures for monitoring, in the text format of OpenMetrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._run import open_metrics as om
from ..._run.columns import ALL_WORKERS
from ..._run.table_reader import printable
from ..._run.verdicts import WORST_FIRST
from ..headroom import used_limits
from ..model import Host, Model
from ..series import Figures, LimitEntry

FILE = "logdisk.prom"

_QUANTILES = (
    ("0.5", "latency_p50_ns"),
    ("0.99", "latency_p99_ns"),
    ("0.999", "latency_p99_9_ns"),
    ("1.0", "latency_max_ns"),
)
"""The quantiles for which limits are usual; 1.0 is the slowest write. results.csv contains all quantiles."""

_OF_WRITES = (
    "Latency of the writes of all queue managers together.",
    "Bytes written per second by all queue managers together.",
)
_OF_STREAMS = (
    "Latency of a stream's operations, or of the whole workload (all).",
    "Bytes per second of a stream, or of the whole workload (all).",
)
"""The labels of the figures."""

Labelled = list[tuple[str, Host]]
"""The hosts, each after the labels that identify it."""
Used = list[tuple[float, dict[str, Any]]]
"""The share of each limit that a host uses, largest first."""
OPTION, ALL = "gate_metrics", "all"
"""The option, and the value with which the file also contains verdicts, limits and steps of less interest."""


def render(model: Model) -> Iterator[str]:
    """Yield the text piece by piece. All samples of a metric are together, as the format requires."""
    hosts = [(om.labels({"host": host.host, "volume": host.volume}), host) for host in model.hosts]
    used = [used_limits(host) for host in model.hosts]
    every = (model.run.get("parameters") or {}).get(OPTION) == ALL
    known = (*WORST_FIRST, *filter(None, [model.kind.without_verdict]))
    yield from om.gauges(_of_run(model))
    yield om.family("logdisk_run_verdict", "Whether this is the verdict on the volume.")
    for own, host in hosts:
        yield om.states("logdisk_run_verdict", own, "verdict", known if every else (host.verdict,), host.verdict)
    yield from om.gauges(_of_hosts(hosts, used, every))
    yield from model.kind.view.metrics([(host, own) for own, host in hosts])
    yield from _rows(model, hosts, used, every)
    yield om.END


def _of_run(model: Model) -> Iterator[om.Family]:
    """Yield the metrics of the whole run."""
    about = om.labels(
        {
            "run_id": model.run_id,
            "profile": ", ".join(profile.text for profile in model.profiles),
            "collection_version": printable(str(model.run.get("collection_version") or "")),
        }
    )
    told = "Always 1; the labels name the run and the profiles that judged its hosts."
    yield "logdisk_run_info", told, [(about, 1)], int
    for name, told in (
        ("certified", "Whether the run certifies all of its hosts."),
        ("gate_failed", "Whether the gate stops the run."),
    ):
        yield f"logdisk_run_{name}", told, [("", model.fleet[name])], int


def _of_hosts(hosts: Labelled, used: list[Used], every: bool) -> Iterator[om.Family]:
    """Yield the metrics of each host."""
    certified = "Whether the run certifies the volume."
    yield "logdisk_run_volume_certified", certified, hosts, lambda host: int(host.certified)
    yield (
        "logdisk_run_certificate_end_timestamp_seconds",
        "End of the last day on which the certificate of this run is valid.",
        hosts,
        lambda host: om.end_of_day_s(host.valid_until) if host.valid_until else None,
    )
    yield (
        "logdisk_run_limit_margin_ratio",
        "Share of a limit that its worst row leaves unused: 0.25 is a quarter, 0 is the limit itself, below 0 it is "
        "broken.",
        [
            (f"{own},{_limit_labels(limit)}", share)
            for (own, _host), limits in zip(hosts, used, strict=True)
            for share, limit in limits[: None if every else 1]
        ],
        lambda share: 1 - share,
    )
    found = [
        (f"{own},{om.labels({'load_unit': host.capacity.load_unit})}", host.capacity.highest_passed or 0)
        for own, host in hosts
        if host.capacity
    ]
    told = "The highest load at which the volume met all limits, 0 if it met them at no load; the label names the unit."
    if found:
        yield "logdisk_run_capacity", told, found, int


def _limit_labels(limit: LimitEntry) -> str:
    severity = "hard" if limit["hard"] else limit["severity"]
    return om.labels({"metric": limit["metric"], "limit": limit["limit"], "rows": limit["rows"], "severity": severity})


def _rows(model: Model, hosts: Labelled, used: list[Used], every: bool) -> Iterator[str]:
    """Yield the figures of each step, or only of the step that comes closest to a limit, for all workers together."""
    latency, rate = _OF_STREAMS if model.words.layout.by_stream else _OF_WRITES
    yield om.family("logdisk_run_latency_seconds", latency, om.SUMMARY)
    for own, figures in _steps(hosts, used, every):
        yield "".join(_latencies(own, figures))
    name, steps = "logdisk_run_throughput_bytes_per_second", _steps(hosts, used, every)
    yield from om.gauges([(name, rate, steps, lambda figures: figures["bytes_per_s"])])


def _steps(hosts: Labelled, used: list[Used], every: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for (own, host), limits in zip(hosts, used, strict=True):
        place = None if every else _nearest_its_limit(host, limits)
        for dummy, figures in host.results():
            if figures["worker"] == ALL_WORKERS and place in (None, _place_of(figures)):
                keys = {key: figures[key] for key in ("step", "block_size_bytes", "load_point", "stream", "operation")}
                yield (
                    f"{own},{om.labels({key: '' if value is None else value for key, value in keys.items()})}",
                    figures,
                )


def _nearest_its_limit(host: Host, limits: Used) -> tuple[Any, ...] | None:
    """Return the index of the step that uses the largest share of a limit. If no limit judges a step, return the index
    of the first step."""
    places = [_place_of(figures) for dummy, figures in host.results() if figures["worker"] == ALL_WORKERS]
    worst = (_place_of(limit["worst"]) for dummy, limit in limits)
    return next((place for place in worst if place in places), places[0] if places else None)


def _place_of(row: Figures) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in ("block_size_bytes", "load_point", "stream", "operation"))


def _latencies(own: str, figures: Figures) -> Iterator[str]:
    for quantile, column in _QUANTILES:
        if figures.get(column) is not None:
            yield om.sample("logdisk_run_latency_seconds", f'{own},quantile="{quantile}"', figures[column] / 1e9)
    yield om.sample("logdisk_run_latency_seconds_count", own, figures["operations"])
    if figures.get("latency_sum_ns") is not None:
        yield om.sample("logdisk_run_latency_seconds_sum", own, figures["latency_sum_ns"] / 1e9)
