# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This code is private to the collection and may change at any time.

"""Strictly parses quantities as people write them, converts them to base units, and formats them for people.

Base units are bytes, nanoseconds, bytes per second, writes per second, plain counts and plain ratios. Sizes are
1024-based (K is KiB). Rates are decimal (MB/s is 10^6 bytes per second) unless their unit is KiB/s, MiB/s or GiB/s.
Every parser raises UnitError, whose message names the value and what is allowed. Every formatter returns short text
with three significant digits by default.
"""

import decimal
import re

SIZE_UNITS = {
    "": 1,
    "b": 1,
    "k": 1 << 10,
    "kib": 1 << 10,
    "m": 1 << 20,
    "mib": 1 << 20,
    "g": 1 << 30,
    "gib": 1 << 30,
    "t": 1 << 40,
    "tib": 1 << 40,
}
DURATION_UNITS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
RATE_UNITS = {
    "B/s": 1,
    "kB/s": 10**3,
    "KB/s": 10**3,
    "MB/s": 10**6,
    "GB/s": 10**9,
    "KiB/s": 1 << 10,
    "MiB/s": 1 << 20,
    "GiB/s": 1 << 30,
}
FREQUENCY_UNITS = {"": 1, "/s": 1, "operations/s": 1, "writes/s": 1}
RATIO_UNITS = {"": decimal.Decimal(1), "%": decimal.Decimal("0.01")}

LARGEST = (1 << 63) - 1

_QUANTITY = re.compile(r"^([0-9]+(?:\.[0-9]+)?)\s*([^0-9.\s,+-][^0-9.\s]*)?$")
_COUNT = re.compile(r"^(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)$")
_MAX_TEXT = 40


class UnitError(ValueError):
    """A quantity cannot be read. The message is one sentence that names the value and what is allowed."""


def parse_size(value):
    """Return a size as a whole number of bytes: 4096, "4096", "64K", "64 KiB", "1.5 MiB"; K, M,
    G and T are 1024-based."""
    return _whole(
        value,
        _read(value, "size", SIZE_UNITS, "B, K, KiB, M, MiB, G, GiB, T, TiB (1024-based), or plain bytes", fold=True),
        "size",
        "bytes",
    )


def parse_duration(value):
    """Return a duration as a whole number of nanoseconds: "250 us", "1.5 ms", "10 s", "5 min";
    a bare number is refused."""
    return _whole(
        value, _read(value, "duration", DURATION_UNITS, "ns, us, ms, s, m, min, h"), "duration", "nanoseconds"
    )


def parse_rate(value):
    """Return a data rate in bytes per second as a float: "250 MB/s" is 250e6, "1 MiB/s" is 1048576;
    a bare number is refused."""
    return float(_read(value, "rate", RATE_UNITS, "B/s, kB/s, MB/s, GB/s (decimal), KiB/s, MiB/s, GiB/s (1024-based)"))


def parse_frequency(value):
    """Return a number of operations per second as a float: 5000, "5000", "5000 /s", "5000 operations/s"."""
    return float(_read(value, "frequency", FREQUENCY_UNITS, "/s, operations/s, writes/s, or a plain number"))


def parse_ratio(value):
    """Return a ratio as a float: 0.2, "0.2" and "20 %" are the same."""
    return float(_read(value, "ratio", RATIO_UNITS, "%, or a plain number"))


def parse_number(value):
    """Return a plain, non-negative number without a unit as a float: 3, 1.5, "1.5"."""
    return float(_read(value, "number", {"": 1}, ""))


