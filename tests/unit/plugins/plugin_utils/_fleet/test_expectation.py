# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.expectation import (
    Expectation,
    ExpectationError,
    check_count,
    check_play,
    check_slices,
    expectation,
    has_controller,
    is_slice,
)

GROUPS = {
    "all": ["a1", "a2", "b1", "b2"],
    "ungrouped": [],
    "A": ["a1", "a2"],
    "B": ["b1", "b2"],
    "two": ["a2", "b2"],
    "empty": [],
}
WITH_LOCALHOST = {**GROUPS, "all": [*GROUPS["all"], "localhost"], "ungrouped": ["localhost"]}


def expect(pattern="all:!localhost", limit=None, groups=GROUPS):
    return expectation(groups, DataLoader(), pattern, limit, named=True)


@pytest.mark.parametrize(
    "pattern, limit, hosts, left_out",
    [
        ("all:!localhost", None, ["a1", "a2", "b1", "b2"], []),
        ("A", None, ["a1", "a2"], []),
        (["A", "b1"], None, ["a1", "a2", "b1"], []),
        ("A:&two", None, ["a2"], []),
        ("a?", "two", ["a2"], ["a1"]),
        ("all:!localhost", "a1,b2", ["a1", "b2"], ["a2", "b1"]),
        ("all", "all:!B", ["a1", "a2"], ["b1", "b2"]),
        ("A", "a1,localhost", ["a1"], ["a2"]),
    ],
)
def test_what_is_expected(pattern, limit, hosts, left_out):
    assert expect(pattern, limit) == Expectation(hosts, left_out)


def test_localhost_is_expected_if_it_is_named_and_in_the_inventory():
    assert expect("localhost", groups=WITH_LOCALHOST).hosts == ["localhost"]
    assert "localhost" not in expect(groups=WITH_LOCALHOST).hosts


@pytest.mark.parametrize(
    "pattern, limit, groups, left_out",
    [
        ("all:!localhost", None, WITH_LOCALHOST, True),
        ("A:localhost:!localhost", None, WITH_LOCALHOST, True),
        ("all:!localhost", "a1", WITH_LOCALHOST, False),
        ("all:!localhost", None, GROUPS, False),
        ("A:!localhost", None, WITH_LOCALHOST, False),
        ("localhost", None, WITH_LOCALHOST, False),
    ],
)
def test_localhost_in_the_inventory_is_not_left_out_silently(pattern, limit, groups, left_out):
    assert expect(pattern, limit, groups).localhost_left_out is left_out


def test_an_inventory_of_localhost_alone_says_how_to_include_it():
    with pytest.raises(ExpectationError, match=r"no host is left: .* To include localhost, .*certify_hosts=all"):
        expect(groups={"all": ["localhost"], "ungrouped": ["localhost"]})


@pytest.mark.parametrize(
    "pattern, limit, said",
    [
        ("a1,typo", None, "certify_hosts names 'typo'"),
        ("all:!typo", None, "certify_hosts names '!typo'"),
        ("all", "a1,typo", "--limit names 'typo'"),
        ("all", "localhost", "no host is left"),
        ("localhost", None, "certify_hosts names 'localhost'"),
        ("empty", None, "certify_hosts names 'empty'"),
        ("A", "B", "no host is left: the inventory, certify_hosts (A) and --limit B"),
        ("all", "@/nowhere.txt", "--limit @/nowhere.txt cannot be read"),
    ],
)
def test_a_term_that_matches_nothing_is_refused(pattern, limit, said):
    with pytest.raises(ExpectationError) as raised:
        expect(pattern, limit)
    assert said in str(raised.value)


@pytest.mark.parametrize("name", ["db 01", "db,1", "a:b", "!a", "&a"])
def test_a_name_that_ansible_reads_as_a_pattern_is_refused(name):
    with pytest.raises(ExpectationError, match="as a pattern for hosts: give the host a name without blanks"):
        expect("all", groups={"all": ["a", "ab", name], "ungrouped": ["a", "ab", name]})


@pytest.mark.parametrize("name", ["db 01", "~x", "@y", "x?", "!a", "web"])
def test_a_name_matters_only_to_a_play_that_names_its_hosts(name):
    groups = {"all": ["a", name], "ungrouped": [], "A": ["a"], "web": ["a"], "B": [name]}
    assert expectation(groups, DataLoader(), "all", None).hosts == sorted(["a", name])
    assert expect("A", groups=groups).hosts == ["a"]


@pytest.mark.parametrize("name", ["@y", "~a", "a?", "a*", "a[1]", "[a]", "h[1:3]", "2001:db8::1"])
def test_a_name_that_ansible_resolves_to_its_host_is_accepted(name):
    groups = {"all": ["a", "ab", name], "ungrouped": ["a", "ab", name]}
    assert expect("all", groups=groups).hosts == sorted(["a", "ab", name])


