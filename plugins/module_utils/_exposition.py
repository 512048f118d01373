# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses the lines of Prometheus's text format, and the names of the metrics of a queue manager's log, on hosts and on
the controller.

Private to this collection; it may change at any time.
"""

import collections
import re

_SAMPLE = re.compile(
    r"([A-Za-z_:][A-Za-z0-9_:]{0,199})(?:\{(.*)\})?[ \t]+([-+.0-9A-Za-z]{1,64})([ \t]+-?\d{1,20})?[ \t]*\Z"
)
_TYPE = re.compile(r"#[ \t]+TYPE[ \t]+(\S+)[ \t]+(\w+)[ \t]*\Z")
_HELP = re.compile(r"#[ \t]+HELP[ \t]+(\S+)[ \t](.*)\Z")
_UNIT_OF_TIME = re.compile(
    "(?:\\bin[ ]|[(\\[,:-])[ ]*(?:(nano|micro|milli)?seconds?|([num\u00b5\u03bc])s(?:ecs?)?)[ ]*(?=[)\\].,;]|\\Z)",
    re.IGNORECASE,
)
"""A unit of the value, after a bracket, a comma or "in". Other words, such as "microsecond precision", "from
microseconds" or "once per second", do not say in which unit the value is."""
_PREFIXES = {"n": "nano", "u": "micro", "\u00b5": "micro", "\u03bc": "micro", "m": "milli"}
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"')
_QUEUE_MANAGER_LABELS = ("qmgr", "queuemanager", "qm", "qmgrname", "qmname")
"""The names that exporters use for the label of the queue manager, in lower case and without underscores."""

_ELEMENTS = {
    "physical_written": "physical_bytes",
    "physical_bytes_written": "physical_bytes",
    "logical_written": "logical_bytes",
    "logical_bytes_written": "logical_bytes",
    "write_latency": "latency_ns",
    "write_size": "size_bytes",
    "slowest_write_since_restart": "slowest_ns",
    "slowest_write": "slowest_ns",
    "timestamp_of_slowest_write": "slowest_at_epoch_s",
    "slowest_write_timestamp": "slowest_at_epoch_s",
    "in_use": "in_use_bytes",
    "bytes_in_use": "in_use_bytes",
    "max": "max_bytes",
    "bytes_max": "max_bytes",
}
"""What MQ publishes about its log, by the name of the metric between its prefix and its unit. Other metrics come from
the status of the log or from a replica, and say nothing about writes."""
_METRIC = re.compile(
    r"(?:\w+_)?(qmgr|mq_rlog|rlog)_log_(%s)(_seconds|_milliseconds|_microseconds|_bytes)?(_total)?\Z"
    % "|".join(sorted(_ELEMENTS, reverse=True))
)
_ABOUT_WRITES = re.compile(
    r"(?:\A|_)(?:qmgr|rlog)_log_(?:%s)_"
    % "|".join(sorted({name.split("_")[0] for name in _ELEMENTS if "writ" in name}))
)

Metric = collections.namedtuple("Metric", "series element unit is_total")
"""The name of a metric of the log, in its parts; ``unit`` is as in the name, or empty."""


def metric_of(name):
    """Return the parts of the name of a metric that MQ publishes about its log; None for any other name."""
    found = _METRIC.match(name)
    return (
        Metric(found.group(1), _ELEMENTS[found.group(2)], found.group(3) or "", bool(found.group(4))) if found else None
    )


def is_unknown(name):
    """Return whether a name says that the metric is about the writes of a log, but in a form that is not known."""
    return bool(_ABOUT_WRITES.search(name)) and metric_of(name) is None


def sample_of(line):
    """Return the name, the labels and the value of a sample, as they are written, and whether it has the time at which
    it was taken; None if the line is not a sample."""
    found = _SAMPLE.match(line)
    return (found.group(1), found.group(2) or "", found.group(3), bool(found.group(4))) if found else None


def type_of(line):
    """Return the name of a metric and its type in lower case; None if the line does not declare a type."""
    found = _TYPE.match(line)
    return (found.group(1), found.group(2).lower()) if found else None


def unit_in_help(line):
    """Return the name of a metric and the unit of time that its description clearly states, in the form of a name's
    unit; None if the line describes no metric, or states no unit or several."""
    found = _HELP.match(line)
    units = {
        "_%sseconds" % (long or _PREFIXES.get(short, "")).lower()
        for long, short in (_UNIT_OF_TIME.findall(found.group(2)) if found else ())
    }
    return (found.group(1), units.pop()) if len(units) == 1 else None


def queue_manager_of(labels):
    """Return the queue manager that the labels name, or None."""
    values = dict((label.lower().replace("_", ""), value) for label, value in _LABEL.findall(labels))
    for label in _QUEUE_MANAGER_LABELS:
        if label in values:
            return re.sub(r"\\(.)", r"\1", values[label]).strip()
    return None


def number_of(text):
    """Return a value as a number, or NaN if it is not a number."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
