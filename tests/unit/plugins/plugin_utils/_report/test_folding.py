# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists of names and block sizes, shortened to a few words."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.folding import (
    and_list,
    fold_names,
    fold_sizes,
    shorten,
)

KIB = 1024


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["db1"], "db1"),
        (["db2", "db1"], "db1 and db2"),
        (["db003", "db000", "db002", "db001"], "db000 to db003"),
        (["db8", "db10", "db9"], "db8 to db10"),
        (["db98", "db99", "db100"], "db98 to db100"),
        (["db08", "db09", "db010"], "db08, db09 and db010"),
        (["db1", "db3", "db5", "db7", "db9", "db11"], "db1, db3, db5, db7 and 2 more"),
        (["a1.example.com", "a2.example.com", "a3.example.org"], "a1.example.com, a2.example.com and a3.example.org"),
        (["a1.example.com", "a2.example.com", "a3.example.com"], "a1 to a3 in example.com"),
        (["a.example.com", "a.example.com/log2"], "a.example.com and a.example.com/log2"),
        (["a.example.com", "b.example.com/log2"], "a and b/log2 in example.com"),
        (["10.0.0.1", "11.0.0.1"], "10.0.0.1 and 11.0.0.1"),
        (["db1/log2", "db2/log2", "db3/log2"], "db1/log2 to db3/log2"),
        (["db1/log2", "db1/log3", "db1/log4"], "db1/log2, db1/log3 and db1/log4"),
        (["x" * 10_000], "x" * 57 + "..."),
        ([f"db{number}" for number in range(10_000)], "db0 to db9999"),
    ],
)
def test_names_become_a_range_only_if_their_numbers_follow_one_another(names, text):
    assert fold_names(names) == text


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ([4 * KIB], "4 KiB"),
        ([4 * KIB, 8 * KIB], "4 KiB and 8 KiB"),
        ([4 * KIB, 8 * KIB, 64 * KIB], "4 to 64 KiB"),
        ([8 * KIB, 64 * KIB, 1024 * KIB], "8 KiB to 1 MiB"),
        ([4 * KIB, 64 * KIB], "4 KiB and 64 KiB"),
        ([None], "own sizes"),
        ([], ""),
    ],
)
def test_block_sizes_become_a_range_if_all_measured_ones_between_are_meant(sizes, text):
    assert fold_sizes(iter(sizes), [size * KIB for size in (4, 8, 64, 1024)]) == text


def test_a_list_in_words_and_a_text_cut_short():
    assert [and_list(texts) for texts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert (shorten("abcdef", 6), shorten("abcdefg", 6)) == ("abcdef", "abc...")
