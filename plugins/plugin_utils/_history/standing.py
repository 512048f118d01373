# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which fact about a volume still holds: an I/O error, a stall or wrong data. The profile that judged the
volume does not matter.

Such a fact is cleared by a later run that can find it and that certified the volume, under any profile. Wrong data is
cleared only by a run that read everything back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .._judge.effect import CERTIFIES
from .._run.findings import VOLUME_FACTS, WRONG_DATA
from .certificate import Entry


def standing_fact(entries: Iterable[Entry], revoked: Collection[str]) -> Entry | None:
    """Return the newest entry of a volume with a fact that no later entry cleared; None if there is none. Revoked
    entries are ignored."""
    passed = verified = False
    for entry in sorted(entries, key=lambda entry: entry.order, reverse=True):
        if entry.sha256 in revoked:
            continue
        for fact in entry.volume_facts.split():
            if not (verified if fact == WRONG_DATA else passed):
                return entry
        if entry.effect == CERTIFIES:
            passed, verified = True, verified or bool(entry.verified)
    return None


def standing_facts_text(entry: Entry) -> str:
    """Describe a fact about a volume, with the day and the run. docs/certificates.md explains how such a fact is
    cleared."""
    words = " and ".join(VOLUME_FACTS[fact] for fact in entry.volume_facts.split())
    return f"{words} on {entry.judged_at[:10]} (run {entry.run_id})"
