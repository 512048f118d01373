# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds variable names that are almost the names of options, and the names that were probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from .table import OF_COMMANDS, OF_PLAYBOOKS, known_names, options, settable_names

ACCEPTED = "logdisk_accept_names"
"""The option that lists intentional names."""
LONG_NAME = 10
"""Names of at least this length may have two wrong letters."""
OF_AWX = ("awx_", "tower_")
"""Prefixes of the extra variables that AWX itself adds to each job."""
SET_UP_AWX = "awx_setup_"
MORE_PREFIXES = ("certify_", "logdisk_")
"""Prefixes of this collection's variables in addition to those of roles. Other prefixes, such as history_ and report_,
are too common."""


def meant_by(name: str) -> str:
    """Return the known name that the user of the given name probably meant; empty if the given name is known itself, or
    if it is not similar to any known name.

    One letter may be wrong, missing, superfluous or swapped with its neighbour, and two letters in names of LONG_NAME
    letters or more.
    """
    if name in known_names() or (name.startswith(OF_AWX) and not name.startswith(SET_UP_AWX)):
        return ""
    text = name.lower()
    candidates = {each for shorter in _without_letters(text) for each in _by_remains().get(shorter, ())}
    near = [(distance(text, each), each) for each in candidates]
    return min(((wrong, each) for wrong, each in near if wrong <= _most_wrong(each)), default=(0, ""))[1]


def refusals(names: Iterable[str], accepted: Iterable[str], read: Iterable[str] = ()) -> list[str]:
    """Return a sentence for each extra variable whose name is almost the name of an option, or that begins like the
    variables of the command. ``read`` are the names that the command reads. Without the variable that was meant, a
    command such as stop.yml would apply to every run."""
    found = []
    for name in sorted(set(names) - set(accepted)):
        meant, own = meant_by(name), [] if name in known_names() else _of_command(name, read)
        if meant or own:
            verb = "is" if len(own) == 1 else "are"
            said = f"{meant} was probably meant" if meant else f"{', '.join(own)} {verb} read"
            found.append(
                f"{name} is not an option: {said}. Correct the name of this extra variable, or list it in {ACCEPTED}"
            )
    return found


def _of_command(name: str, read: Iterable[str]) -> list[str]:
    """Return the variables of playbooks that begin with the same word as the given name, if the command reads one of
    them. Every command reads certify_hosts."""
    word = name.partition("_")[0] + "_"
    of_playbooks = sorted(each for each in (*OF_PLAYBOOKS, *OF_COMMANDS) if each.startswith(word))
    return of_playbooks if {"certify_hosts", *read}.intersection(of_playbooks) else []


def warnings(users: Mapping[str, list[str]], accepted: Iterable[str]) -> dict[str, list[str]]:
    """Return a sentence for each name that is almost the name of an option, or that begins like the name of an option.
    Each sentence is returned with the ``users`` of the name, which are the hosts that have a variable of this name."""
    found = {}
    for name in sorted(set(users) - set(accepted) - known_names()):
        meant = meant_by(name)
        if meant:
            found[f"{name} is not an option, {meant} was probably meant"] = users[name]
        elif name.startswith(_prefixes()):
            found[f"{name} is not an option of this collection; list it in {ACCEPTED} if it is yours"] = users[name]
    return found


def distance(one: str, other: str) -> int:
    """Return how many letters must be changed, added, removed or swapped with their neighbour to turn one string into
    the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        earlier, before, row = before, row, [i]
        for j, its in enumerate(other, start=1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                least = min(least, earlier[j - 2] + 1)
            row.append(least)
    return row[-1]


def _most_wrong(name: str) -> int:
    return 2 if len(name) >= LONG_NAME else 1


def _without_letters(text: str) -> set[str]:
    """Return every string that results from deleting up to two characters from ``text``. Similar names have at least
    one such string in common."""
    once = {text, *(text[:i] + text[i + 1 :] for i in range(len(text)))}
    return once | {each[:i] + each[i + 1 :] for each in once for i in range(len(each))}


@cache
def _by_remains() -> dict[str, list[str]]:
    """Return the candidate names by the strings that result from deleting up to two of their characters. With this
    index, a name has to be compared with only a few candidates."""
    found: dict[str, list[str]] = {}
    for name in settable_names():
        for shorter in _without_letters(name):
            found.setdefault(shorter, []).append(name)
    return found


@cache
def _prefixes() -> tuple[str, ...]:
    return (*{name.partition("_")[0] + "_" for name in options()}, *MORE_PREFIXES)
