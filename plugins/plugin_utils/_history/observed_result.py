# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of the observation of a live queue manager. It never affects the state of a volume."""

from __future__ import annotations

from dataclasses import dataclass

from .dating import Dated


@dataclass(frozen=True)
class ObservedResult(Dated):
    """The result of an observation: how the log writes of a queue manager compared with the certificate of the volume,
    and the verdict if the profile judges observations. Texts are untrusted and printable.

    ``outcome`` is one of those of ``live.py``, and ``text`` says it in a sentence. ``ratio`` is the observed mean
    divided by the certified one, None if there was no comparison. ``verdict`` is empty if the profile does not judge
    observations. ``mount_point`` is empty and ``disk_id`` is None if the volume is unknown.
    """

    sha256: str
    run_id: str
    host: str
    volume: str
    mount_point: str
    disk_id: str | None
    queue_manager: str
    profile: str
    judged_at: str
    verdict: str
    outcome: str
    ratio: float | None
    text: str
