# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page of the fleet's status: what it shows first, and that it contains no more than status.json."""

from __future__ import annotations

import dataclasses
import datetime

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import key_of, status_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.problems import problems_by_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT, FAILS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.status_html import (
    figures,
    render_status,
    statement,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import (
    cuts_of,
    entry,
    observation,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.pages import (
    HARMLESS_TAGS,
    HOSTILE,
    Page,
)

DAY = datetime.date(2026, 6, 1)
TODAY = Today(DAY, 14)
KINDS = 11
"""After this many hosts, the states of made_up() begin again."""
REVOKED, WITHDRAWN = 10, "run-withdrawn"
"""The number of the first host whose certificate is revoked, and the run of such certificates."""


def ago(days):
    return (DAY - datetime.timedelta(days=days)).isoformat()


def made_up(number, host, healthy):
    """Return the entries of a host: one in each state, and then only certified ones if most are healthy."""
    kind = number % KINDS if not healthy or number < KINDS or number % 17 == 0 else 0
    keys = {"host": host, "volume_id": f"v{number}", "profile": "mq-log-gold" if number % 40 > 36 else "mq-log-silver"}
    valid = entry(ago(number * 37 % 75), **keys)
    return {
        1: [entry(ago(3), FAILS, **keys)],
        2: [entry(ago(100), **keys)],
        3: [],
        4: [entry(ago(4), ATTEMPT, **keys)],
        5: [entry(ago(77 + number % 13), **keys)],
        6: [valid, entry(ago(0), FAILS, volume_facts="io_error", **keys)],
        7: [entry(ago(83 + number % 7), **keys)],
        8: [entry(ago(100), **keys), entry(ago(2), ATTEMPT, **keys)],
        REVOKED: [entry(ago(5), run_id=WITHDRAWN, **keys)],
    }.get(kind, [valid])


def status_of(names, healthy=False, unknown=()):
    """Return the content of status.json for hosts in every state, the tenth of which lost writes in power cuts."""
    judged = [each for number, name in enumerate(names) for each in made_up(number, name, healthy)]
    entries = [
        dataclasses.replace(
            each,
            data={**each.data, "closest_limit": closest_to(number * 13 % 100 / 100 + (each.effect == FAILS) * 11)},
        )
        for number, each in enumerate(judged)
    ]
    own = {each.host: each for each in entries}
    cuts = [
        cuts_of(own[name], ago(number % 40), "fail" if number % 40 == 9 else "pass", number + 1)
        for number, name in enumerate(names)
        if name in own and number % 5 == 4 and number < 200
    ]
    revoked = {
        each.sha256: {"at": f"{ago(1)}T09:00:00Z", "by": "ops", "reason": "firmware recalled"}
        for each in entries
        if each.run_id == WITHDRAWN
    }
    lines = fleet_status(entries, revoked, TODAY, cuts)
    expected = [*names, *unknown]
    changed = {
        key_of(line): {
            "certificate": line.entry.sha256,
            "run_id": line.entry.run_id,
            "judged_at": line.entry.judged_at,
            "changes": [{"name": "kernel", "before": "6.1.0-17", "after": "6.12.0-3"}],
        }
        for line in lines[:60:3]
        if line.entry
    }
    seen = [each for number, name in enumerate(names) for each in observations(number, name)]
    problems = problems_by_host(lines, expected, {})
    return status_json(lines, expected, problems, TODAY, revoked, changed, {"observation": seen})


def closest_to(share, **keys):
    """Return the figure of a certificate that uses this share of its limit."""
    known = {"metric": "latency_p99", "bound": "max", "unit": "ns", "limit_value": 2_000_000, "block_size_bytes": 65536}
    return {**known, "value": share * 2e6, "share": share, "load_point": 1, "stream": "log", **keys}


def observations(number, host):
    """Return the observation of every third host, with each outcome and sometimes a verdict."""
    kind = number // 3 % 4
    texts = (
        "As certified (1.1 times the certified latency, which is within what differs from run to run).",
        "12 times slower than certified: the volume changed or is shared.",
        "2.5 times faster than certified: the volume changed, or the load during the test was different.",
        "The history has no certificate of this volume that says how long its log writes take: certify it with "
        "playbooks/certify.yml.",
    )
    result = observation(
        ago(number % 30),
        (1.1, 12.0 + number / 100, 0.4, None)[kind],
        ("alike", "slower", "faster", "unknown")[kind],
        run_id=f"seen-{number % 7}",
        host=host,
        disk_id=None,
        queue_manager=f"QM{number}",
        profile="mq-live 1",
        verdict=("pass", "fail", "", "")[kind],
        text=texts[kind],
    )
    return [result] if number % 3 == 0 else []


def fleet(size, healthy=True):
    return status_of([f"mq{number:04d}.prod.example.com" for number in range(size)], healthy)


def page_of(status, **keys):
    return Page("".join(render_status(status, **keys)))


def cells_of(page, name):
    """Return the cells of a volume by the titles of their columns."""
    titles = next(row for row in page.rows if row[0] == "Volume")
    return dict(zip(titles, next(row for row in page.rows if row[0].startswith(name)), strict=True))


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (status_of(["a"]), "The host is certified."),
        (status_of(["a"], unknown=["b"]), "1 of 2 hosts is not certified: 1 never measured."),
        (
            fleet(20, healthy=False),
            "14 of 20 hosts are not certified: 5 failed, 4 expired, 2 never measured, 2 never certified, 1 revoked.",
        ),
    ],
    ids=["one", "unknown", "every"],
)
def test_the_verdict_says_how_many_hosts_are_not_certified_and_why(status, told):
    assert statement(status) == told


