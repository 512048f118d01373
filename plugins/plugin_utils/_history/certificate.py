# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The certificate of one judged volume of one run. docs/files.md describes every field.

A certificate depends only on the run directory, so making it again gives the same result. Its text is canonical, and
the SHA-256 of the text is its identity.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._judge.closest_limit import closest_limit
from .._judge.effect import CERTIFIES, EFFECTS, effect_of
from .._run import record as kinds
from .._run import tester_options
from .._run.columns import ALL_WORKERS, KEY_COLUMNS
from .._run.files import canonical, fingerprint
from .._run.findings import VOLUME_FACTS
from .._run.host_settings import can_certify, profile_data, profile_key
from .._run.kinds import DEFAULT
from .._run.moment import MOMENT, is_moment
from .._run.record import HostRecord
from .._run.shapes import Items, Keys, Maybe, Where, check, check_schema
from .._run.table_reader import printable
from .._run.tables import Tables
from .._run.verdicts import WORST_FIRST
from .._run.volume_identity import facts_of_identity, identity_of
from .result import Datum, Result

SCHEMA_VERSION = 1

ENVIRONMENT = (
    "os",
    "kernel",
    "architecture",
    "cpus",
    "memory_bytes",
    "filesystem_type",
    "mount_source",
    "mount_options",
    "device_model",
    "device_member_model",
    "device_firmware",
    "device_driver",
    "device_scheduler",
    "device_write_cache",
    "device_stack",
    "array_settings",
)
"""Facts that are not part of a volume's identity. Changes from one certificate to the next are shown."""

PARAMETERS = tuple(each.key for each in tester_options.ALL if each.compared)
"""Keys of run.csv that describe how the volume was measured. Figures that were measured with other parameters are not
comparable."""

OF_STREAMS = re.compile(r"(?:place|stream)_[0-9]+\Z")
"""The same keys for a run of streams."""
_DIRECTORIES = re.compile(r"dir=[^,]*,?")

FIGURES = (
    "elapsed_ns",
    "operations",
    "bytes_per_s",
    "operations_per_s",
    "interval_bytes_per_s_min",
    "latency_mean_ns",
    "latency_min_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_max_ns",
    "latency_time_weighted_p99_ns",
)
"""The columns of results.csv that a row contains."""

_LARGEST_FIGURE = (1 << 64) - 1
_LARGEST_VERSION = (1 << 31) - 1
"""The types that a database column can hold."""

ROW_KEYS = KEY_COLUMNS[1:-1]
"""Keys that identify a row: those of results.csv, without the number of the step and without the worker, because each
row combines all workers."""

CAPACITY = ("load_unit", "highest_passed", "lowest_not_passed")
"""The keys of the capacity in a certificate."""

_LIMIT_KEYS = (
    "metric",
    "bound",
    "limit_value",
    "value",
    "method",
    "confidence",
    "share",
    "share_bound",
    "value_bound",
    "episode_s",
    "verdict",
)


def _is_fact(value: Any) -> bool:
    return printable(value) == value if isinstance(value, str) else value is None or isinstance(value, int)


_NAME = Where(lambda name: isinstance(name, str) and _is_fact(name))
_NUMBER = Where(lambda number: isinstance(number, (int, float)) and abs(number) <= _LARGEST_FIGURE)
_SCALAR = Where(lambda value: _is_fact(value) or isinstance(value, float))
_TEXTS = ("run_id", "host", "volume", "verdict", "limits_verdict", "judged_at")
_OPTIONAL = ("volume_id", "valid_from", "valid_until")
_SHAPE = Keys(
    {
        **dict.fromkeys(_TEXTS, str),
        **dict.fromkeys(_OPTIONAL, Maybe(str)),
        "profile": Keys({"name": str}),
        "machine": Keys({"boot_id": str}),
        "method_version": Maybe(Where(lambda version: isinstance(version, int) and 0 <= version <= _LARGEST_VERSION)),
        "effect": Where(lambda effect: effect in EFFECTS),
        "disturbances": list,
        "parameters": dict,
        "can_certify": bool,
        "volume_facts": Items(Where(lambda fact: fact in tuple(VOLUME_FACTS))),
        "closest_limit": Maybe(
            Keys(
                {"metric": _NAME, "bound": _NAME, **dict.fromkeys(("limit_value", "value", "share"), _NUMBER)},
                every=_SCALAR,
            )
        ),
        "comparison": Maybe(Keys({"outcome": Maybe(str)}, needed=("outcome",))),
    },
    needed=(*_OPTIONAL, "method_version"),
)
"""The keys of a certificate that the history needs."""

