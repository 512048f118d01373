# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows the status of a fleet as a self-contained page: which volumes are certified until when, and why the others are
not.

Its content comes from status.json; nothing is decided here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._command_lines import command
from ....module_utils._units import format_count
from ..._english.phrases import plural
from ..._run.environment import as_started
from ..._run.kinds import KINDS
from ..._run.words import days_text, state_text
from ..changes import change_text
from ..charts.marks import expiry_chart, has_bars, lanes
from ..folding import brief, common_domain, without_domain
from ..headroom import closest_text, share_text
from ..page.parts import LONG_TEXT, NAME, NUMBER, TEXT, Column, distinguishing, filled
from ..template import render_page
from .status_section import LONGEST, SIGNS, STATES, StatusSection, state_badge

FILE = "status.html"
MOST_ROWS = 3000
"""The largest number of volumes in the table, the most urgent first; status.json has all."""
SHOWN_NAMES = 200
SHOWN_COMMAND = 10
"""The largest number of hosts that a command names."""
SHOWN_NEXT = 10
OPEN_ITEMS = 10
"""How many items of a list are shown without having to expand it."""
NAMED_AT_ONCE = 3
"""If a reason concerns at most this many volumes, they are shown without having to expand the reason."""
SHOWN_REASONS = 30
SHOWN_CHANGES = 5
LANES = ("failed", "expired", "revoked", "none")
UNMEASURED = "unmeasured"
CURRENT = ("expiring", "valid")


def render_status(
    status: Mapping[str, Any],
    versions: Sequence[str] = (),
    playbooks: str | None = None,
    runs: Collection[str] = (),
    pages: Sequence[tuple[str, str]] = (),
) -> Iterator[str]:
    """Yield the page's text piece by piece.

    ``status`` is the content of status.json. ``versions`` are those of the software that made the page. ``playbooks``
    is the directory of the playbooks, as in the command that was started. ``runs`` are the IDs of runs whose report is
    beside the page. ``pages`` are the names and addresses of other pages."""
    asked = [each for each in status["volumes"] if each["is_asked_for"] and each["is_expected"]]
    certified = sorted(
        (each for each in asked if each["state"] in CURRENT), key=lambda each: (each["days_left"], each["label"])
    )
    counts = Counter(each["state"] for each in asked)
    never = len(status["never_measured"])
    in_lanes = {**{state_text(state): counts[state] for state in LANES}, state_text(UNMEASURED): never}
    states = Counter(status["host_states"].values())
    shown = status["volumes"][:MOST_ROWS]
    domain = common_domain(sorted({each["host"] for each in shown}))
    word = Counter(each["state"] for each in shown)
    found = [kind.view.status_section(status, lambda run_id: _run_link(run_id, runs)) for kind in KINDS.values()]
    sections = [section for section in found if section]
    filters = distinguishing("profile", "Profile", shown, lambda each: str(each["profile"]))
    return render_page(
        "status.html.j2",
        styles=["status.css"],
        footer=f"Status of {status['date']}",
        status=status,
        level="fail" if not status["certified"] else "warn" if states["expiring"] else "pass",
        statement=statement(status),
        figures=figures(asked, certified, domain),
        chart=expiry_chart([each["days_left"] for each in certified], status["expiring_days"], len(asked)),
        lanes=lanes(in_lanes, len(asked) + never),
        in_bars=has_bars(in_lanes),
        host_counts=[(state, states[state]) for state in STATES if states[state]],
        reasons=status["reasons"][:SHOWN_REASONS],
        shown_names=SHOWN_NAMES,
        named_at_once=NAMED_AT_ONCE,
        command_of=lambda each: as_started(_command(each), playbooks),
        soon=[each for each in certified if each["days_left"] < status["expiring_days"]],
        next_ones=certified[:SHOWN_NEXT],
        sections=sections,
        open_items=OPEN_ITEMS,
        wrong_dates=status["wrong_dates"],
        declines=status["declines"],
        domain=domain[1:],
        table=filled(_columns(runs, domain), shown, lambda each: state_text(each["state"]), filters),
        filters=filters,
        counts=[(state_text(state), word[state]) for state in STATES],
        left=max(0, len(status["volumes"]) - MOST_ROWS),
        badge=state_badge,
        shown_name=lambda label: brief(without_domain(label, domain), LONGEST),
        brief=brief,
        days_text=days_text,
        versions=versions,
        links=[*pages, *_parts(status, certified, sections)],
        classes=STATES,
        signs=SIGNS,
        state_text=state_text,
    )


def _parts(
    status: Mapping[str, Any], certified: Collection[Any], sections: Sequence[StatusSection]
) -> list[tuple[str, str]]:
    """Return the existing sections of the page, with their addresses."""
    parts = (
        ("Why, and what to do", "#causes", status["reasons"]),
        ("What expires next", "#next", certified),
        ("Never measured", "#never", status["never_measured"]),
        *((section.title, f"#{section.anchor}", section.items) for section in sections),
        ("Wrong dates", "#dates", status["wrong_dates"]),
        ("Classes that became slower", "#declines", status["declines"]),
        ("All volumes", "#volumes", status["volumes"]),
    )
    return [(name, address) for name, address, content in parts if content]


def statement(status: Mapping[str, Any]) -> str:
    """Return a sentence that states whether the fleet is certified."""
    total = len(status["expected_hosts"])
    if status["certified"]:
        if total == 1:
            return "The host is certified."
        return f"All {format_count(total)} hosts are certified."
    affected = list(dict.fromkeys(host for reason in status["reasons"] for host in reason["hosts"]))
    states = Counter(status["host_states"][host] for host in affected)
    parts = [f"{format_count(states[state])} {state_text(state)}" for state in STATES if states[state]]
    are = "is" if len(affected) == 1 else "are"
    hosts = "host" if total == 1 else "hosts"
    return f"{format_count(len(affected))} of {format_count(total)} {hosts} {are} not certified: {', '.join(parts)}."