def test_a_host_with_the_name_of_a_group_of_others_is_refused():
    with pytest.raises(ExpectationError, match="the inventory names 'web', which is both a host and a group"):
        expect("all", groups={"all": ["a", "web"], "ungrouped": [], "web": ["a"]})


def test_a_limit_from_a_file(tmp_path):
    (tmp_path / "retry").write_text("a1\nb1\n\n")
    assert expect("all", f"@{tmp_path}/retry").hosts == ["a1", "b1"]


@pytest.mark.parametrize("count, refused", [(0, False), (2, False), (1, True), (3, True)])
def test_a_demanded_number_of_hosts(count, refused):
    if not refused:
        return check_count(["a", "b"], count)
    with pytest.raises(
        ExpectationError, match=f"gate_expected_count is {count}, but there are 2 hosts to certify: a, b"
    ):
        check_count(["a", "b"], count)


@pytest.mark.parametrize(
    ("groups", "pattern", "limit", "said"),
    [
        ({"a1": ["b1"]}, "a1", None, "certify_hosts names 'a1', which is both a host and a group with other hosts"),
        ({"a1": ["a1", "b1"]}, "all:!a1", None, "certify_hosts names 'a1'"),
        ({"a1": ["b1"]}, "all", "a1", "--limit names 'a1'"),
        ({"a1": ["b1"]}, "all", "b1", ""),
        ({"a1": ["a1"]}, "a1", None, ""),
    ],
)
def test_a_name_that_is_both_a_host_and_a_group_is_refused(groups, pattern, limit, said):
    """Ansible would select only the group, and not the host."""
    if not said:
        assert expect(pattern, limit, {**GROUPS, **groups}).hosts
        return
    with pytest.raises(ExpectationError, match=said):
        expect(pattern, limit, {**GROUPS, **groups})


@pytest.mark.parametrize(
    ("hosts", "play", "said"),
    [(["a"], ["b", "a"], "does not expect b"), (["a", "b"], ["a"], "expects b"), (["a"], ["a"], "")],
)
def test_a_run_expects_the_hosts_of_its_play(hosts, play, said):
    if not said:
        check_play(hosts, play)
        return
    with pytest.raises(ExpectationError, match=f"^gate_hosts {said}, unlike the play"):
        check_play(hosts, play)


SLICE = {"all": ["a1", "b1"], "A": ["a1"], "B": ["b1"], "two": []}
"""The first hosts of GROUPS, as in a slice of the inventory. The groups have the same names."""


@pytest.mark.parametrize(
    "limit, hosts, unmatched",
    [
        ("a1", ["a1"], []),
        ("a1,a2,typo", ["a1"], ["a2", "typo"]),
        ("all:!a2", ["a1", "b1"], ["!a2"]),
        ("!a2", ["a1", "b1"], ["!a2"]),
        ("A:two", ["a1"], ["two"]),
        ("a1,localhost", ["a1"], []),
    ],
)
def test_a_term_of_the_limit_may_match_hosts_of_other_slices(limit, hosts, unmatched):
    found = expectation(SLICE, DataLoader(), "all:!localhost", limit, sliced=True)
    assert (found.hosts, found.unmatched) == (hosts, unmatched)


@pytest.mark.parametrize(
    "pattern, limit", [("all", "a2"), ("all", "a2,b2"), ("all", "A:&two"), ("a2", "a1"), ("all:!typo", "a1")]
)
def test_a_slice_has_hosts_and_certify_hosts_is_no_term_of_the_limit(pattern, limit):
    with pytest.raises(ExpectationError):
        expectation(SLICE, DataLoader(), pattern, limit, sliced=True)


def test_an_inventory_without_hosts_is_reported_as_such():
    with pytest.raises(ExpectationError, match=r"the inventory contains no hosts: name one with -i"):
        expectation({"all": []}, DataLoader(), "all", "")


def test_terms_that_no_slice_matched_are_held_against_the_whole_inventory():
    check_slices(GROUPS, DataLoader(), ["a2", "!b2", "two", "a2"])
    with pytest.raises(
        ExpectationError, match=r"^--limit of a slice names 'typo', which matches no host of the inventory"
    ):
        check_slices(GROUPS, DataLoader(), ["a2", "typo"])


@pytest.mark.parametrize(
    "value, expected", [(True, True), ("true", True), ("", False), (None, False), (False, False), ("no", False)]
)
def test_whether_a_job_is_a_slice(value, expected):
    assert is_slice({"logdisk_sliced": value}) is expected
    assert is_slice({}) is False


def test_a_job_that_may_be_a_slice_is_refused():
    with pytest.raises(ExpectationError, match=r"^logdisk_sliced: 'perhaps' is neither true nor false"):
        is_slice({"logdisk_sliced": "perhaps"})


@pytest.mark.parametrize(
    "limit, expected",
    [(None, True), ("", True), ("a1", False), ("all", False), ("a1,localhost", True), ("all:!A", False)],
)
def test_a_limit_keeps_the_controller_out_unless_it_names_it(limit, expected):
    assert has_controller(GROUPS, DataLoader(), limit) is expected
