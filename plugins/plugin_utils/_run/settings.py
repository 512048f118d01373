# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The catalogue of settings that are checked beside a measurement or a test, and how the settings of a host compare
with it. docs/settings.md describes the keys of an entry.

An outcome is a dict with ``id``, ``title``, ``subject`` (a disk, a queue manager or a host, or empty), ``value`` (empty
if it is not set, None if it could not be read), ``expected``, ``verdict`` (pass, warn or fail; None if the value is
only noted or could not be read) and ``waiver``, the reason why it was waived, or None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...module_utils._settings import LONGEST_VALUE, MOST_VALUES, applies
from .definitions import DefinitionError, read_mapping, read_sequence, read_text, read_yaml, shown
from .kinds import DEFAULT, KINDS
from .shapes import Facts
from .table_reader import printable
from .verdicts import FAIL, PASS, WARN

CATALOGUE = Path(__file__).parents[3] / "roles/workspace/files/settings.yml"
SETTINGS = "settings"
"""The fact that holds what the host read, as JSON: for each id, pairs of a subject and a value."""
NOTE = "note"
ALIKE, UNLIKE = "alike", "unlike"
NOTED, NOT_READ = "noted", "not read"
"""The results of checks without a verdict."""
SETTING_RESULTS = (FAIL, WARN, NOTED, NOT_READ, PASS)
"""The results of checks, the worst first."""

