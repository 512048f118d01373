# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import zlib

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kubernetes import pod_log
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kubernetes.pod_log import (
    LogError,
    last_complaint,
    read_tables,
)

NAMES = ("run.csv", "results.csv")


def framed(tables, count=None):
    """Return the lines that the tester prints for tables, with two rows in each line."""
    lines = []
    for name, content in tables.items():
        lines.append(f"|= {name} {len(content)} {zlib.crc32(content):08x}")
        rows = content.decode().splitlines()
        lines += ["|" + "\t".join(rows[at : at + 2]) for at in range(0, len(rows), 2)]
    return [*lines, f"|= end {len(tables) if count is None else count}"]


TABLES = {"results.csv": b"step,mean\n1,2.5\n2,3.5\n", "run.csv": b'key,value\nplace_1,"name=a,dir=/d"\ncomplete,1\n'}
LINES = framed(TABLES)


def log_of(lines):
    return "\n".join(["Creating files...", *lines, "", "Summary", "2 of 2 steps measured", ""])


def test_tables_are_found_among_other_lines():
    among = [*LINES[:2], "logdisk: warning: a line of standard error", *LINES[2:]]
    assert read_tables(log_of(among), NAMES) == TABLES


def test_only_known_tables_are_taken():
    assert read_tables(log_of(framed({**TABLES, "evil.csv": b"x\n"})), NAMES) == TABLES


@pytest.mark.parametrize(
    "lines, reason",
    [
        ([], "the log contains no tables"),
        (LINES[:-1], "the log ends before the end of the tables"),
        (LINES[2:], "belongs to no table"),
        ([LINES[0], *LINES[2:]], "results.csv is damaged in the log"),
        (LINES[:1], "results.csv is damaged in the log"),
        ([LINES[0], LINES[1].replace("2.5", "2.6"), *LINES[2:]], "results.csv is damaged in the log"),
        (["|= ../../evil.csv 2 00000000", *LINES], "belongs to no table"),
        ([*LINES[:3], *LINES], "belongs to no table"),
        (framed(TABLES, count=3), "the log contains 2 of 3 tables"),
        (["|= results.csv 999999999 00000000", "|x"], "results.csv is damaged in the log"),
    ],
)
def test_what_is_not_whole_is_refused(lines, reason):
    with pytest.raises(LogError, match=reason):
        read_tables(log_of(lines), NAMES)


def test_a_log_that_is_too_large_is_not_read(monkeypatch):
    monkeypatch.setattr(pod_log, "MAX_LOG_BYTES", 1 << 20)
    with pytest.raises(LogError, match="larger than 1 MiB"):
        read_tables(log_of(LINES) + "x" * (1 << 20), NAMES)


def test_the_last_complaint_is_no_warning():
    log = "logdisk: first\nlogdisk: no space\nlogdisk: warning: nobody minds\n2 of 2 steps measured\n"
    assert (last_complaint(log), last_complaint("fine\n")) == ("no space", "")
