# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values that monitoring reads from a file of metrics."""

from __future__ import annotations

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

# Types of the older format of Prometheus. The parser of node_exporter (expfmt of prometheus/common) refuses a file
# with any other type.
_KNOWN_TYPES = {"counter", "gauge", "histogram", "summary", "untyped"}


def samples_of(text):
    """Return the values by metric name and labels. A parser of OpenMetrics and one of Prometheus's older format must
    read the same values."""
    found: dict[str, dict[tuple, float]] = {}
    for family in open_metrics(text):
        assert family.type in _KNOWN_TYPES
        for each in family.samples:
            labels = tuple(sorted(each.labels.items()))
            assert labels not in found.setdefault(each.name, {})
            found[each.name][labels] = each.value
    older = {
        (each.name, tuple(sorted(each.labels.items()))): each.value
        for family in prometheus(text)
        for each in family.samples
    }
    assert older == {(name, labels): value for name, values in found.items() for labels, value in values.items()}
    return found
