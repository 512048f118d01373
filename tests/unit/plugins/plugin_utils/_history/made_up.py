# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes up content of a history for tests and benchmarks: complete certificates from records, entries without a
certificate, and results of observations."""

from __future__ import annotations

import dataclasses
import datetime

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import (
    Certificate,
    Entry,
    certificate_of,
    fingerprint,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.observations import ObservedResult
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import CERTIFIES, FAILS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

RUN = {**fabricate.run_data(["db07"]), "run_id": "R1"}
VERDICTS = {CERTIFIES: "pass", FAILS: "fail"}


def certificate(run=RUN, host="db07", files=None, facts=(), **keys):
    """Return the certificate of a measured host, which passes and certifies unless the tables or the keys for its
    record prevent that."""
    files = files or fabricate.tables(over=[])
    record = fabricate.judged(run, host, files)
    known = {
        "machine_id": "a" * 32,
        "boot_id": "boot-1",
        "hostname": host,
        "filesystem_size_bytes": 10**12,
        "device_ids": "naa.1",
        "filesystem_uuid": "u-1",
    }
    record = dataclasses.replace(
        record, **{"run_id": run["run_id"], "facts": {**record.facts, **known, **dict(facts)}, **keys}
    )
    return certificate_of(run, record, parse_tables(files))


def changed(certificate, **fields):
    """Return a copy of a certificate with different values for some fields. With a different volume_id, the copy
    belongs to a different volume."""
    content = {**certificate.content, **fields}
    if "volume_id" in fields:
        content["identity"] = fields["volume_id"] and {
            **(fields.get("identity") or certificate.content["identity"]),
            "machine_id": fields["volume_id"],
        }
    return Certificate.of_content(content)


def entry(
    day,
    effect=CERTIFIES,
    host="db07",
    volume_id="v1",
    boot_id="b1",
    profile="silver",
    volume="log",
    valid_days=90,
    **keys,
):
    """Return the entry of a volume that was judged on a day (ISO 8601)."""
    judged = datetime.date.fromisoformat(day)
    until = (judged + datetime.timedelta(days=valid_days)).isoformat() if effect == CERTIFIES else None
    values = {
        "run_id": f"run-{day}",
        "host": host,
        "volume": volume,
        "volume_id": volume_id,
        "boot_id": boot_id,
        "profile": profile,
        "method_version": 1,
        "effect": effect,
        "verdict": VERDICTS.get(effect, "inconclusive"),
        "disturbed": 0,
        "judged_at": f"{day}T10:00:00Z",
        "valid_from": day if until else None,
        "valid_until": until,
        "parameters": "p1",
        "limits_verdict": VERDICTS.get(effect, "inconclusive"),
        "outcome": None,
        "baseline": None,
        "accepted": 0,
        "disk_id": volume_id and f"disk of {volume_id}",
        "mount_point": volume_id and "/var/mqm/log",
        "can_certify": int(profile != "look"),
        **keys,
    }
    return Entry(sha256=fingerprint(values), **values)


def observation(day, ratio=12.04, outcome="slower", host="db07", **keys):
    """Return the result of an observation on a day (ISO 8601)."""
    known = {
        "run_id": f"seen-{day}",
        "host": host,
        "volume": "log",
        "mount_point": "/var/mqm/log",
        "disk_id": "disk of v1",
        "queue_manager": "QM1",
        "profile": "mq-log-silver 3",
        "judged_at": f"{day}T10:00:00Z",
        "verdict": "",
        "outcome": outcome,
        "ratio": ratio,
        "text": "12 times slower than certified: the volume changed or is shared.",
        **keys,
    }
    return ObservedResult(sha256=fingerprint(known), **known)
