# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calculates how much more load than its target a volume can carry."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...module_utils import _units
from .basis import Basis, Measured
from .commits import mean_commit_wait_ns
from .line import FAST, TEXTS
from .target import Target


class NoHeadroom(Exception):
    """The headroom cannot be determined. The message is a clause that states the reason."""


@dataclass(frozen=True, slots=True)
class Headroom:
    """The load that a volume can carry, compared with the required load. margin is the difference as a share of the
    required load, negative if the volume carries less. measured is true if the commit workload measured it. Otherwise
    it is an estimate, and the reservations apply. wait_ns is the estimated mean wait of a commit at the required rate,
    None if the log cannot keep up with it or there is no estimate.
    """

    target: Target
    carried_per_s: float
    measured: bool
    reservations: tuple[str, ...]
    wait_ns: float | None

    @property
    def margin(self) -> float:
        return self.carried_per_s / self.target.messages_per_s - 1

    @property
    def doubtful(self) -> bool:
        """True if the reservations make the margin unreliable. A limit caused by the processor is not one of them,
        because it is not a fault of the volume."""
        return any(key != FAST for key in self.reservations)

    @property
    def text(self) -> str:
        """The carried and the required load, and their source, as a clause."""
        origin = (
            "measured by the commit workload"
            if self.measured
            else "; ".join(("an estimate", *(TEXTS[key] for key in self.reservations)))
        )
        return f"{_units.format_number(self.carried_per_s)} messages/s carried, {self.target.text} required ({origin})"


def headroom(basis: Basis | None, target: Target | None) -> Headroom:
    """Return the headroom of a volume. Raises NoHeadroom."""
    if target is None:
        raise NoHeadroom("sweep_target does not state what the volume must carry")
    measured: Measured | None = basis.measured.get((target.message_bytes, target.clients)) if basis else None
    if basis is None or (basis.line is None and measured is None):
        raise NoHeadroom(
            f"there is no estimate: {basis.no_line if basis else 'only runs of queue managers alone provide one'}"
        )
    if basis.line is None:
        return Headroom(target, measured.messages_per_s, True, (), None)
    estimate = basis.estimate(target.message_bytes, target.clients)
    carried = measured.messages_per_s if measured else estimate.commits.messages_per_s
    return Headroom(
        target, carried, measured is not None, () if measured else estimate.reservations, _wait_ns(basis, target)
    )


def _wait_ns(basis: Basis, target: Target) -> float | None:
    load = replace(basis.load, message_bytes=target.message_bytes)
    return mean_commit_wait_ns(
        basis.line, load, target.messages_per_s / load.puts_per_commit, basis.variation(load.record_bytes)
    )