_FACT = Where(_is_fact)
_FACTS = Where(lambda part: isinstance(part, dict) and all(_is_fact(each) for fact in part.items() for each in fact))
_FIGURE = Where(lambda figure: figure is None or (isinstance(figure, (int, float)) and 0 <= figure <= _LARGEST_FIGURE))
_ROW = Keys(
    {
        "load_point": int,
        **dict.fromkeys(("stream", "operation"), _NAME),
        **dict.fromkeys(("block_size_bytes", *FIGURES), _FIGURE),
    }
)
_COMPARED = Keys(
    {
        "rows": Items(_ROW),
        **dict.fromkeys(("identity", "environment", "parameters"), Maybe(_FACTS)),
        **dict.fromkeys(("class", "collection_version", "tester_version"), _FACT),
        "capacity": Maybe(Keys({"load_unit": str, **dict.fromkeys(CAPACITY[1:], Maybe(int))}, every=_FACT)),
    }
)
"""Rows and facts that can be compared with those of other certificates."""


_DECIDING = ("disk_id", "boot_id", "profile", "effect", "volume_facts", "verified", "can_certify")


class CertificateError(ValueError):
    """A certificate cannot be made or used. The message is one sentence."""


@dataclass(frozen=True)
class Certificate:
    """A certificate, represented by its canonical text."""

    text: str

    @cached_property
    def sha256(self) -> str:
        """The identity: the SHA-256 of the text, which is also the SHA-256 of the file."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()

    @property
    def content(self) -> dict[str, Any]:
        """The content as plain data. It is parsed again each time, because the contents of a whole fleet would not fit
        into memory."""
        return json.loads(self.text)

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> Certificate:
        """Return the certificate with this content, part of which comes from hosts. Raises CertificateError if the
        history cannot use it."""
        _check(content)
        try:
            return cls(canonical(content))
        except (TypeError, ValueError) as error:
            raise CertificateError(f"the content of the certificate is not plain data: {error}") from None

    @classmethod
    def parse(cls, text: bytes) -> Certificate:
        """Return the certificate with this text, which is untrusted. Raises CertificateError."""
        try:
            content = json.loads(text)
            certificate = cls(canonical(content))
        except (ValueError, RecursionError):
            raise CertificateError("the certificate is not JSON") from None
        _check(content)
        if certificate.text.encode("ascii") != text:
            raise CertificateError(
                "the certificate is not written in its canonical form, so its SHA-256 is not its identity"
            )
        return certificate

    @cached_property
    def entry(self) -> Entry:
        """The result that the history stores so that it finds the certificate."""
        content = self.content
        comparison = content.get("comparison") or {}
        identity = identity_of(content.get("identity"))
        return Entry.of(
            **{name: content[name] for name in ("run_id", "volume", "judged_at", "verdict", "valid_until")},
            sha256=self.sha256,
            hosts=(content["host"],),
            path=identity.mount_point if identity else "",
            identity=identity.volume_id if identity else None,
            data={
                **{name: content[name] for name in ("effect", "method_version", "limits_verdict")},
                "profile": content["profile"]["name"],
                "boot_id": content["machine"]["boot_id"],
                "disk_id": identity.disk_id if identity else None,
                "volume_facts": " ".join(content["volume_facts"]),
                "verified": str((content.get("parameters") or {}).get("option_verify") or "0") != "0",
                "can_certify": content["can_certify"],
                "disturbed": bool(content["disturbances"]),
                "parameters": fingerprint(content.get("parameters")),
                "outcome": comparison.get("outcome"),
                "baseline": fingerprint(comparison.get("before")) if comparison else None,
                "accepted": bool(content.get("accepted")),
                "closest_limit": content.get("closest_limit"),
            },
        )


class Entry(Result):
    """The result of a measurement: the fields that determine the state of its volume and the other certificates of the
    same volume.

    ``disk_id`` identifies the content of the volume. ``parameters`` identifies the parameters of the sweep.
    ``limits_verdict`` is the verdict without a comparison. ``outcome`` is the result of the comparison, and
    ``baseline`` identifies the certificates with which it was compared; ``baseline`` is None if no comparison was
    requested, and ``outcome`` is also None if none could be made. ``accepted``: whether it begins a baseline.
    ``volume_facts`` are the facts that hold for the volume under every profile, separated by blanks. ``verified``:
    whether all data was read back. ``can_certify``: whether the profile can ever certify. ``closest_limit`` is the
    figure that comes closest to its limit, None if there is none.
    """

    effect: str = Datum()
    profile: str = Datum()
    boot_id: str = Datum()
    disk_id: str | None = Datum()
    volume_facts: str = Datum()
    verified: bool = Datum()
    can_certify: bool = Datum()
    method_version: int | None = Datum()
    parameters: str = Datum()
    disturbed: bool = Datum()
    limits_verdict: str = Datum()
    outcome: str | None = Datum()
    baseline: str | None = Datum()
    accepted: bool = Datum()
    closest_limit: dict[str, Any] | None = Datum()

    @classmethod
    def of(cls, **fields: Any) -> Entry:
        """Return the entry with these fields. The state of a volume follows from the newest entry with each effect and
        each fact about the volume. Boot IDs distinguish clones, so the newest entry with each boot ID is kept."""
        data = fields["data"]
        chain = [fields[name] for name in ("identity", "hosts", "volume")] + [data[name] for name in _DECIDING]
        return cls(kind=DEFAULT.name, chain=fingerprint(chain), **fields)

    @property
    def subject(self) -> tuple[Any, ...]:
        """What the result is about: a certificate clears earlier ones of the same place and profile."""
        return self.kind, self.place, self.profile


def newest_of_each_run(entries: Iterable[Entry]) -> list[Entry]:
    """Return the last entry of each run among some entries of one volume, oldest first. A run that was collected and
    judged again is still only one observation."""
    by_run: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.order):
        by_run.pop(entry.run_id, None)
        by_run[entry.run_id] = entry
    return list(by_run.values())


def certificate_of(run: Mapping[str, Any], record: HostRecord, tables: Tables | None) -> Certificate | None:
    """Return the certificate of a record, or None if it was not judged. ``tables`` is None if nothing was measured.
    Raises CertificateError."""
    if record.verdict not in WORST_FIRST:
        return None
    judged_at = record.created_at or str(run.get("created_at") or "")
    facts = facts_of_identity(record)
    identity = identity_of(facts)
    effect = effect_of(record)
    comparison = {key: value for key, value in (record.comparison or {}).items() if key != "rows"}
    return Certificate.of_content(
        {
            "schema": SCHEMA_VERSION,
            "run_id": record.run_id or str(run.get("run_id") or ""),
            "host": printable(record.host),
            "volume": printable(record.volume),
            "volume_id": identity.volume_id if identity else None,
            "disk_id": identity.disk_id if identity else None,
            "identity": facts,
            "machine": {key: _text(record.facts.get(key)) for key in ("boot_id", "hostname")},
            "environment": {key: _plain(record.facts.get(key)) for key in ENVIRONMENT},
            "profile": dict(record.profile or profile_key(profile_data(run, record.host))),
            "class": printable(str((run.get("host_classes") or {}).get(record.host) or "")),
            "effect": effect,
            "can_certify": can_certify(profile_data(run, record.host)),
            "volume_facts": list(record.volume_facts),
            "verdict": record.verdict,
            "limits_verdict": comparison.pop("limits_verdict", record.verdict),
            "comparison": comparison or None,
            "accepted": bool((run.get("baseline") or {}).get("accept")),
            "qualification": record.qualification,
            **(
                {"power_cuts": {key: _plain(value) for key, value in record.power_cuts.items()}}
                if record.power_cuts
                else {}
            ),
            "reasons": record.reasons,
            "disturbances": record.disturbances,
            "judged_at": judged_at,
            **_validity(judged_at, effect, (run.get("policy") or {}).get("valid_days")),
            "collection_version": str(run.get("collection_version") or ""),
            "tester_version": tables.run.get("version", "") if tables else "",
            "method_version": _method_version(tables),
            "parameters": _parameters(run, record, tables),
            "capacity": {key: record.capacity[key] for key in CAPACITY} if record.capacity else None,
            "closest_limit": closest_limit(record.judgements),
            "rows": _rows(record, tables) if tables else [],
            "tables": {name: str(filed.get("sha256") or "") for name, filed in record.tables.items()},
        }
    )


def _validity(judged_at: str, effect: str, valid_days: Any) -> dict[str, str | None]:
    try:
        begin = datetime.datetime.strptime(judged_at, MOMENT).date()
    except ValueError:
        raise CertificateError(f"the record has no valid time of judgement ({judged_at!r})") from None
    if effect != CERTIFIES:
        return {"valid_from": None, "valid_until": None}
    if not isinstance(valid_days, int):
        raise CertificateError("run.json does not state for how many days a certificate is valid")
    end = begin + datetime.timedelta(days=valid_days)
    return {"valid_from": begin.isoformat(), "valid_until": end.isoformat()}


def _method_version(tables: Tables | None) -> int | None:
    """Return the version of the tester's measuring method, or None if the tester does not state one. In that case, its
    figures cannot be compared."""
    text = tables.run.get("method_version", "") if tables else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _parameters(run: Mapping[str, Any], record: HostRecord, tables: Tables | None) -> dict[str, str]:
    found = {"sweep_mode": str((run.get("parameters") or {}).get("sweep_mode") or "")}
    # The names of directories are different in each run, and the load points are different in each search.
    if tables:
        found.update((key, tables.run.get(key, "")) for key in PARAMETERS)
        found.update((key, _DIRECTORIES.sub("", text)) for key, text in tables.run.items() if OF_STREAMS.match(key))
    if record.facts.get("load_search"):
        found.update(dict.fromkeys(("option_load_points", "option_applications"), ""))
    if record.facts.get(kinds.DISK_SHARED_WITH):
        found[kinds.DISK_SHARED_WITH] = _text(record.facts[kinds.DISK_SHARED_WITH])
    return found


def _rows(record: HostRecord, tables: Tables) -> list[dict[str, Any]]:
    """Return, for each step, the figures of all workers together and the judgements on them."""
    judged: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for judgement in record.judgements:
        if judgement.get("worker") == ALL_WORKERS:
            said = {name: judgement[name] for name in _LIMIT_KEYS if judgement.get(name) is not None}
            judged.setdefault(_row_key(judgement), []).append(said)
    return [
        {**{name: row.get(name) for name in (*ROW_KEYS, *FIGURES)}, "limits": judged.get(_row_key(row), [])}
        for row in tables.results
        if row["worker"] == ALL_WORKERS
    ]


def _row_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ROW_KEYS)


def _check(content: Any) -> None:
    """Raise CertificateError if content lacks any data that the history needs."""
    if not isinstance(content, dict):
        raise CertificateError("the certificate is not an object")
    check_schema(content, SCHEMA_VERSION, lambda words: CertificateError(f"the certificate {words}"))
    check(content, _SHAPE, _lacking)
    if (content["effect"] == CERTIFIES) != (content["valid_until"] is not None):
        raise _lacking("valid_until")
    check(
        content,
        _COMPARED,
        lambda part: CertificateError(f"the certificate contains a row or a fact that cannot be compared: {part}"),
    )
    texts = [
        *(content[key] for key in (*_TEXTS, *_OPTIONAL)),
        content["profile"]["name"],
        content["machine"]["boot_id"],
    ]
    texts += [(content.get("comparison") or {}).get("outcome")]
    if any(printable(text) != text for text in texts if text):
        raise CertificateError("the certificate contains a name with characters that cannot be printed")
    if not all(
        content[key] is None or is_moment(content[key], form)
        for key, form in (("judged_at", MOMENT), ("valid_from", "%Y-%m-%d"), ("valid_until", "%Y-%m-%d"))
    ):
        raise CertificateError("the certificate contains a malformed time")


def _lacking(part: str) -> CertificateError:
    return CertificateError(f"the certificate lacks a field, or contains one of the wrong type: {part}")


def _text(value: Any) -> str:
    return printable(value) if isinstance(value, str) else ""


def _plain(value: Any) -> str | int | None:
    return value if isinstance(value, int) else (_text(value) or None)
