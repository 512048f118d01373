# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Profiles: those of this collection, and every possible mistake in a profile."""

from __future__ import annotations

import copy
import datetime
import glob
import os
import pathlib
from dataclasses import replace
from fractions import Fraction

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import METRICS, ONCE, find_metric
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import Range, Waiver
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.power_cut.criteria import blind_limit_ns
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

GOOD = {
    "name": "mine",
    "version": 3,
    "qualifies": {"min_duration_s": 60, "min_footprint": "3 GiB", "block_sizes": ["4K", "64K"], "confidence": 0.9},
    "limits": [
        {"metric": "latency_p99", "max": "2 ms", "block_size": {"max": "64K"}},
        {"metric": "bytes_per_s", "min": "250 MB/s", "block_size": "1M", "load_point": 4, "severity": "warn"},
    ],
    "waivers": [{"host": "db07", "metric": "latency_p99", "until": "2027-01-31", "reason": "CHG0012345"}],
}


def changed(change):
    profile = copy.deepcopy(GOOD)
    change(profile)
    return profile


def texts(profile):
    return [(limit.text, limit.rows_text, limit.severity, limit.hard) for limit in profile.limits]


@pytest.mark.parametrize(
    ("name", "mean", "p99", "p99_9", "highest", "time_weighted", "rate"),
    [
        ("gold", "500 us", "1 ms", "5 ms", "50 ms", "5 ms", "1,000 MB/s"),
        ("silver", "1 ms", "2 ms", "10 ms", "100 ms", "10 ms", "250 MB/s"),
        ("bronze", "5 ms", "10 ms", "50 ms", "200 ms", "50 ms", "100 MB/s"),
    ],
)
def test_shipped_profiles(name, mean, p99, p99_9, highest, time_weighted, rate):
    profile = load_profile(f"mq-log-{name}", fabricate.PROFILES)
    small = "block size <= 64 KiB"
    assert texts(profile) == [
        (f"latency_mean <= {mean}", small, "fail", False),
        (f"latency_p99 <= {p99}", small, "fail", False),
        (f"latency_p99_9 <= {p99_9}", small, "fail", False),
        (f"latency_max <= {highest}", small, "fail", False),
        (f"latency_time_weighted_p99 <= {time_weighted}", small, "fail", False),
        (f"bytes_per_s >= {rate}", "block size >= 1 MiB", "fail", False),
        ("latency_mean <= 10 ms", "", "fail", True),
        ("latency_max < 10 s", "", "fail", True),
    ]
    assert (profile.min_duration_s, profile.confidence) == (600, 0.95)
    assert (profile.min_footprint_bytes, profile.block_sizes) == (
        1 << 30,
        (4096, 8192, 16384, 32768, 65536, 262144, 1 << 20),
    )
    assert profile.name == f"mq-log-{name}"


def test_what_the_tester_counts_for_a_profile():
    def thresholds(*limits):
        return load_profile({"name": "mine", "limits": list(limits)}).thresholds_ns

    assert load_profile("mq-log-silver", fabricate.PROFILES).thresholds_ns == [2_000_000, 10_000_000]
    asked = [
        {"metric": "latency_p99_9", "max": "9.99 ms"},
        {"metric": "latency_time_weighted_p99", "below": "10 ms"},
        {"metric": "latency_p99", "max": "2 ms", "block_size": "4K"},
        {"metric": "latency_p99", "max": "2 ms", "block_size": "8K"},
        {"metric": "latency_p99", "max": "2 h", "block_size": "16K"},
        {"metric": "latency_p50", "below": "1 ns"},
    ]
    assert thresholds(*asked, {"metric": "latency_max", "max": "7 ms"}, {"metric": "flush_p99", "max": "3 ms"}) == [
        2_000_000,
        9_990_000,
        9_999_999,
    ]
    many = [{"metric": "latency_p99", "max": f"{value} ms", "load_point": value} for value in range(1, 34)]
    assert len(thresholds(*many[1:])) == 32
    with pytest.raises(DefinitionError, match="33 different values, but the tester counts at most 32"):
        thresholds(*many)