@pytest.mark.parametrize(
    ("volumes", "told"),
    [
        ([], "The history contains no volume of these hosts."),
        ([("a", None)], "None of 1 volume is certified."),
        ([("a", 3)], "1 of 1 volume is certified: a until 2026-06-04 (3 days left)."),
        ([("a", 0), ("b", 0), ("c", None)], "2 of 3 volumes are certified, all until 2026-06-01 (today)."),
        (
            [("a", 1), ("b", 80)],
            "2 of 2 volumes are certified, the last until 2026-08-20. Next to expire: a on 2026-06-02 (1 day left).",
        ),
    ],
)
def test_the_figures_say_until_when_and_who_is_next(volumes, told):
    data = [
        {"label": label, "days_left": days, "valid_until": days is not None and ago(-days)} for label, days in volumes
    ]
    assert figures(data, [each for each in data if each["days_left"] is not None]) == told


def test_each_reason_is_told_once_with_its_hosts_and_what_to_do():
    status = fleet(20, healthy=False)
    assert [(each["state"], each["reason"], len(each["hosts"])) for each in status["reasons"]] == [
        ("failed", "failed mq-log-silver", 2),
        ("failed", "had an I/O error", 2),
        ("failed", "lost acknowledged writes in a power cut", 1),
        ("expired", "the certificate for mq-log-silver expired", 2),
        ("expired", "the certificate for mq-log-silver expired, and the last attempt ended with inconclusive", 2),
        ("unmeasured", "the history does not contain it", 2),
        (
            "none",
            "it has not been certified against mq-log-silver yet, and the last attempt ended with inconclusive",
            2,
        ),
        ("revoked", "the certificate for mq-log-silver was revoked", 1),
    ]
    text = " ".join(page_of(status, playbooks="/opt/books").texts)
    assert all(text.count(f": {each['reason']}\n") == 1 or f": {each['reason']}" in text for each in status["reasons"])
    assert "ansible-playbook /opt/books/certify.yml --limit mq0001.prod.example.com,mq0012.prod.example.com" in text


def test_what_is_unknown_is_empty():
    page = page_of(status_of(["a", "b", "c", "d", "e"], unknown=["never"]))
    cells = [cell for row in page.rows for cell in row]
    assert "never" not in cells and not [cell for cell in cells if "None" in cell]
    # A volume that was never certified has no number of days, no day and no run.
    tried = cells_of(page, "e")
    assert (tried["Days left"], tried["Profile, run"]) == ("\u2013", "mq-log-silver")