def figures(asked: Sequence[Mapping[str, Any]], certified: Sequence[Mapping[str, Any]], domain: str = "") -> str:
    """Describe how many volumes are certified, until when, and which certificate expires next. ``domain`` is that of
    all hosts, which the page shows only once."""
    if not asked:
        return "The history contains no volume of these hosts."
    total = f"{plural(len(asked), 'volume')}"
    if not certified:
        return f"None of {total} is certified."
    first, last = certified[0], certified[-1]
    are = "is" if len(certified) == 1 else "are"
    text = f"{format_count(len(certified))} of {total} {are} certified"
    name, days = brief(without_domain(first["label"], domain), LONGEST), days_text(first["days_left"])
    if len(certified) == 1:
        return f"{text}: {name} until {first['valid_until']} ({days})."
    if first["valid_until"] == last["valid_until"]:
        return f"{text}, all until {first['valid_until']} ({days})."
    return f"{text}, the last until {last['valid_until']}. Next to expire: {name} on {first['valid_until']} ({days})."


def _command(reason: Mapping[str, Any]) -> str:
    """Return the command that certifies the hosts with this reason again. The command is empty if certification does
    not clear the reason, if there are too many hosts to name, or if one of the names contains special characters."""
    hosts = reason["hosts"]
    if reason["playbook"] != "certify":
        return ""
    if len(hosts) > SHOWN_COMMAND or not all(_is_plain(host) for host in hosts):
        return ""
    return command(["ansible-playbook", "playbooks/certify.yml", "--limit", ",".join(hosts)])


def _is_plain(host: str) -> bool:
    return host.isascii() and host[:1].isalnum() and all(each.isalnum() or each in "-_." for each in host)


def _columns(runs: Collection[str], domain: str) -> list[Column[Mapping[str, Any]]]:
    return [
        Column("Volume", NAME, lambda each: _name(each, domain), _place),
        Column("State", TEXT, lambda each: state_badge(each["state"])),
        Column("Days left", NUMBER, _days, _until),
        Column("Limit used", NUMBER, _used, _closest),
        Column("Observed", TEXT, _observed, _observed_when),
        Column("Profile, run", TEXT, lambda each: brief(each["profile"], LONGEST), lambda each: _origin(each, runs)),
        Column("Remarks", LONG_TEXT, _remarks),
    ]


def _name(each: Mapping[str, Any], domain: str) -> str:
    host, label = each["host"], each["label"]
    return brief(
        f"{without_domain(host, domain)}{label.removeprefix(host)}" if label.startswith(host) else label, LONGEST
    )


def _place(each: Mapping[str, Any]) -> str:
    return brief(each["mount_point"] or "", LONGEST) if (each["mount_point"] or "") not in each["label"] else ""


def _origin(each: Mapping[str, Any], runs: Collection[str]) -> Markup | str:
    """Return the run that determines the state, and whether its profile differs from the requested one."""
    run = _run_link(each["run_id"], runs)
    return run if each["is_asked_for"] else Markup(" ").join(filter(None, ("not the requested one", run)))


def _until(each: Mapping[str, Any]) -> str:
    """Return the last day of a certificate that is valid or has expired; empty if something else determines the
    state."""
    return f"until {each['valid_until']}" if each["valid_until"] and each["state"] in (*CURRENT, "expired") else ""


def _days(each: Mapping[str, Any]) -> str:
    return str(each["days_left"]).replace("-", "\u2212") if _until(each) else ""


def _used(each: Mapping[str, Any]) -> str:
    """Return the share of the closest limit that the certificate uses; empty if it is not known."""
    return share_text(each["closest_limit"]["share"]) if each["closest_limit"] else ""


def _closest(each: Mapping[str, Any]) -> str:
    return brief(closest_text(each["closest_limit"]), LONGEST) if each["closest_limit"] else ""


def _observed(each: Mapping[str, Any]) -> str:
    """Return how a live queue manager compared with the certificate when it was last observed, in a few words."""
    return str(each["observation"]["headline"]).removesuffix(" than certified") if each["observation"] else ""


def _observed_when(each: Mapping[str, Any]) -> str:
    return days_text(-each["observation"]["age_days"]) if each["observation"] else ""


def _run_link(run_id: str | None, runs: Collection[str]) -> Markup | str:
    if not run_id:
        return ""
    return Markup('<a href="{0}/index.html">{0}</a>').format(run_id) if run_id in runs else brief(run_id, LONGEST)


def _remarks(each: Mapping[str, Any]) -> Markup:
    """Return details in addition to the state: its reason, a later attempt, clones and changes."""
    texts = [] if each["state"] in CURRENT and not each["attempt"] and not each["clones"] else [each["sentence"]]
    if each["revoked"]:
        texts.append(f"revoked on {each['revoked']['at'][:10]} by {each['revoked']['by']}: {each['revoked']['reason']}")
    if not each["is_expected"]:
        texts.append("the host is not among the expected ones")
    since = each["changed_since"]
    if since and since["changes"]:
        names = [change_text(change, "\u2192") for change in since["changes"][:SHOWN_CHANGES]]
        more = len(since["changes"]) - len(names)
        names += [f"and {more} more"] if more else []
        texts.append(f"changed since {since['judged_at'][:10]}: {', '.join(names)}")
    first, *others = texts or [""]
    return Markup("").join(
        [
            Markup("{}").format(brief(first, 300)),
            *(Markup('<span class="second">{}</span>').format(brief(text, 600)) for text in others),
        ]
    )