def test_the_default_sweep_certifies_by_the_shipped_profiles():
    sweep = yaml.safe_load(
        (pathlib.Path(fabricate.PROFILES).parents[2] / "sweep" / "defaults" / "main.yml").read_text(encoding="utf-8")
    )
    for path in glob.glob(os.path.join(fabricate.PROFILES, "*")):
        profile = load_profile(path)
        assert {_units.parse_size(size) for size in sweep["sweep_block_sizes"]} >= set(profile.block_sizes)
        assert _units.parse_size(sweep["sweep_file_size"]) * sweep["sweep_files"] >= profile.min_footprint_bytes


def test_every_shipped_file_is_a_profile_of_its_name():
    paths = glob.glob(os.path.join(fabricate.PROFILES, "*"))
    assert len(paths) == 12
    for path in paths:
        profile = load_profile(path)
        assert profile.name == os.path.basename(path)[:-4]
        assert all(limit.source for limit in profile.limits)
        for limit in profile.limits:
            choice, dummy, why = limit.source.partition("this project's choice")
            assert choice or len(why) > 40, f"{limit.id} does not say why"


def test_a_look_has_silvers_limits_that_seconds_can_break_and_never_certifies():
    look, silver = (load_profile(name, fabricate.PROFILES) for name in ("look", "mq-log-silver"))
    of_silver = [text for text in texts(silver) if not text[0].startswith(("latency_p99_9", "latency_time_weighted"))]
    assert texts(look) == of_silver
    assert (look.confidence, look.min_duration_s, look.min_footprint_bytes, look.block_sizes) == (None, 0, 0, ())


def test_a_profile_as_plain_data_reads_as_the_same_profile():
    for source in (*(f"mq-log-{name}" for name in ("gold", "silver", "bronze")), "look", "mq-live", GOOD):
        profile = load_profile(source, fabricate.PROFILES)
        assert load_profile(profile.as_dict()) == profile


def test_a_profile_can_ask_for_power_cuts_and_hands_that_on(tmp_path):
    path = tmp_path / "durable.yml"
    path.write_text(yaml.safe_dump({**GOOD, "durability": {"cuts": 10, "blind_ms": 50}}))
    asked = {
        name: load_profile({"name": "x", "extends": str(path), **more})
        for name, more in {"same": {}, "none": {"durability": {"cuts": 0}}}.items()
    }
    sections = [profile.sections.get("durability") for profile in (asked["same"], asked["none"], load_profile(GOOD))]
    assert sections == [{"cuts": 10, "blind_ms": 50}, {"blind_ms": 50}, None]
    assert [blind_limit_ns(section) for section in sections] == [50_000_000, 50_000_000, 1_000_000_000]
    assert asked["same"].as_dict()["durability"] == sections[0]
    assert load_profile(asked["same"].as_dict()) == asked["same"]
    for value, problem in (
        ({"cuts": -1}, "is not a number of power cuts"),
        ({"cuts": True}, "is not a number"),
        ({"cuts": None}, "is not a number"),
        ({}, "must contain cuts or blind_ms"),
        ({"blind_ms": 0}, "must be 1 to"),
        ({"blind_ms": "1 s"}, "must be a number"),
        ({"cut": 1}, "unknown key"),
        (7, "must be"),
    ):
        with pytest.raises(DefinitionError, match=problem):
            load_profile({**GOOD, "durability": value})


def test_only_a_profile_that_says_so_judges_observations():
    assert [load_profile(name, fabricate.PROFILES).sections for name in ("mq-live", "mq-log-silver")] == [
        {"observations": "judged"},
        {},
    ]
    live = load_profile("mq-live", fabricate.PROFILES).as_dict()
    assert load_profile({**live, "observations": "informative"}).sections == {}
    with pytest.raises(DefinitionError, match="observations 'maybe' is not one of judged, informative"):
        load_profile({**GOOD, "observations": "maybe"})


