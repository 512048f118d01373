# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Quantities: accepted and refused input, and how they are shown."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (4096, 4096),
        ("4096", 4096),
        ("4K", 4096),
        ("64 KiB", 65536),
        ("1 MiB", 1 << 20),
        ("1.5 MiB", 3 << 19),
        ("0.5K", 512),
        ("2G", 2 << 30),
        ("1 TiB", 1 << 40),
        ("  64K ", 65536),
    ],
)
def test_sizes(text, size):
    assert _units.parse_size(text) == size


@pytest.mark.parametrize(
    "value",
    [
        "",
        "K",
        "64KB",
        "64 MB",
        "-4K",
        "1e3",
        "4,096",
        "0x10",
        "٤K",
        "nan",
        None,
        True,
        -1,
        {},
        b"4K",
        0.5,
        "1.0001K",
        "99999999999T",
        "64K\n64K",
        "1" * 50,
        float("nan"),
    ],
)
def test_sizes_refused(value):
    with pytest.raises(_units.UnitError) as error:
        _units.parse_size(value)
    assert repr(value)[:60] in str(error.value)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1 ns", 1),
        ("1us", 1000),
        ("1 \u00b5s", 1000),
        ("1 \u03bcs", 1000),
        ("0.5 ms", 500_000),
        ("1 ms", 10**6),
        ("10 s", 10**10),
        ("2 min", 120 * 10**9),
        ("1 h", 3600 * 10**9),
        ("1.25 s", 1_250_000_000),
    ],
)
def test_durations(text, nanoseconds):
    assert _units.parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    "value", ["10", 10, "10 S", "10 MS", "10 sec", "1.5 ns", "-1 s", "1 d", "10 s 5 ms", "", None, True, "10 s s"]
)
def test_durations_refused(value):
    with pytest.raises(_units.UnitError) as error:
        _units.parse_duration(value)
    assert repr(value) in str(error.value)


def test_an_error_names_value_and_allowed_units():
    with pytest.raises(_units.UnitError, match=r"'2 parsec'.*ns, us, ms, s, m, min, h"):
        _units.parse_duration("2 parsec")
    with pytest.raises(_units.UnitError, match=r"'64KB'.*KiB.*1024"):
        _units.parse_size("64KB")


def test_a_quantity_beyond_64_bits_is_refused():
    with pytest.raises(_units.UnitError, match="too large"):
        _units.parse_duration("3000000 h")


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("250 MB/s", 250e6),
        ("1 MiB/s", 1048576.0),
        ("1GB/s", 1e9),
        ("5 kB/s", 5000.0),
        ("0.5 KiB/s", 512.0),
        ("7 B/s", 7.0),
    ],
)
def test_rates(text, rate):
    assert _units.parse_rate(text) == rate


@pytest.mark.parametrize("value", ["250", 250, "250 MB", "250 Mb/s", "250 mb/s", "250 MBps", "-1 MB/s", None])
def test_rates_refused(value):
    with pytest.raises(_units.UnitError, match="MB/s"):
        _units.parse_rate(value)


@pytest.mark.parametrize(
    ("parse", "value", "expected"),
    [
        (_units.parse_frequency, 5000, 5000.0),
        (_units.parse_frequency, "5000 /s", 5000.0),
        (_units.parse_frequency, "5000 writes/s", 5000.0),
        (_units.parse_frequency, "5000 operations/s", 5000.0),
        (_units.parse_ratio, "20 %", 0.2),
        (_units.parse_ratio, 0.2, 0.2),
        (_units.parse_ratio, "0.2", 0.2),
        (_units.parse_number, "1.5", 1.5),
        (_units.parse_count, "12,345", 12345),
        (_units.parse_count, 12345, 12345),
        (_units.parse_count, "12345", 12345),
    ],
)
def test_other_quantities(parse, value, expected):
    assert parse(value) == expected


@pytest.mark.parametrize(
    ("parse", "value"),
    [
        (_units.parse_count, "1,2345"),
        (_units.parse_count, -1),
        (_units.parse_count, True),
        (_units.parse_count, "9" * 30),
        (_units.parse_ratio, "20 percent"),
        (_units.parse_number, "3 K"),
        (_units.parse_frequency, "3 IOPS"),
    ],
)
def test_other_quantities_refused(parse, value):
    with pytest.raises(_units.UnitError):
        parse(value)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 ns"),
        (1, "1 ns"),
        (980, "980 ns"),
        (999.6, "1 us"),
        (1234, "1.23 us"),
        (1_230_000, "1.23 ms"),
        (2_000_000, "2 ms"),
        (999_999_999, "1 s"),
        (10**10, "10 s"),
        (119 * 10**9, "119 s"),
        (300 * 10**9, "5 min"),
        (2 * 3600 * 10**9, "2 h"),
    ],
)
def test_durations_for_people(nanoseconds, text):
    assert _units.format_duration(nanoseconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (4096, "4 KiB"),
        (65536, "64 KiB"),
        (1 << 20, "1 MiB"),
        (5000, "5,000 B"),
        ((1 << 20) + 4096, "1,028 KiB"),
        ((40 << 20) + 4096, "40,964 KiB"),
        (67430219776, "62.8 GiB"),
        (1 << 40, "1 TiB"),
    ],
)
def test_sizes_for_people(size, text):
    assert _units.format_size(size) == text


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (_units.format_rate, 250e6, "250 MB/s"),
        (_units.format_rate, 12.3e9, "12.3 GB/s"),
        (_units.format_rate, 0, "0 B/s"),
        (_units.format_rate, 34_558_314, "34.6 MB/s"),
        (_units.format_count, 12345, "12,345"),
        (_units.format_ratio, 0.125, "12.5 %"),
        (_units.format_frequency, 12345.6, "12,300 operations/s"),
        (_units.format_number, 1.5, "1.5"),
    ],
)
def test_figures_for_people(write, value, text):
    assert write(value) == text


@given(st.integers(0, (1 << 26) - 1))
def test_a_small_size_that_was_shown_reads_as_the_same_size(size):
    assert _units.parse_size(_units.format_size(size).replace(",", "")) == size


@given(st.integers(1, 10**15))
def test_a_duration_that_was_shown_is_within_half_a_percent(nanoseconds):
    number, unit = _units.format_duration(nanoseconds).replace(",", "").split()
    shown = float(number) * _units.DURATION_UNITS[unit]
    assert abs(shown - nanoseconds) <= 0.005 * nanoseconds


@given(st.one_of(st.text(max_size=60), st.floats(), st.integers(), st.binary(max_size=9), st.none(), st.booleans()))
def test_nothing_but_a_quantity_or_a_unit_error_comes_of_any_value(value):
    for parse in (
        _units.parse_size,
        _units.parse_duration,
        _units.parse_rate,
        _units.parse_frequency,
        _units.parse_ratio,
        _units.parse_number,
        _units.parse_count,
    ):
        try:
            assert 0 <= parse(value) <= float(_units.LARGEST)  # a float near the largest is rounded
        except _units.UnitError as error:
            assert "\n" not in str(error)