def test_a_revoked_certificate_has_its_lane_and_its_remark_says_who_withdrew_it_and_why():
    status = fleet(20, healthy=False)
    text = "".join(render_status(status))
    page = Page(text)
    assert '<span>1 revoked</span><svg class="marks"' in text
    row = cells_of(page, "mq0010")
    assert (row["State"], row["Days left"]) == ("! revoked", "\u2013")
    assert cells_of(page, "mq0000")["Days left"] == "90until 2026-08-30"
    assert row["Remarks"] == ("mq-log-silver of 2026-05-27 was revokedrevoked on 2026-05-31 by ops: firmware recalled")


def test_volumes_are_filtered_by_profile_only_if_there_are_several():
    several, one = ("".join(render_status(fleet(size))) for size in (40, 20))
    assert '<option value="1">mq-log-gold</option><option value="2">mq-log-silver</option>' in several
    assert several.count('data-profile="1"') == 3
    assert "<select" not in one and "data-profile" not in one


def test_observations_are_shown_beside_their_volumes_and_the_slowest_first():
    status = fleet(40)
    assert cells_of(page_of(status), "mq0015")["Observed"] == "12 times slower15 days ago"
    html = "".join(render_status(status, runs={"seen-1"}))
    section = html[html.index('<h2 id="live">') : html.index('<h2 id="volumes">')]
    assert (
        "verdict of mq-live 1: fail; 12 times slower than certified: the volume changed or is shared <span" in section
    )
    assert section.index("QM39<") < section.index("QM27<") < section.index("QM0<")
    assert '<a href="seen-1/index.html">seen-1</a>' in section and "<summary>4 more</summary>" in section
    assert 'href="#live"' in html
    unobserved = "".join(render_status({**status, "observations": []}))
    assert 'id="live"' not in unobserved and 'href="#live"' not in unobserved


@pytest.mark.parametrize(
    ("closest", "shown"),
    [
        (closest_to(0.75), "75 %p99 at 64 KiB: 1.5 ms"),
        (closest_to(0.996), "99.6 %p99 at 64 KiB: 1.99 ms"),
        (closest_to(12), "12 \u00d7p99 at 64 KiB: 24 ms"),
        (
            closest_to(0.8, block_size_bytes=None, stream="database", operation="read", value_at_least=True),
            "80 %p99 of database reads: at least 1.6 ms",
        ),
        (
            closest_to(2, metric="capacity", unit="BSU", value=40, limit_value=80, block_size_bytes=None),
            "2 \u00d7capacity: 40 BSU",
        ),
        (None, ""),
    ],
)
def test_the_closest_limit_is_shown_with_the_share_that_is_used(closest, shown):
    status = fleet(2)
    status["volumes"][0]["closest_limit"] = closest
    cell = cells_of(page_of(status), status["volumes"][0]["host"].partition(".")[0])["Limit used"]
    assert cell == (shown or "\u2013")


def test_runs_and_pages_are_linked_only_if_they_exist():
    status = status_of(["a"])
    (run,) = {each["run_id"] for each in status["volumes"]}
    linked = page_of(status, runs={run}, pages=[("Drift", "drift.html")])
    plain = page_of(status)
    addresses = [{value for tag, name, value in page.attributes if name == "href"} for page in (linked, plain)]
    assert addresses[0] - addresses[1] == {f"{run}/index.html", "drift.html"}


def test_another_profile_than_the_requested_one_is_called_so_beside_its_run():
    status = status_of(["a"])
    status["volumes"][0].update(is_asked_for=False)
    (run,) = {each["run_id"] for each in status["volumes"]}
    assert cells_of(page_of(status, runs={run}), "a")["Profile, run"] == f"mq-log-silvernot the requested one {run}"


def test_hostile_names_are_text():
    page = page_of(status_of(list(HOSTILE), unknown=["<script>x</script>"]))
    assert set(page.tags) <= HARMLESS_TAGS | {"pre", "code"}
    assert not [name for tag, name, value in page.attributes if name.startswith("on") or name == "src"]


@pytest.mark.parametrize("healthy", [True, False])
def test_the_page_of_2000_hosts_takes_less_than_2_mb(healthy):
    page = "".join(render_status(fleet(2000, healthy)))
    assert len(page.encode("utf-8")) < 2_000_000
    assert page.count("<tr data-verdict") > 1700
