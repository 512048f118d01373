# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The output of IBM's mqldt with --csvFile, also after editors and spreadsheets have changed it, and everything that
must be refused."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.mqldt import csv_reader
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.mqldt.csv_reader import MqldtError, parse_mqldt
from hypothesis import given
from hypothesis import strategies as st

LATENCIES = (
    "Max latency of write (ns),Min latency of write (ns),Avg latency of write (ns),Min bytes/sec (slowest "
    "write),Max bytes/sec (fastest write)"
)
TITLES = (
    "Blocksize,Total writes to files,Total bytes written to files,Max bytes/sec written to files (over 1 sec interval),"
    f"Min bytes/sec written to files (over 1 sec interval),Avg bytes/sec written to files,{LATENCIES}"
)
OF_SEVERAL = (
    "Blocksize,Total writes to files,Total bytes written to files,Max bytes/sec written to files by a "
    "single qm (over 1 sec interval),"
    "Min bytes/sec written to files by a single qm (over 1 sec interval),Avg bytes/sec written to files by "
    f"all queue managers,{LATENCIES}"
)
OF_FIRST_VERSION = (
    "Blocksize,Total bytes written to files,Max bytes/sec written to files,Min bytes/sec written to "
    "files,Avg bytes/sec written to files,"
    "Max latency of write (ns),Min latency of write (ns),Avg latency of write (ns)"
)
ROW = "4096,25311,103673856,36048896,33797184,34558314,724878,56458,112402,5650606,72549504"
ROW_16K = "16384,25990,425820160,147554304,135266304,141940053,813673,61287,109346,20135852,267332384"
ROW_OF_FIRST_VERSION = "4096,103673856,36048896,33797184,34558314,724878,56458,112402"


def file_of(*lines, end="\n"):
    return "".join(line + end for line in lines).encode()


def several(count, row=ROW):
    return f"Running MQLDT over {count} Queue Managers", OF_SEVERAL, row


PLAIN = file_of(TITLES, ROW, ROW_16K)


def shape(content):
    """Return the first line, the queue managers and the block sizes of each run."""
    return [(run.line, run.queue_managers, list(run.rows)) for run in parse_mqldt(content)]


def test_the_figures_are_known_by_their_titles():
    (run,) = parse_mqldt(PLAIN)
    row = run.rows[4096]
    assert (row[csv_reader.WRITES], row[csv_reader.BYTES], row[csv_reader.THROUGHPUT]) == (25311, 103673856, 34558314)
    assert (row[csv_reader.SECOND_MIN], row[csv_reader.SECOND_MAX]) == (33797184, 36048896)
    assert (row[csv_reader.LATENCY_MIN], row[csv_reader.LATENCY_MAX], row[csv_reader.LATENCY_MEAN]) == (
        56458,
        724878,
        112402,
    )


@pytest.mark.parametrize(
    "content",
    [
        file_of(TITLES, ROW, ROW_16K, end="\r\n"),
        file_of(TITLES, ROW, ROW_16K, end="\r"),
        PLAIN[:-1],
        b"\xef\xbb\xbf" + PLAIN,
        file_of(TITLES + ",,", ROW + ",", ROW_16K + ",, ,"),
        file_of(TITLES.replace(",", ", "), f" {ROW}\t", ROW_16K),
        file_of(TITLES, ROW_16K, ROW),
    ],
)
def test_what_editors_and_spreadsheets_add_does_not_matter(content):
    (run,), (plain,) = parse_mqldt(content), parse_mqldt(PLAIN)
    assert run == plain


@pytest.mark.parametrize(
    "content, expected",
    [
        (PLAIN, [(2, 1, [4096, 16384])]),
        (file_of("", ",,", TITLES, "", ROW, "\t"), [(5, 1, [4096])]),
        (PLAIN + PLAIN, [(2, 1, [4096, 16384]), (5, 1, [4096, 16384])]),
        (PLAIN + b"\xef\xbb\xbf" + PLAIN, [(2, 1, [4096, 16384]), (5, 1, [4096, 16384])]),
        (file_of(TITLES, ROW, ROW_16K, ROW, ROW_16K), [(2, 1, [4096, 16384]), (4, 1, [4096, 16384])]),
        (file_of(TITLES, ROW, TITLES, ROW_16K), [(2, 1, [4096]), (4, 1, [16384])]),
        (file_of(*several(2), *several(10)), [(3, 2, [4096]), (6, 10, [4096])]),
        (file_of("Running MQLDT over 4 Queue Managers,,,,", OF_SEVERAL, ROW), [(3, 4, [4096])]),
        (file_of(TITLES, ROW, *several(3), TITLES, ROW), [(2, 1, [4096]), (5, 3, [4096]), (7, 1, [4096])]),
        # A run that ended before its first result.
        (file_of(*several(2)[:2], *several(3), TITLES), [(5, 3, [4096])]),
        (file_of(OF_FIRST_VERSION, ROW_OF_FIRST_VERSION), [(2, 1, [4096])]),
    ],
)
def test_runs(content, expected):
    assert shape(content) == expected


def test_the_first_version_did_not_count_writes():
    (run,) = parse_mqldt(file_of(OF_FIRST_VERSION, ROW_OF_FIRST_VERSION))
    assert run.rows[4096][csv_reader.WRITES] == 25311