Outcome = dict[str, Any]
_ON_HOST = ("file", "entries", "command", "mount_of", "kernel", "ini", "queue_manager")
_ON_CONTROLLER = ("fact", "mount_option")
_CHECKS = ("match", "not_match", "least", "most", "pair", "unless")
_TEXTS = ("title", "expected", "source", "consequence", "next_step")
_KEYS = ("id", *_TEXTS, "severity", "when", "read", "check", "who")
_ID = re.compile(r"SET-[0-9]{3}\Z")
_NUMBER = re.compile(r"[0-9]{1,18}(\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """An entry of the catalogue. ``severity`` holds, for each kind of run that checks it, fail, warn or note."""

    id: str
    title: str
    expected: str
    source: str
    consequence: str
    next_step: str
    severity: Mapping[str, str]
    when: Mapping[str, list[str]]
    read: Mapping[str, Any]
    check: Mapping[str, Any]
    who: tuple[str, ...]

    def values(self, facts: Facts, read: Mapping[str, Any]) -> list[tuple[str, str | None]]:
        """Return the values on a host, each with its subject; none if the setting does not apply to it. ``read`` holds
        what the host read, by id."""
        if not applies(self.when, facts):
            return []
        if "mount_option" in self.read:
            return [("", _mount_option(facts, self.read["mount_option"]))]
        if "fact" in self.read:
            known = [facts.get(name) for name in self.read["fact"]]
            return [("", ":".join(map(str, known)))] if all(each not in (None, "") for each in known) else []
        return _pairs(read.get(self.id))

    def is_right(self, value: str) -> bool:
        """Return whether a value is as expected. A text where a number is expected is not."""
        check = self.check
        if "match" in check:
            return re.fullmatch(check["match"], value, re.IGNORECASE) is not None
        if "not_match" in check:
            return re.fullmatch(check["not_match"], value, re.IGNORECASE) is None
        number = _NUMBER.match(value)
        least, most = check.get("least", 0), check.get("most", float("inf"))
        return number is not None and least <= float(number[0]) <= most

    def outcome(self, kind: str, subject: str, value: str | None, is_right: bool) -> Outcome:
        """Return the outcome for a value in a run of a kind."""
        severity = self.severity[kind]
        verdict = None if value is None else PASS if is_right else None if severity == NOTE else severity
        return {
            "id": self.id,
            "title": self.title,
            "subject": subject,
            "value": value,
            "expected": self.expected,
            "verdict": verdict,
            "waiver": None,
        }


@cache
def catalogue() -> Mapping[str, Setting]:
    """Return the settings by id. Raises DefinitionError."""
    return read_catalogue(read_yaml(str(CATALOGUE)))


def read_catalogue(data: Any) -> Mapping[str, Setting]:
    """Return the settings in a catalogue by id. Raises DefinitionError."""
    found = [_read_setting(each, f"settings[{index}]") for index, each in enumerate(read_sequence(data, "settings"))]
    known = {each.id: each for each in found}
    if len(known) < len(found):
        raise DefinitionError("Two settings have the same id.")
    return known


def _read_setting(data: Any, where: str) -> Setting:
    read_mapping(data, where, _KEYS)
    if not _ID.match(str(data.get("id"))):
        raise DefinitionError(f"{where}.id {shown(data.get('id'))} must be SET- and three digits.")
    where = f"settings: {data['id']}"
    severity = read_mapping(data.get("severity"), f"{where}.severity", tuple(KINDS))
    for each in severity.values():
        if each not in (FAIL, WARN, NOTE):
            raise DefinitionError(f"{where}.severity {shown(each)} is not one of {FAIL}, {WARN}, {NOTE}.")
    read = read_mapping(data.get("read"), f"{where}.read", (*_ON_HOST, *_ON_CONTROLLER, "pattern"))
    check = read_mapping(data.get("check"), f"{where}.check", _CHECKS)
    if len({*read} - {"pattern"}) != 1 or not check:
        raise DefinitionError(f"{where} must say in one way how it is read, and how it is checked.")
    for pattern in (read.get("pattern"), check.get("match"), check.get("not_match")):
        try:
            re.compile(pattern or "")
        except (re.error, TypeError):
            raise DefinitionError(f"{where}: {shown(pattern)} is not a regular expression.") from None
    return Setting(
        **{key: read_text(data, key, where) for key in ("id", *_TEXTS)},
        severity=severity,
        when={name: list(words) for name, words in (data.get("when") or {}).items()},
        read=read,
        check=check,
        who=tuple(read_sequence(data.get("who", []), f"{where}.who")),
    )


def read_on_host(kind: str = DEFAULT.name) -> list[dict[str, Any]]:
    """Return what a host has to read for a run of a kind, in the form that the modules take."""
    return [
        {"id": each.id, "when": dict(each.when), "read": dict(each.read)}
        for each in catalogue().values()
        if kind in each.severity and not {*each.read}.isdisjoint(_ON_HOST)
    ]


def outcomes_of(kind: str, facts: Facts) -> list[Outcome]:
    """Return the outcomes of the settings that apply to a host with these facts, in a run of a kind."""
    read = _readings(facts)
    return [
        setting.outcome(kind, subject, value, value is not None and setting.is_right(value))
        for setting in catalogue().values()
        if kind in setting.severity and "pair" not in setting.check
        for subject, value in setting.values(facts, read)
    ]


def outcomes_of_pair(kind: str, settings: Mapping[str, Facts]) -> list[Outcome]:
    """Return the outcomes for two hosts, whose settings are given by name: those of each host, with the host as the
    subject, and those that compare the hosts."""
    of_hosts = [
        {**outcome, "subject": " ".join(filter(None, (host, outcome["subject"])))}
        for host, own in settings.items()
        for outcome in outcomes_of(kind, own)
    ]
    return [*of_hosts, *_compared(kind, settings)]


def _compared(kind: str, settings: Mapping[str, Facts]) -> Iterator[Outcome]:
    one, two = settings.values()
    for setting in catalogue().values():
        wanted, unless = setting.check.get("pair"), setting.check.get("unless")
        if kind not in setting.severity or not wanted or (unless and one.get(unless) and two.get(unless)):
            continue
        values = [value for facts in (one, two) for _subject, value in setting.values(facts, {})]
        if len(values) == 2:
            is_right = (values[0] == values[1]) == (wanted == ALIKE)
            yield setting.outcome(kind, " and ".join(settings), ", ".join(dict.fromkeys(map(str, values))), is_right)


def worst_of_each(outcomes: Iterable[Outcome], verdict: str) -> list[Outcome]:
    """Return, for each setting with a verdict, its first outcome with this verdict and, as ``others``, the number of
    its other ones."""
    found: dict[str, Outcome] = {}
    for each in outcomes:
        if each["verdict"] == verdict:
            found.setdefault(each["id"], {**each, "others": -1})["others"] += 1
    return list(found.values())


def worst_settings(outcomes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the worst outcome of each setting, the worst first: after fail and warn, those that are only noted, those
    that could not be read, and those that are as expected."""
    found: dict[str, Mapping[str, Any]] = {}
    for each in sorted(outcomes, key=lambda each: (_ranks(each), each["id"])):
        found.setdefault(each["id"], each)
    return list(found.values())


def result_of(outcome: Mapping[str, Any]) -> str:
    """Return the result of a check in one or two words."""
    return outcome["verdict"] or (NOT_READ if outcome["value"] is None else NOTED)


def _ranks(outcome: Mapping[str, Any]) -> int:
    return SETTING_RESULTS.index(result_of(outcome))


def _mount_option(facts: Facts, names: Iterable[str]) -> str | None:
    """Return the value of the first of some mount options that is set, or its name if it has no value; empty if none is
    set, and None if the options are not known."""
    options = facts.get("mount_options")
    if not isinstance(options, str):
        return None
    given = {name: value or name for name, _equals, value in (each.partition("=") for each in options.split(","))}
    return next((given[name] for name in names if name in given), "")


def _readings(facts: Facts) -> Mapping[str, Any]:
    """Return what a host read, by id, which is untrusted."""
    try:
        read = json.loads(facts[SETTINGS])
    except (KeyError, TypeError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, Mapping) else {}


def _pairs(pairs: Any) -> list[tuple[str, str | None]]:
    """Return the subjects and values that a host read, which are untrusted."""
    known = [each for each in (pairs if isinstance(pairs, list) else []) if isinstance(each, (list, tuple))]
    return [(_text(each[0]) or "", _text(each[1])) for each in known[:MOST_VALUES] if len(each) == 2]


def _text(value: Any) -> str | None:
    return printable(value)[:LONGEST_VALUE] if isinstance(value, str) else None