def test_the_hard_limits_belong_to_every_profile_once():
    profile = load_profile(GOOD)
    assert texts(profile)[2:] == [("latency_mean <= 10 ms", "", "fail", True), ("latency_max < 10 s", "", "fail", True)]
    assert profile.stall_limit_ns == 10**10


def test_a_hard_limit_cannot_be_loosened_but_may_be_tightened():
    looser = changed(lambda profile: profile["limits"].append({"metric": "latency_max", "below": "60 s", "hard": True}))
    tighter = changed(lambda profile: profile["limits"].append({"metric": "latency_max", "below": "5 s", "hard": True}))
    narrower = changed(
        lambda profile: profile["limits"].append(
            {"metric": "latency_max", "below": "10 s", "hard": True, "block_size": "4K"}
        )
    )
    assert load_profile(looser).stall_limit_ns == 10**10
    assert load_profile(tighter).stall_limit_ns == 5 * 10**9
    assert ("latency_max < 10 s", "", "fail", True) in texts(load_profile(narrower))


def test_what_a_profile_says():
    profile = load_profile(GOOD)
    assert (profile.name, profile.version, profile.min_duration_s, profile.confidence) == ("mine", 3, 60, 0.9)
    assert (profile.min_footprint_bytes, profile.block_sizes) == (3 << 30, (4096, 65536))
    latency, rate = profile.limits[:2]
    assert (latency.value, latency.bound, latency.block_size, latency.load_point) == (
        2_000_000,
        "max",
        Range(None, 65536),
        None,
    )
    assert (rate.value, rate.bound, rate.block_size, rate.load_point) == (
        250e6,
        "min",
        Range(1 << 20, 1 << 20),
        Range(4, 4),
    )
    assert (latency.rows_text, rate.rows_text) == ("block size <= 64 KiB", "block size 1 MiB, load point 4")
    assert profile.waivers == (Waiver("db07", "latency_p99", datetime.date(2027, 1, 31), "CHG0012345"),)


def test_defaults():
    profile = load_profile({"name": "small", "limits": [{"metric": "operations_per_s", "min": 5000}]})
    assert (profile.version, profile.description, profile.min_duration_s, profile.confidence, profile.waivers) == (
        1,
        "",
        0,
        0.95,
        (),
    )
    assert (profile.min_footprint_bytes, profile.block_sizes) == (0, ())


