# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a volume whose locks were tested with those of other hosts."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from ..._judge.limits import Case
from ..._judge.profile import Profile
from ..._judge.settings import judge_settings_of_pair
from ..._records.host import blank, concluded, profile_of
from ..._run.findings import finding
from ..._run.lock_steps import LOCKS, SECOND_REFUSED, Pair
from ..._run.record import HostRecord
from ..._run.shapes import PLAIN, Facts, Run, fits
from ..._run.verdicts import INCONCLUSIVE, worst
from .criteria import IDS, LOCK_UNDECIDED, required_of
from .figures import pair_text
from .judging import NO_PAIR, about_settings, judged, notes_of


def lock_record(
    run: Run,
    host: str,
    volume: str,
    facts: Facts,
    workspace: dict[str, Any],
    locks: Mapping[str, Any],
) -> HostRecord:
    """Return the judged record of a host's locks.

    ``locks`` has ``pairs``: the results of each pair that the host is in (see ``_run/lock_steps.py``), without
    ``verdict`` and ``text``, which are added here. ``facts`` are the facts of the host and of the file system, in the
    same form as in a test; ``workspace`` has ``path``.
    """
    profile, untested = profile_of(run, host), blank(run, host, volume, LOCKS, facts)
    required = required_of(profile)
    day = day_of(run)
    case = Case(untested, None, profile, None, day)
    pairs = locks.get("pairs") or []
    settings = [_judge_settings(pair, profile, day) for pair in pairs]
    tested = [
        (pair, judgements, [*findings, *about_settings(pair, wrong)])
        for pair, (_outcomes, wrong) in zip(map(_usable, pairs), settings, strict=True)
        for judgements, findings in [judged(pair, required, case)]
    ]
    found = [each for _pair, _judgements, findings in tested for each in findings]
    return concluded(
        untested,
        found if tested else [_without_pair(host)],
        [note for pair, _judgements, _findings in tested for note in notes_of(pair, required)],
        [judgement for _pair, judgements, _findings in tested for judgement in judgements],
        workspace=workspace,
        settings=[each for outcomes, _wrong in settings for each in outcomes],
        kind_data={
            "pairs": [
                {
                    **pair,
                    "verdict": worst(each["verdict"] for each in findings),
                    "text": pair_text(pair, required, findings),
                }
                for pair, _judgements, findings in tested
            ],
            "required": required,
        },
    )


def day_of(run: Run) -> datetime.date:
    """Return the day on which a run was opened, for which waivers must be valid."""
    return datetime.date.fromisoformat(str(run["created_at"])[:10])


def _judge_settings(
    pair: Pair, profile: Profile, day: datetime.date
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the outcomes of the settings of a pair, and the findings of those that are wrong. There are none if a host
    could not be reached."""
    known = {str(host): own for host, own in (pair.get("settings") or {}).items() if own}
    return judge_settings_of_pair(LOCKS, known, profile, day) if len(known) == 2 else ([], [])


def _without_pair(host: str) -> dict[str, Any]:
    """Return the finding of a host whose locks were not tested with any other host."""
    at = {"first": host, "second": "", "directory": "", "holder": host, "other": ""}
    return finding(
        LOCK_UNDECIDED, INCONCLUSIVE, step=SECOND_REFUSED, code=NO_PAIR, at=at, limit_id=IDS[LOCK_UNDECIDED, None]
    )


def _usable(pair: Pair) -> dict[str, Any]:
    """Return the results of a pair without figures that are not valid in a record. The results come from hosts, so they
    are untrusted."""
    return {
        **{key: str(pair.get(key) or "") for key in ("first", "second", "directory", "server")},
        "settings": {str(host): _plain(settings) for host, settings in (pair.get("settings") or {}).items()},
        "steps": [
            {
                **{key: str(step.get(key) or "") for key in ("step", "holder", "other", "outcome", "cause")},
                "figures": _plain(step.get("figures") or {}),
            }
            for step in pair.get("steps") or []
        ],
    }


def _plain(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in figures.items() if fits(value, PLAIN)}
