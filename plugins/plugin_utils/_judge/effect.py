# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What decides about a volume, and what was only tried. The history and merging use this definition."""

from __future__ import annotations

from dataclasses import dataclass

from .._run.record import HostRecord
from .._run.verdicts import FAIL, GOOD, INCONCLUSIVE

CERTIFIES = "certifies"
FAILS = "fails"
ATTEMPT = "attempt"
"""The effect of a judgement on the validity of the volume: validity begins, ends, or does not change."""
EFFECTS = (CERTIFIES, FAILS, ATTEMPT)


def effect_of(record: HostRecord) -> str:
    """Return the effect of a record on the validity of its volume."""
    if record.verdict == FAIL:
        return FAILS
    return CERTIFIES if record.verdict in GOOD and record.certified else ATTEMPT


@dataclass(frozen=True)
class Standing:
    """How much a result counts against others about the same volume: its verdict, its effect, and whether its profile
    can certify. A quick look cannot."""

    verdict: str
    effect: str
    can_certify: bool

    def replaces(self, earlier: Standing) -> bool:
        """Return whether this result is the one that counts from now on, and not an earlier one.

        A result that decides replaces every other one. A result that decides nothing replaces only what it does not
        make look better: a pass that does not certify never replaces a failure, an inconclusive measurement or a
        certificate, and a host that was not measured does not hide a failure or an inconclusive measurement. A quick
        look does not replace a result of a run that was made in order to certify.
        """
        if self.effect != ATTEMPT:
            return True
        if earlier.can_certify and not self.can_certify:
            return False
        if earlier.verdict in (FAIL, INCONCLUSIVE):
            return self.verdict == earlier.verdict
        return earlier.effect == ATTEMPT or self.verdict not in GOOD