def test_a_path_and_a_yaml_date(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\nlimits: [{metric: latency_p99, max: 2 ms}]\nwaivers: [{host: a, metric: latency_p99, "
        "until: 2027-01-31, reason: r}]\n"
    )
    assert load_profile(str(path)).waivers[0].until == datetime.date(2027, 1, 31)


def limit(**keys):
    return lambda profile: profile["limits"].__setitem__(0, keys)


def edit(*path, value):
    def change(profile):
        for key in path[:-1]:
            profile = profile[key]
        profile[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit("limit", value=[]), r"unknown key 'limit'.*limits"),
        (edit("name", value=""), "name"),
        (edit("name", value="../x"), "letters"),
        (edit("version", value=1.5), "version"),
        (edit("version", value="a b"), "version"),
        (edit("description", value=[]), "description"),
        (edit("limits", value=[]), "at least one limit"),
        (edit("limits", value=None), "at least one limit"),
        (edit("limits", value={}), "must be a list"),
        (edit("limits", 0, value="latency_p99"), r"limits\[0\] must be a dictionary"),
        (
            edit("limits", 0, "metrics", value="x"),
            (
                r"limits\[0\].*'metrics'.*metric, max, below, min, severity, hard, stream, operation, block_size, "
                r"message_size, load_point, source"
            ),
        ),
        (
            edit("limits", 0, "metric", value="latency_q99"),
            r"'latency_q99' is not one of latency_mean, .*latency_p99_9.*bytes_per_s.*latency_p99_95 is 99.95 %",
        ),
        (
            edit("limits", 0, "metric", value="latency_p100"),
            "nor another percentile from latency_p1 to latency_p99_999999",
        ),
        (edit("limits", 0, "source", value=["x"]), r"limits\[0\] must give source as text"),
        (edit("limits", 0, "min", value="1 ms"), r"exactly one of max, below for latency_p99, not max and min"),
        (limit(metric="latency_p99"), "exactly one of max, below for latency_p99, not none"),
        (limit(metric="bytes_per_s", max="1 MB/s"), "exactly one of min for bytes_per_s, not max"),
        (edit("limits", 0, "max", value="2"), r"limits\[0\].max: '2' is not a duration.*ns, us, ms"),
        (edit("limits", 0, "max", value="0 ms"), "above 0"),
        (edit("limits", 1, "min", value="250 Mb/s"), r"'250 Mb/s' is not a rate.*MB/s"),
        (edit("limits", 0, "severity", value="error"), "'error' is not one of fail, warn"),
        (edit("limits", 0, "hard", value="yes"), "true or false"),
        (lambda profile: profile["limits"][1].update(hard=True), "severity must be fail"),
        (edit("limits", 0, "block_size", value={}), "min, max or both"),
        (edit("limits", 0, "block_size", value={"maximum": 1}), "unknown key 'maximum'"),
        (edit("limits", 0, "block_size", value="64KB"), "not a size"),
        (edit("limits", 0, "block_size", value=0), "at least 1"),
        (edit("limits", 0, "block_size", value={"min": "64K", "max": "4K"}), "min above its max"),
        (edit("limits", 0, "load_point", value="1K"), "not a count"),
        (edit("limits", 0, "load_point", value=0), "at least 1"),
        (edit("qualifies", value=300), "qualifies must be a dictionary"),
        (edit("qualifies", value={"duration": 1}), "unknown key 'duration'.*min_duration_s"),
        (edit("qualifies", "min_duration_s", value="300"), "must be a number"),
        (edit("qualifies", "min_duration_s", value=-1), "0 to"),
        (edit("qualifies", "min_duration_s", value=float("nan")), "0 to"),
        (edit("qualifies", "min_duration_s", value=1e12), "0 to"),
        (edit("qualifies", "confidence", value=95), "below 1"),
        (edit("qualifies", "confidence", value=0.4), "at least 0.5"),
        (edit("qualifies", "confidence", value=True), "must be a number"),
        (edit("qualifies", "confidence", value=None), "or none"),
        (edit("qualifies", "confidence", value=float("nan")), "below 1, or none"),
        (edit("qualifies", "episode_s", value=-1), "qualifies.episode_s -1 must be 0 to"),
        (edit("qualifies", "episode_s", value="2 s"), "qualifies.episode_s '2 s' must be a number"),
        (edit("derived_from", value="mq-log-silver 2"), "derived_from must be a list"),
        (edit("derived_from", value=[2]), "derived_from .* to extend a profile, use extends"),
        (edit("qualifies", "min_footprint", value="1 GB"), r"qualifies.min_footprint: '1 GB' is not a size"),
        (edit("qualifies", "min_footprint", value=0), "qualifies.min_footprint 0 must be at least 1"),
        (edit("qualifies", "block_sizes", value="4K"), "qualifies.block_sizes must be a list"),
        (edit("qualifies", "block_sizes", value=[]), "qualifies.block_sizes must name at least one size"),
        (edit("qualifies", "block_sizes", value=["4K", "8KB"]), r"qualifies.block_sizes\[1\]: '8KB' is not a size"),
        (edit("qualifies", "block_sizes", value=["4K", 4096]), "qualifies.block_sizes names 4 KiB twice"),
        (edit("waivers", 0, "hosts", value="x"), "unknown key 'hosts'.*host, metric, id, owner, until, reason"),
        (edit("waivers", 0, "host", value=""), "host"),
        (edit("waivers", 0, "metric", value="latency"), "'latency' is not one of"),
        (edit("waivers", 0, "until", value="31.1.2027"), r"'31.1.2027' must be a day"),
        (edit("waivers", 0, "until", value="2027-02-30"), "must be a day"),
        (edit("waivers", 0, "until", value=None), "must be a day"),
        (edit("waivers", 0, "until", value=20270131), "must be a day"),
        (edit("waivers", 0, "until", value=datetime.datetime(2027, 1, 31)), "must be a day"),
        (edit("waivers", 0, "until", value="20270131"), "must be a day"),
        (edit("waivers", 0, "reason", value=" "), "reason"),
        (edit("waivers", 0, value="db07"), "must be a dictionary"),
    ],
)
def test_a_wrong_profile(change, message):
    with pytest.raises(DefinitionError, match=message) as error:
        load_profile(changed(change))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "mq-log-platinum",
            "look, mq-live, mq-locks-bronze, mq-locks-gold, mq-locks-silver, mq-log-bronze, mq-log-gold, mq-log-silver",
        ),
        ("", "name, a path or a dictionary"),
        (None, "name, a path"),
        (["x"], "name, a path"),
        ("/no/such/file.yml", "cannot be read: No such file"),
        ("./", "cannot be read"),
        ("..", "no profile"),
    ],
)
def test_a_profile_that_is_not_there(source, message):
    with pytest.raises(DefinitionError, match=message):
        load_profile(source, fabricate.PROFILES)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("limits: [", "not valid YAML"),
        ("- a\n- b", "must be a dictionary"),
        ("", "must be a dictionary"),
        ("name: a\nname: b\nlimits: []", "given twice"),
        ("name: !!python/object/apply:os.system [id]", "not valid YAML"),
        ('name: "\\ud800"\nlimits: []', "mine.yml"),
        ("\x00", "not valid YAML"),
        ("name: a\n" + "#" * (1 << 20), "more than 1048576 bytes"),
        ("name: a\nlimits: [{metric: latency_p99, max: 1 ms, max: 9 ms}]", "'max' is given twice"),
    ],
)
def test_a_broken_file(tmp_path, content, message):
    path = tmp_path / "mine.yml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DefinitionError, match=message) as error:
        load_profile(str(path))
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("keys", "row", "applies"),
    [
        ({}, {}, True),
        ({}, {"worker": 2}, True),
        ({"block_size": "4K"}, {}, True),
        ({"block_size": "8K"}, {}, False),
        ({"block_size": {"min": "4K", "max": "4K"}}, {}, True),
        ({"block_size": {"min": "8K"}}, {}, False),
        ({"block_size": {"max": "2K"}}, {}, False),
        ({"load_point": 4}, {}, True),
        ({"load_point": 1}, {}, False),
        ({"load_point": {"min": 2}}, {}, True),
        ({"metric": "bytes_per_s", "min": "1 MB/s"}, {}, True),
        ({"metric": "bytes_per_s", "min": "1 MB/s"}, {"worker": 2}, False),
    ],
)
def test_rows_that_a_limit_judges(keys, row, applies):
    keys = {"metric": "latency_p99", "max": "1 ms", **keys} if "metric" not in keys else keys
    first = load_profile({"name": "x", "limits": [keys]}).limits[0]
    assert first.applies_to({"block_size_bytes": 4096, "load_point": 4, "worker": "all", **row}) is applies


