# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cuts a host off from its file server, with the guard of the host."""

from __future__ import annotations

from .._dialogue.guard import Guard
from .step import not_covered, undecided


class GuardedPartition:
    """Cuts ``host`` off from the ``port`` of the ``address`` of a file server. The end of ``guard`` connects the host
    again."""

    def __init__(self, host: str, guard: Guard, address: str, port: int) -> None:
        self._host, self._guard, self._address, self._port = host, guard, address, port

    def cut(self, limit_s: float) -> int:
        """Cut the host off for at most ``limit_s`` seconds, and return the time of the cut by the monotonic clock.
        Raises StepEnd."""
        word, text, at_ns = self._guard.ask(f"cut {self._address} {self._port} {round(limit_s)}")
        if word == "cut":
            return at_ns
        if word in ("no_privilege", "no_nft"):
            raise not_covered(word, host=self._host)
        if self._guard.never_ran():
            raise not_covered("no_privilege", host=self._host, why=text)
        raise undecided("queue_managers" if word == "refused" else "not_cut", host=self._host, why=text)

    def heal(self) -> None:
        """Reconnect the host. Raises StepEnd if the guard does not confirm this."""
        word, text, _at_ns = self._guard.ask("heal")
        if word != "healed":
            raise undecided("not_healed", host=self._host, why=text)
