# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns the maps that bpftrace prints into texts, each of which describes one second or one event. This module reads no
clock and starts no program.

Each text is a JSON object with one key, and all times are in ns of the kernel's monotonic clock::

    {"base": 1}                                    when the observation began
    {"second": {"number": 1, "late": false, "streams": {"log": {"buckets": {"513": 2}, "sum_ns": 1, "bytes": 1,
                                                                "errors": 0, "min_ns": 1, "max_ns": 1}}}}
    {"in_flight": {"log": [1]}}                    start times of operations that have not returned at the end
    {"maximum": {"stream": "log", "at_ns": 1, "latency_ns": 1, "bytes": 1}}
    {"stall": {"stream": "log", "at_ns": 1, "latency_ns": 1, "bytes": 1}}
    {"end": 1}                                     when it ended, if it ended early
    {"lost": 1}                                    events that bpftrace could not keep
    {"unseen": {"log": 1}}                         writes so far that were not made by a watched system call
    {"unflushed": {"log": 1}}                      writes at the end that were neither synchronous nor flushed

Private to this collection; it may change at any time.
"""

import json

from . import bpftrace_program as program

IN_FLIGHT_MAX = 20
"""The largest number of operations in flight that are reported. If there are more, the oldest ones are reported."""

_NS_PER_S = 1000000000
_LATE_NS = (program.SLOTS - 1) * _NS_PER_S


class Seconds:
    """Turns the lines of ``bpftrace -f json`` into texts. ``names`` are the names of the program's streams."""

    def __init__(self, names, duration_s):
        self.base_ns = None
        self._names = names
        self._duration_s = duration_s
        self._maps = {}
        self._seen = {}
        self._read = 0
        self._end_ns = None

    def feed(self, line, now_ns):
        """Return the texts for a line that was read at ``now_ns``."""
        try:
            kind, data = _event(json.loads(line))
        except (ValueError, KeyError, TypeError):
            return []
        if kind == "map":
            self._maps.update(data)
            return []
        if kind == "lost_events":
            return [_text("lost", data.get("events", 1))]
        if kind != "printf":
            return []
        return [text for words in data.splitlines() for text in self._told(words.split(), now_ns)]

    def finish(self):
        """Return the texts for the data that was read after the program ended. At its end, bpftrace prints all maps."""
        if not self._end_ns:
            return []
        in_flight = dict(
            (name, sorted(self._maps.get("@t%d" % index, {}).values())[:IN_FLIGHT_MAX])
            for index, name in enumerate(self._names)
        )
        unflushed = dict(
            (name, sum(self._maps.get("@c%d" % index, {}).values())) for index, name in enumerate(self._names)
        )
        rest = [_text("in_flight", in_flight)] + ([_text("unflushed", unflushed)] if any(unflushed.values()) else [])
        return self._finished(min(self._ended_second(), self._duration_s), False) + rest

    def _ended_second(self):
        return (self._end_ns - self.base_ns) // _NS_PER_S + 1

    def _told(self, words, now_ns):
        if words[:1] == ["base"]:
            self.base_ns = int(words[1])
            return [_text("base", self.base_ns)]
        if words[:1] == ["second"]:
            number, at_ns = int(words[1]), int(words[2])
            return self._finished(number, now_ns - at_ns > _LATE_NS)
        if words[:1] == ["end"] and self.base_ns is not None:
            self._end_ns = int(words[1])
            self._maps = {}
            return [_text("end", self._end_ns)] if self._ended_second() <= self._duration_s else []
        if words[:1] in (["maximum"], ["stall"]):
            return [self._operation(words[0], [int(word) for word in words[1:]])]
        return []

    def _operation(self, kind, numbers):
        stream, at_ns, latency_ns, moved = numbers
        return _text(kind, dict(stream=self._names[stream], at_ns=at_ns, latency_ns=latency_ns, bytes=moved))

    def _finished(self, number, late):
        """Return the texts of the seconds up to ``number`` that have not been read yet, from the current content of the
        maps."""
        texts = []
        # A slot holds only the values of its last use.
        for second in range(self._read + 1, number + 1):
            streams = dict(
                (name, self._stream(index, (second - 1) % program.SLOTS)) for index, name in enumerate(self._names)
            )
            texts.append(
                _text("second", dict(number=second, late=late or second <= number - program.SLOTS, streams=streams))
            )
        unseen = dict((name, self._maps.get("@o%d" % index, 0)) for index, name in enumerate(self._names))
        if any(unseen.values()):
            texts.append(_text("unseen", unseen))
        self._read = max(self._read, number)
        self._maps = {}
        return texts

    def _stream(self, index, slot):
        """Return the values that were added to a slot of a stream since it was last read."""
        gained = {}
        seen = self._seen.setdefault((index, slot), {})
        for key, total in self._maps.get("@n%d" % index, {}).items():
            of_slot, dummy, item = key.partition(",")
            if int(of_slot) == slot and total != seen.get(item, 0):
                gained[item] = total - seen.get(item, 0)
                seen[item] = total
        extremes = self._maps.get("@x%d" % index, {})
        content = dict((name, gained.pop(str(item), 0)) for name, item in _SUMS)
        content["buckets"] = gained
        if gained:
            content["max_ns"] = extremes.get("%d,0" % slot)
            content["min_ns"] = program.LONGEST - extremes["%d,1" % slot] if extremes.get("%d,1" % slot) else None
        return content


_SUMS = (("sum_ns", program.SUM_NS), ("bytes", program.BYTES), ("errors", program.ERRORS))


def _event(content):
    return content["type"], content["data"]


def _text(kind, content):
    return json.dumps({kind: content}, sort_keys=True, separators=(",", ":"))