def test_every_metric_can_be_limited():
    written = {"ns": "1 ms", "bytes/s": "1 MB/s", "operations/s": 10, "ratio": "10 %", "margin": "10 %", "number": 2}
    for name, metric in METRICS.items():
        profile = load_profile({"name": "x", "limits": [{"metric": name, metric.bound: written[metric.kind.unit]}]})
        assert profile.limits[0].text.startswith(f"{name} ")
        assert metric.scope in ONCE or metric.figure or metric.column in fabricate.RESULT_COLUMNS


@pytest.mark.parametrize(
    ("name", "share", "method"),
    [
        ("latency_p99", Fraction(1, 100), "share of operations"),
        ("latency_p99_9", Fraction(1, 1000), "share of operations"),
        ("latency_p99_95", Fraction(5, 10000), "share of operations"),
        ("latency_p99_999999", Fraction(1, 10**8), "share of operations"),
        ("latency_time_weighted_p99", Fraction(1, 100), "share of time"),
        ("latency_mean", None, "batch means"),
        ("bytes_per_s", None, "batch means"),
        ("latency_max", None, "as it stands"),
        ("response_p99", Fraction(1, 100), "as it stands"),
        ("response_mean", None, "as it stands"),
    ],
)
def test_what_decides_a_metric(name, share, method):
    metric = find_metric(name)
    assert (metric.name, metric.column.removesuffix("_ns"), metric.allowed_share, metric.method) == (
        name,
        name,
        share,
        method,
    )


