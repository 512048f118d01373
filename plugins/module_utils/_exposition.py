# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses the lines of Prometheus's text format, on hosts and on the controller.

Private to this collection; it may change at any time.
"""

import re

_SAMPLE = re.compile(
    r"([A-Za-z_:][A-Za-z0-9_:]{0,199})(?:\{(.*)\})?[ \t]+([-+.0-9A-Za-z]{1,64})(?:[ \t]+-?\d{1,20})?[ \t]*\Z"
)
_TYPE = re.compile(r"#[ \t]+TYPE[ \t]+(\S+)[ \t]+(\w+)[ \t]*\Z")
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"')
_QUEUE_MANAGER_LABELS = ("qmgr", "queuemanager", "qm", "qmgrname", "qmname")
"""The names that exporters use for the label of the queue manager, in lower case and without underscores."""


def sample_of(line):
    """Return the name, the labels and the value of a sample, as they are written; None if the line is not a sample."""
    found = _SAMPLE.match(line)
    return (found.group(1), found.group(2) or "", found.group(3)) if found else None


def type_of(line):
    """Return the name of a metric and its type in lower case; None if the line does not declare a type."""
    found = _TYPE.match(line)
    return (found.group(1), found.group(2).lower()) if found else None


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
