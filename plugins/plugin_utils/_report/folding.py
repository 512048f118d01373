# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shortens many names or block sizes to a short text: "db000 to db003, web7 and 12 more", "4 to 64 KiB"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...module_utils._units import format_count
from .._english.phrases import plural
from .._run.words import size_text

SHOWN_NAMES = 4
"""How many names or ranges of names are shown. The rest is only counted."""
LONGEST_NAME = 60
"""How many characters of a host's name are shown in lists of many hosts. The host's own section shows all of them."""

_SHORTEST_RANGE = 3
# IP addresses have no domain.
_DOMAIN = re.compile(r"(?=.*[a-z])(\.[A-Za-z0-9-]{1,63}){1,8}", re.DOTALL)
# The last number in a name, ignoring its domain and volume.
_NUMBERED = re.compile(r"([^./]*?)([0-9]{1,18})([^0-9./]*(?:[./].*)?)\Z", re.DOTALL)


def fold_names(names: Iterable[str]) -> str:
    """Format names in natural order, with consecutive numbers as a range. Names for which there is no room are
    counted."""
    found = sorted(set(names), key=natural)
    domain = common_domain(found)
    groups = _groups([without_domain(name, domain) for name in found])
    shown = [_group_text(group) for group in groups[:SHOWN_NAMES]]
    left = sum(map(len, groups[SHOWN_NAMES:]))
    text = and_list([*shown, f"{format_count(left)} more"] if left else shown)
    return f"{text} in {domain[1:]}" if domain else text


def common_domain(names: Iterable[str]) -> str:
    """Return the common domain of several hosts, such as ".example.com", from their names, which may be followed by a
    volume. The domain is empty if the hosts have none in common."""
    hosts = {name.partition("/")[0] for name in names}
    domains = {host[host.find(".") :] if "." in host[1:] else "" for host in hosts}
    domain = domains.pop() if len(domains) == 1 else ""
    return domain if len(hosts) > 1 and _DOMAIN.fullmatch(domain) else ""


def without_domain(name: str, domain: str) -> str:
    """Return the name of a host without its domain. The name may be followed by a volume."""
    host, slash, volume = name.partition("/")
    return host.removesuffix(domain) + slash + volume


def more_hosts(number: int) -> str:
    """Describe how many hosts are not shown."""
    return f"{plural(number, 'more host')}"


def natural(name: str) -> tuple[str, int, str, str]:
    """Return the sort key for names in natural order: db9 before db10."""
    start, number, end = _parts(name)
    return start, -1 if number is None else number, end, name


def shorten(text: str, longest: int = LONGEST_NAME) -> str:
    """Return text with at most the given number of characters, with an ellipsis if something was cut off."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def brief(text: str, most: int = LONGEST_NAME) -> str:
    """Return the text, cut off after the given number of characters."""
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def and_list(texts: Sequence[str]) -> str:
    """Format a list of texts: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1]))) if texts else ""


def fold_sizes(sizes: Iterable[int | None], measured: Sequence[int | None]) -> str:
    """Format block sizes. Consecutive sizes among the measured ones are written as a range, such as "4 to 64 KiB"."""
    given = {*sizes}
    order, wanted = sorted({*measured, *given} - {None}), sorted(given - {None})
    runs: list[list[int]] = []
    for size in wanted:
        if runs and order.index(size) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(size)
        else:
            runs.append([size])
    texts = [
        text
        for run in runs
        for text in (map(size_text, run) if len(run) < _SHORTEST_RANGE else [_range_text(run[0], run[-1])])
    ]
    return and_list(texts + ([size_text(None)] if None in given else []))


def _range_text(first: int, last: int) -> str:
    texts = size_text(first).split(), size_text(last).split()
    return (
        f"{texts[0][0]} to {' '.join(texts[1])}"
        if texts[0][1:] == texts[1][1:]
        else f"{' '.join(texts[0])} to {' '.join(texts[1])}"
    )


def _parts(name: str) -> tuple[str, int | None, str]:
    match = _NUMBERED.match(name)
    return (match[1], int(match[2]), match[3]) if match else (name, None, "")


def _groups(names: list[str]) -> list[list[str]]:
    """Return names in order; names with consecutive numbers are combined if there are enough of them for a range."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    return [group for run in runs for group in ([run] if len(run) >= _SHORTEST_RANGE else [[name] for name in run])]


def _follows(earlier: str, later: str) -> bool:
    first, second = _NUMBERED.match(earlier), _NUMBERED.match(later)
    if not first or not second or (first[1], first[3]) != (second[1], second[3]):
        return False
    # db9 and db10 are consecutive, and so are db09 and db10, but not db09 and db010.
    return second[2] == str(int(first[2]) + 1).zfill(len(first[2]))


def _group_text(group: list[str]) -> str:
    return shorten(group[0]) if len(group) == 1 else f"{shorten(group[0])} to {shorten(group[-1])}"