@pytest.mark.parametrize(
    "digits",
    ["", "0", "00", "05", "100", "99_90", "99_", "99_0", "0_5", "99_9999999", "99.9", "99_9_9", "99\n", "\u0669"],
)
def test_what_is_not_a_percentile(digits):
    assert find_metric(f"latency_p{digits}") is None
    assert find_metric("latency_time_weighted_p95") is None


def test_a_confidence_of_none_and_covered_episodes():
    profile = load_profile(changed(edit("qualifies", value={"confidence": "none", "episode_s": 2.5})))
    assert (profile.confidence, profile.episode_s) == (None, 2.5)
    assert load_profile(profile.as_dict()) == profile


BASE = {
    "name": "base",
    "version": 7,
    "description": "What all need.",
    "qualifies": {
        "min_duration_s": 600,
        "min_footprint": "1 GiB",
        "block_sizes": ["4K"],
        "confidence": 0.9,
        "episode_s": 1,
    },
    "limits": [
        {"metric": "latency_p99", "max": "2 ms", "block_size": {"max": "64K"}},
        {"metric": "latency_p99", "max": "4 ms", "block_size": {"max": "64K"}, "load_point": 4},
        {"metric": "latency_max", "max": "100 ms", "source": "a book"},
    ],
    "waivers": [{"host": "a", "metric": "latency_p99", "until": "2027-01-31", "reason": "r"}],
}


def extended(tmp_path, **keys):
    (tmp_path / "base.yml").write_text(yaml.safe_dump(BASE))
    path = tmp_path / "mine.yml"
    path.write_text(yaml.safe_dump({"name": "mine", "extends": "base.yml", **keys}))
    return load_profile(str(path), fabricate.PROFILES)


def test_a_profile_that_only_extends_another_is_that_profile_under_its_own_name(tmp_path):
    base, profile = load_profile(BASE), extended(tmp_path)
    assert profile == replace(base, name="mine", version=1, description="", derived_from=("base 7",))


def test_an_extended_profile_without_its_base_reads_as_the_same_profile(tmp_path):
    profile = extended(tmp_path, limits=[{"metric": "latency_cv", "max": 2, "severity": "warn"}])
    plain = profile.as_dict()
    assert load_profile(plain) == profile
    assert (plain["derived_from"], "extends" in plain) == (["base 7"], False)


