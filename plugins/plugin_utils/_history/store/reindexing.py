# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Migrates the history from schema 3 to schema 4: certificates are indexed by their present contents, and power cuts
by the volume that they tested.

In schema 3, results of power cuts identify their volume by a hash of facts, including its size. A certificate with the
same hash identifies the volume. If there is no such certificate, only the name of the volume is known. The result then
applies to every volume of that name, so that no loss is forgotten.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ..._run.canonical import fingerprint
from ..._run.volume_identity import VolumeIdentity, identity_of
from ..certificate import Certificate, CertificateError, Entry
from ..cut_result import CutResult
from ..dating import column_names

_CUTS_OF_SCHEMA_3 = "sha256, run_id, host, volume, volume_id, judged_at, verdict, cuts, reason, claim, tests"


def read(execute: Callable[[str], Any]) -> tuple[list[Entry], list[CutResult]]:
    """Return the certificates and the results of power cuts in a history with schema 3. ``execute`` executes SQL
    statements in the history. Raises CertificateError."""
    known = {sha256 for (sha256,) in execute("SELECT sha256 FROM logdisk_certificates").fetchall()}
    entries: list[Entry] = []
    identities: dict[str, VolumeIdentity] = {}
    for sha256, text in execute("SELECT sha256, content FROM logdisk_contents"):
        if sha256 not in known:
            continue
        certificate = _certificate(sha256, text)
        entries.append(certificate.entry)
        identity = identity_of(certificate.content.get("identity"))
        if identity:
            identities[str(certificate.content.get("volume_id"))] = identity
    lost = known.difference(entry.sha256 for entry in entries)
    if lost:
        raise CertificateError(f"it contains no certificate under {min(lost)}")
    rows = execute(f"SELECT {_CUTS_OF_SCHEMA_3} FROM logdisk_power_cuts").fetchall()
    return entries, [_placed(CutResult(*row), identities) for row in rows]


def _certificate(sha256: str, text: str) -> Certificate:
    if not text.isascii() or Certificate(text).sha256 != sha256:
        raise CertificateError(f"it contains a changed certificate under {sha256}")
    return Certificate.parse(text.encode("ascii"))


def _placed(result: CutResult, identities: Mapping[str, VolumeIdentity]) -> CutResult:
    """Return a result with the identity of its volume, as shown by the certificates."""
    identity = identities.get(result.volume_id or "")
    found = dataclasses.asdict(identity) if identity else {"volume_id": None, "disk_id": None, "mount_point": None}
    known = {name: getattr(result, name) for name in column_names(CutResult) if name != "sha256"} | found
    return CutResult(sha256=fingerprint(known), **known)
