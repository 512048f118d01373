# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts are tested together, and which pairs wait for each other."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.pairs import (
    Pair,
    PairsError,
    check_pairs,
    conduct,
    in_turn,
    pairs_of,
)


def plans(partners, groups=None):
    return {
        host: {"lock_test": {"partners": named, "group": (groups or {}).get(host, "")}}
        for host, named in partners.items()
    }


def test_one_host_of_a_pair_is_enough_to_name_it():
    found = pairs_of(plans({"a": [], "b": ["a"], "c": ["d"], "d": ["c"]}), {})
    assert found == [Pair("a", "b", "a", "pair1"), Pair("c", "d", "c", "pair1")]


def test_all_hosts_of_a_group_are_paired_in_the_directory_of_the_first():
    found = pairs_of(plans({"a": [], "b": [], "c": [], "d": ["c"]}, {"a": "qm1", "b": "qm1", "c": "qm1"}), {})
    assert [(pair.first, pair.second, pair.label) for pair in found] == [
        ("a", "b", "pair1"),
        ("a", "c", "pair2"),
        ("b", "c", "pair3"),
        ("c", "d", "pair4"),
    ]
    assert {pair.maker for pair in found} == {"a"}


@pytest.mark.parametrize(
    ("partners", "problem"),
    [
        ({"a": ["a"]}, "names the host itself"),
        ({"a": ["c"], "b": []}, "names c, which is not a host under test"),
    ],
)
def test_what_cannot_be_paired(partners, problem):
    with pytest.raises(PairsError, match=problem):
        check_pairs(plans(partners))
    check_pairs(plans({"a": ["b"], "b": []}))


def test_other_hosts_are_paired_by_their_queue_managers():
    of_qm1, of_qm2 = ("QM1", "/MQHA/log/QM1"), ("QM2", "/MQHA/log/QM2")
    shared = {
        "a": frozenset([of_qm1]),
        "b": frozenset([of_qm1, of_qm2]),
        "c": frozenset([of_qm2, ("QM3", "/var/mqm/log/QM3")]),
        "d": frozenset([("QM1", "/var/mqm/log/QM1")]),
        "e": frozenset([of_qm1]),
    }
    found = pairs_of(plans({"a": [], "b": [], "c": [], "d": [], "e": ["f"], "f": []}), shared)
    assert [pair.hosts for pair in found] == [("a", "b"), ("b", "c"), ("e", "f")]


def test_pairs_with_a_host_or_a_server_in_common_are_tested_in_turn():
    pairs = [Pair(*hosts, "m", "pair1") for hosts in (("a", "b"), ("c", "d"), ("e", "f"), ("b", "g"), ("h", "i"))]
    servers = {"a": "nas1", "b": "nas1", "c": "nas1", "d": "nas1", "e": "nas2", "f": "nas2"}
    assert [[pair.hosts for pair in group] for group in in_turn(pairs, servers)] == [
        [("a", "b"), ("c", "d"), ("b", "g")],
        [("e", "f")],
        [("h", "i")],
    ]


def test_the_results_are_in_the_order_of_the_pairs():
    pairs = [Pair(*hosts, "m", "pair1") for hosts in (("a", "b"), ("c", "d"), ("b", "e"))]
    assert conduct(pairs, {}, lambda pair: {"first": pair.first}) == [{"first": "a"}, {"first": "c"}, {"first": "b"}]
    assert conduct([], {}, lambda pair: {}) == []

    def fails(pair):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        conduct(pairs, {}, fails)