def test_a_policy_of_qualification_replaces_its_bases_key_by_key(tmp_path):
    profile = extended(tmp_path, qualifies={"min_duration_s": 60, "block_sizes": ["8K", "16K"], "confidence": "none"})
    assert (profile.min_duration_s, profile.min_footprint_bytes, profile.block_sizes) == (60, 1 << 30, (8192, 16384))
    assert (profile.confidence, profile.episode_s) == (None, 1)


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        ({"metric": "latency_p99", "below": "9 ms", "block_size": {"max": 65536}, "severity": "warn"}, [4_000_000]),
        ({"metric": "latency_p99", "max": "9 ms"}, [2_000_000, 4_000_000]),
        (
            {"metric": "latency_p99", "max": "9 ms", "block_size": {"max": "64K"}, "load_point": {"min": 4, "max": 4}},
            [2_000_000],
        ),
        ({"metric": "latency_p99", "max": "9 ms", "block_size": {"max": "64K"}, "hard": True}, [2_000_000, 4_000_000]),
        ({"metric": "latency_p99_9", "max": "9 ms", "block_size": {"max": "64K"}}, [2_000_000, 4_000_000]),
    ],
)
def test_a_limit_replaces_those_of_the_base_that_judge_the_same(tmp_path, limit, kept):
    profile = extended(tmp_path, limits=[limit])
    assert profile.limits[0].value == 9_000_000
    assert [each.value for each in profile.limits[1:] if each.metric.name == "latency_p99"] == kept
    assert [each.text for each in profile.limits[-3:]] == [
        "latency_max <= 100 ms",
        "latency_mean <= 10 ms",
        "latency_max < 10 s",
    ]


def test_a_base_does_not_loosen_a_hard_limit(tmp_path):
    profile = extended(tmp_path, limits=[{"metric": "latency_mean", "max": "20 ms", "hard": True}])
    assert [limit.value for limit in profile.limits if limit.hard and limit.metric.name == "latency_mean"] == [
        20_000_000,
        10_000_000,
    ]


def test_a_waiver_replaces_that_of_the_base_for_the_same_host_and_metric(tmp_path):
    profile = extended(tmp_path, waivers=[waiver("a", "2027-02-28"), waiver("b", "2027-03-31")])
    assert [(each.host, each.until.isoformat()) for each in profile.waivers] == [
        ("a", "2027-02-28"),
        ("b", "2027-03-31"),
    ]
    profile = extended(tmp_path, waivers=[waiver("a", "2027-02-28", metric="latency_max")])
    assert [(each.metric, each.until.isoformat()) for each in profile.waivers] == [
        ("latency_max", "2027-02-28"),
        ("latency_p99", "2027-01-31"),
    ]


def waiver(host, until, metric="latency_p99"):
    return {"host": host, "metric": metric, "until": until, "reason": "r"}


def test_what_a_dictionary_and_a_shipped_name_extend(tmp_path):
    (tmp_path / "base.yml").write_text(yaml.safe_dump({"name": "base", "version": "b", "extends": "mq-log-silver"}))
    profile = load_profile({"name": "mine", "extends": str(tmp_path / "base.yml")}, fabricate.PROFILES)
    silver = load_profile("mq-log-silver", fabricate.PROFILES)
    assert (profile.limits, profile.derived_from) == (silver.limits, ("base b", f"mq-log-silver {silver.version}"))


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"a": "a.yml"}, r"a.yml: extends 'a.yml' leads back to .*a.yml"),
        ({"a": "b.yml", "b": "../{directory}/a.yml"}, r"a.yml: .*b.yml: extends .* leads back to .*a.yml"),
        ({"a": "no.yml"}, r"a.yml: .*no.yml: The file cannot be read"),
        ({"a": "gold"}, r"a.yml: There is no profile 'gold': use .*mq-log-gold"),
        ({"a": None}, "must give extends as text"),
        (
            {chr(97 + number): f"{chr(98 + number)}.yml" for number in range(12)},
            "makes the chain of profiles too long: a profile can have at most 8 profiles above it",
        ),
    ],
)
def test_what_cannot_be_extended(tmp_path, contents, message):
    for name, extends in contents.items():
        written = {
            "name": name,
            "extends": extends.format(directory=tmp_path.name) if extends else None,
            "limits": BASE["limits"],
        }
        (tmp_path / f"{name}.yml").write_text(yaml.safe_dump(written))
    with pytest.raises(DefinitionError, match=message) as error:
        load_profile(str(tmp_path / "a.yml"), fabricate.PROFILES)
    assert "\n" not in str(error.value)
