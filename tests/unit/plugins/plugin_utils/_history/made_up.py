# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes up content of a history for tests and benchmarks: complete certificates from records, entries without a
certificate, and the other results."""

from __future__ import annotations

import dataclasses
import datetime

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import (
    Certificate,
    Entry,
    certificate_of,
    fingerprint,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.result import Result
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import CERTIFIES, FAILS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate, lock_pairs

RUN = {**fabricate.run_data(["db07"]), "run_id": "R1"}
EVERY = " ".join(lock_pairs.OF_HOSTS)
"""The steps of a test of locks."""
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
    mount_point=None,
    **keys,
):
    """Return the entry of a volume that was judged on a day (ISO 8601)."""
    judged = datetime.date.fromisoformat(day)
    until = (judged + datetime.timedelta(days=valid_days)).isoformat() if effect == CERTIFIES else None
    values = {
        "run_id": f"run-{day}",
        "hosts": (host,),
        "volume": volume,
        "path": (volume_id and "/var/mqm/log") or "" if mount_point is None else mount_point,
        "identity": volume_id,
        "judged_at": f"{day}T10:00:00Z",
        "verdict": keys.pop("verdict", VERDICTS.get(effect, "inconclusive")),
        "valid_until": until,
        "data": {
            "effect": effect,
            "profile": profile,
            "boot_id": boot_id,
            "disk_id": volume_id and f"disk of {volume_id}",
            "volume_facts": "",
            "verified": False,
            "can_certify": profile != "look",
            "method_version": 1,
            "parameters": "p1",
            "disturbed": False,
            "limits_verdict": VERDICTS.get(effect, "inconclusive"),
            "outcome": None,
            "baseline": None,
            "accepted": False,
            "closest_limit": None,
        },
    }
    values.update((key, keys.pop(key)) for key in list(keys) if key in values)
    values["data"].update(keys)
    return Entry.of(sha256=fingerprint(values), **values)


def observation(day, ratio=12.04, outcome="slower", host="db07", **keys):
    """Return the result of an observation on a day (ISO 8601)."""
    known = {
        "kind": "observation",
        "run_id": f"seen-{day}",
        "hosts": (host,),
        "volume": "log",
        "path": "/var/mqm/log",
        "judged_at": f"{day}T10:00:00Z",
        "verdict": "",
    }
    data = {
        "disk_id": "disk of v1",
        "queue_manager": "QM1",
        "profile": "mq-log-silver 3",
        "outcome": outcome,
        "ratio": ratio,
        "text": "12 times slower than certified: the volume changed or is shared.",
    }
    return made(known, data, keys, lambda known: fingerprint([host, known["volume"], known["path"]]))


def cuts_of(own, day, verdict="pass", cuts=10, **keys):
    """Return the result of power cuts of the volume of an entry on a day."""
    known = {
        "kind": "durability",
        "sha256": f"{own.host} {day} {verdict}",
        "run_id": f"run-{day}",
        **{key: getattr(own, key) for key in ("hosts", "volume", "path", "identity")},
        "judged_at": f"{day}T00:00:00Z",
        "verdict": verdict,
    }
    data = {"disk_id": own.disk_id, "cuts": cuts, "reason": "cut 1: why", "claim": "", "tests": ""}
    return made(known, data, keys)


def pair_result(day, verdict="pass", failed="", passed=EVERY, until="2026-08-01", first="db01", second="db02", **keys):
    """Return a result of a pair in the history."""
    known = {
        "kind": "locks",
        "sha256": f"{day}{first}{second}{verdict}",
        "run_id": f"run-{day}",
        "hosts": (first, second),
        "volume": "log",
        "path": lock_pairs.DIRECTORY,
        "judged_at": f"{day}T10:00:00Z",
        "verdict": verdict,
        "valid_until": until if verdict in ("pass", "warn") else None,
    }
    data = {
        "server": "10.1.0.9:/mq",
        "profile": "mq-locks-gold 1",
        "takeover_ns": 12 * 10**9,
        "failed_steps": failed.split(),
        "passed_steps": [step for step in passed.split() if step not in failed.split()],
        "text": "takeover 12 s (limit 15 s), 0 late writes",
        "reason": "db02 got the lock while db01 held it" if verdict == "fail" else "",
    }
    return made(known, data, keys)


def planned(host, volume, path, judged_at="2026-05-01T00:00:00Z", run_id="run"):
    """Return the plan to certify a volume."""
    known = {"run_id": run_id, "hosts": (host,), "volume": volume, "path": path, "judged_at": judged_at}
    return Result(kind="plan", sha256=f"{host}{volume}{run_id}", verdict="", chain=host, **known)


def made(known, data, keys, chain=lambda known: ""):
    """Return a result with these fields and this data. The keys replace some of either."""
    values = {**known, **{key: value for key, value in keys.items() if key not in data}}
    values["data"] = {**data, **{key: value for key, value in keys.items() if key in data}}
    return Result(**{"sha256": fingerprint(values), "chain": chain(values), **values})