def parse_count(value):
    """Return a count as an int: 12345, "12345", "12,345"."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return int(value)
    if isinstance(value, str) and len(value) <= _MAX_TEXT and _COUNT.match(value.strip()):
        count = int(value.strip().replace(",", ""))
        if count <= LARGEST:
            return count
    raise UnitError(
        "%s is not a count: write a whole number such as 12345 or 12,345, at most %d" % (_quoted(value), LARGEST)
    )


def format_size(size):
    """Format a size: "64 KiB", "1 MiB". Sizes below 64 MiB are exact, so that two block sizes never look the same.
    Larger sizes have three digits."""
    units = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
    for name, scale in units:
        if size >= scale and size % scale == 0 and (size < 64 << 20 or size // scale < 10000):
            return "%s %s" % (format_count(size // scale), name)
    for name, scale in units[:3]:
        if size >= max(scale, 64 << 20):
            return "%s %s" % (format_number(size / scale, 3), name)
    return "%s B" % format_count(size)


def short_size(size):
    """Format a size exactly, in the form used in options: "64K", "2300"."""
    for unit in ("g", "m", "k"):
        if size and size % SIZE_UNITS[unit] == 0:
            return "%d%s" % (size // SIZE_UNITS[unit], unit.upper())
    return str(size)


def format_duration(nanoseconds, digits=3):
    """Format a duration given in nanoseconds: "980 ns", "1.23 ms", "10 s", "5 min"."""
    return _scaled(
        nanoseconds,
        (
            ("h", 7200e9, 3600e9),
            ("min", 120e9, 60e9),
            ("s", 1e9, 1e9),
            ("ms", 1e6, 1e6),
            ("us", 1e3, 1e3),
            ("ns", 0, 1),
        ),
        digits,
    )


def format_rate(bytes_per_second, digits=3):
    """Format a data rate given in bytes per second: "250 MB/s" (decimal)."""
    return _scaled(
        bytes_per_second, (("GB/s", 10e9, 1e9), ("MB/s", 1e6, 1e6), ("kB/s", 1e3, 1e3), ("B/s", 0, 1)), digits
    )


def format_frequency(per_second, digits=3):
    """Format a number of operations per second: "12,300 operations/s"."""
    return "%s operations/s" % format_number(per_second, digits)


def format_ratio(ratio, digits=3):
    """Format a ratio as a percentage: "12.5 %"."""
    return "%s %%" % format_number(ratio * 100, digits)


def format_number(value, digits=3):
    """Format a plain number: "1.5", "12,300". It has the given number of significant digits, thousands separators and
    no trailing zeros. Excess digits before the decimal point become zeros."""
    number = decimal.Decimal("%.*g" % (digits, value))
    text = "{0:,f}".format(number)
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_count(count):
    """Format a count with thousands separators: "12,345"."""
    return "{0:,d}".format(int(count))


def _read(value, kind, units, allowed, fold=False):
    """Return the value in base units as a Decimal."""
    number, unit = _split(value)
    if fold:
        unit = unit.lower()
    if number is None or unit not in units:
        wanted = "a number and one of %s" % allowed if allowed else "a number without a unit"
        raise UnitError("%s is not a %s: write %s" % (_quoted(value), kind, wanted))
    result = number * units[unit]
    if result > LARGEST:
        raise UnitError("%s is too large for a %s: the largest is %d in base units" % (_quoted(value), kind, LARGEST))
    return result


def _split(value):
    """Return the number in a value as a Decimal, and the unit as text. If the value does not contain a number, it is
    None."""
    if isinstance(value, bool):
        return None, ""
    if isinstance(value, int):
        return (decimal.Decimal(value) if value >= 0 else None), ""
    if isinstance(value, float):
        return (decimal.Decimal(repr(value)) if 0 <= value <= LARGEST else None), ""
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        return None, ""
    match = _QUANTITY.match(value.strip())
    if not match:
        return None, ""
    return decimal.Decimal(match.group(1)), match.group(2) or ""


def _whole(value, number, kind, base):
    if number != number.to_integral_value():
        raise UnitError("%s is not a whole number of %s: give another %s" % (_quoted(value), base, kind))
    return int(number)


def _quoted(value):
    text = repr(value)
    return text if len(text) <= 2 * _MAX_TEXT else text[: 2 * _MAX_TEXT] + "..."


def _scaled(value, units, digits):
    """Format a value in the first unit whose threshold the rounded value reaches. Units are (name, threshold, scale),
    largest first."""
    rounded = float("%.*g" % (max(digits, 3), value))
    for name, threshold, scale in units:
        if rounded >= threshold:
            return "%s %s" % (format_number(value / scale, digits), name)
    return "%s %s" % (format_number(value, digits), units[-1][0])