def with_field(place, text, row=ROW):
    """Return a file with a different text in one column (counted from 1) of its second row."""
    fields = row.split(",")
    fields[place - 1] = text
    return file_of(TITLES, ROW_16K, ",".join(fields))


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "it contains no result"),
        (b"\n\r\n,,\n", "it contains no result"),
        (file_of(TITLES), "it contains no result"),
        (b"x" * (csv_reader.MAX_BYTES + 1), "more than the"),
        (file_of(ROW), 'line 1, column 1: "4096" comes before any titles'),
        (file_of("key,value"), 'line 1, column 1: "key" comes before any titles'),
        (PLAIN.decode().encode("utf-16"), "line 1, column 1: "),
        (file_of(TITLES.replace(",", ";"), ROW), "line 1, column 1: .* comes before any titles"),
        (
            file_of(TITLES.replace("Min latency", "Min delay"), ROW),
            r'line 1, column 8: "Min delay of write \(ns\)" is not a title',
        ),
        (file_of(TITLES + ",Total writes to files", ROW), 'line 1, column 12: "Total writes to files" repeats'),
        (
            file_of(TITLES.rsplit(",", 3)[0], ROW),
            r'line 1, column 9: the title "Avg latency of write \(ns\)" is missing',
        ),
        (file_of(OF_SEVERAL, ROW), 'line 1, column 4: .* "Running MQLDT over N Queue Managers" before it is missing'),
        (
            file_of("Running MQLDT over 2 Queue Managers", TITLES, ROW),
            "line 2, column 1: these are the titles for one queue manager, .* says 2",
        ),
        (file_of(TITLES, ROW, "Running MQLDT over 2 Queue Managers", ROW), "line 4, column 1: .* before any titles"),
        (file_of("Running MQLDT over 0 Queue Managers", TITLES, ROW), "line 1, column 1: "),
        (file_of(TITLES, ROW_16K, ROW + ",7"), 'line 3, column 12: "7" is beyond the last title'),
        (file_of(TITLES, ROW_16K, ROW[:40]), r'line 3, column 7 \("Max latency of write \(ns\)"\): nothing is there'),
        (file_of(TITLES, ROW_16K, "4096"), r'line 3, column 2 \("Total writes to files"\): nothing is there'),
        (with_field(5, ""), r'line 3, column 5 \("Min bytes/sec .*"\): nothing is there'),
        (
            with_field(9, "112402.5"),
            r'line 3, column 9 \("Avg latency of write \(ns\)"\): "112402.5" is not a whole number',
        ),
        (with_field(9, "112,402"), 'line 3, column 12: "72549504" is beyond'),
        (with_field(9, "112.402"), "line 3, column 9"),
        (with_field(9, "112 402"), "line 3, column 9"),
        (with_field(9, "112\u202f402"), r'"112\\u202f402" is not a whole number'),
        (with_field(3, "1.04E+08"), "line 3, column 3"),
        (with_field(3, '"103673856"'), "line 3, column 3"),
        (with_field(6, "nan"), "line 3, column 6"),
        (with_field(6, "inf"), "line 3, column 6"),
        (with_field(6, "-34558314"), "line 3, column 6"),
        (with_field(11, "-9223372036854775808"), "line 3, column 11"),
        (with_field(6, "9223372036854775808"), "line 3, column 6"),
        (with_field(6, "9" * 5000), r'line 3, column 6 .*: "9{60}\.\.\." is not'),
        (with_field(6, "\u0661\u0662"), "line 3, column 6"),
        (with_field(6, "\x1b[31m1"), r'"\\x1b\[31m1" is not'),
        (with_field(6, "1\x000"), r'"1\\x000" is not'),
        (with_field(1, "0"), r'line 3, column 1 \("Blocksize"\): mqldt never writes 0'),
        (with_field(6, "0"), "line 3, column 6 .* never writes 0"),
        (with_field(8, "0"), "line 3, column 8 .* never writes 0"),
        (with_field(3, "10367385"), "line 3, column 3 .*: 10367385 is not 25311 writes of 4096 bytes"),
        (with_field(8, "7248780"), "line 3, column 8 .*: 7248780 is greater than the maximum, 724878"),
        (with_field(4, "3604889"), "line 3, column 5 .*: 33797184 is greater than the maximum, 3604889"),
        (file_of(TITLES, ROW).replace(b"724878", b"7\xff4878"), 'line 2, column 7 .*: "7\ufffd4878" is not'),
        (
            file_of(OF_FIRST_VERSION, "4096,103673857,36048896,33797184,34558314,724878,56458,112402"),
            "line 2, column 2 .*: 103673857 is not 25311 writes",
        ),
    ],
)
def test_what_mqldt_does_not_write_is_an_error_that_names_the_place(content, words):
    with pytest.raises(MqldtError, match=words) as error:
        parse_mqldt(content)
    assert str(error.value).isprintable() and len(str(error.value)) < 400


PIECES = [
    TITLES,
    OF_SEVERAL,
    OF_FIRST_VERSION,
    ROW,
    ROW_16K,
    ROW_OF_FIRST_VERSION,
    *several(2),
    "\n",
    "\r",
    ",",
    "0",
    "\ufeff",
    "1e9",
    "Blocksize",
]


@given(
    st.one_of(
        st.binary(),
        st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4))).map(
            lambda pieces: "".join(pieces).encode("utf-8", "replace")
        ),
    )
)
def test_any_bytes_are_runs_or_the_declared_error(content):
    try:
        runs = parse_mqldt(content)
    except MqldtError as error:
        assert str(error).isprintable()
    else:
        assert runs and all(run.rows and run.queue_managers > 0 for run in runs)
