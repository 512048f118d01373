# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The run directory: the one place on the controller where a run's parameters, records, tables, verdict and report live.

    <base>/<run id>/run.json
    <base>/<run id>/hosts/<safe host>/volumes.json, if the host is expected to report other volumes than the default one alone
    <base>/<run id>/hosts/<safe host>/workspace_volumes.yml, if its volumes were discovered: the plan as variables of the host, for people
    <base>/<run id>/hosts/<safe host>/<safe volume>/order.json, record.json, comparison.json, power_cuts.json, certificate.json
        and the tester's tables, bytes unchanged
    <base>/<run id>/hosts/<safe host>/<safe volume>/samples.jsonl, if a queue manager was observed: what the source said, bytes unchanged
    <base>/<run id>/hosts/<safe host>/<safe volume>/acknowledged-<number>.txt of each power cut: the writes that the witness saw acknowledged. Its
        tables are durability_<number>.csv and run_<number>.csv
    <base>/<run id>/hosts/<safe host>/<safe volume>/round-<number>/order.json and the tester's tables of each round of a search, bytes unchanged: the tables of
        the volume are joined from them
    <base>/<run id>/verdict.json and the rendered report
    <base>/<run id>/test-result.intoto.json, manifest.sha256 and manifest.sha256.sig, if the run is signed
    <base>/latest -> the newest run's directory

Every file is written to a temporary name and renamed, so that many workers can write records at once and a reader never sees half a file. Host names are
untrusted: the name of a folder is made safe, and the record contains the true name.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds import CHECK_MODE, kind_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.kind import Kind
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.added_verdict import judged_also
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.comparison import is_asked, judged_with
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import read_file, replace_link, write_file
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.merged_settings import COMMON, merged_settings
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.moment import utc_now
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.power_cuts import judged_with_cuts, wanted_cuts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.profiles import profile_data, profile_key
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import (
    DEFAULT_VOLUME,
    HostRecord,
    RecordError,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import ERROR, INCONCLUSIVE, MISSING
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.volume_identity import identity_of_record

SCHEMA_VERSION = 1
"""Schema of run.json."""

VERDICT = "verdict.json"
CERTIFICATE = "certificate.json"
COMPARISON = "comparison.json"
POWER_CUTS = "power_cuts.json"
ORDER = "order.json"
SAMPLES = "samples.jsonl"
VOLUMES = "volumes.json"
DISCOVERED = "workspace_volumes.yml"
SUMMARY = "summary.txt"
"""The file of the report that is written last: if it exists, the report is complete and up to date."""

STATEMENT = "test-result.intoto.json"
MANIFEST = "manifest.sha256"
SIGNATURE = f"{MANIFEST}.sig"

MAX_RECORD_BYTES = 16 << 20
MAX_CERTIFICATE_BYTES = 16 << 20
MAX_RUN_BYTES = 64 << 20
MAX_TABLE_BYTES = 64 << 20
MAX_SAMPLES_BYTES = 80 << 20
"""An observer ends at 64 MiB, but only with the sample that reaches them."""

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
_SAFE_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,79}\Z")
_TABLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\.csv\Z")
_RUN_TYPES = {
    "created_at": str,
    **dict.fromkeys(("controller", "parameters", "profile", "host_profiles", "policy", "history", "baseline"), dict),
    **dict.fromkeys(("host_array_settings", "host_targets", "host_classes", "host_parameters"), dict),
    **dict.fromkeys(("expected_hosts", "left_out_hosts", "unclaimed_hosts", "merged_from", "other_profiles", "unmatched_limit_terms"), list),
}
"""The types of what run.json may hold, for what is not a text that is only shown."""


class RunDirectoryError(OSError):
    """A run directory that cannot be made, read or written; the message is one sentence with the path."""


def latest(base: str) -> str:
    """Return the path of the link to the newest run directory under base."""
    return os.path.join(base, "latest")


class RunDirectory:
    """One run's directory. path is its absolute path, run is what run.json holds."""

    def __init__(self, path: str, run: dict[str, Any]) -> None:
        self.path = path
        self.run = run

    @classmethod
    def create(cls, base: str, run: Mapping[str, Any]) -> RunDirectory:
        """Create a new run directory under base, which is created if it does not exist, and point base/latest to it.

        run is what run.json is to hold; schema, run_id and created_at are filled in if they are absent. Raises RunDirectoryError, also if a
        directory for this run ID already exists.
        """
        run = {"schema": SCHEMA_VERSION, "run_id": new_run_id(), "created_at": utc_now(), **run}
        if not isinstance(run["run_id"], str) or not is_run_id(run["run_id"]):
            raise RunDirectoryError(f"The run ID {run['run_id']!r} may contain only letters, digits, dots, dashes and underscores.")
        base = os.path.abspath(base)
        path = os.path.join(base, run["run_id"])
        try:
            os.makedirs(base, exist_ok=True)
            os.mkdir(path)
            os.mkdir(os.path.join(path, "hosts"))
            write_file(os.path.join(path, "run.json"), _encode(run))
            replace_link(latest(base), run["run_id"])
        except OSError as error:
            raise RunDirectoryError(f"The run directory {path} cannot be created: {error.strerror or error}.") from None
        return cls(path, run)

    @classmethod
    def open(cls, path: str) -> RunDirectory:
        """Open an existing run directory (a link such as reports/latest is resolved). Raises RunDirectoryError."""
        path = os.path.realpath(path)
        run = _read_json(os.path.join(path, "run.json"), MAX_RUN_BYTES)
        if run.get("schema") != SCHEMA_VERSION or not isinstance(run.get("run_id"), str) or not is_run_id(run["run_id"]):
            raise RunDirectoryError(f"{path} is not a run directory of schema {SCHEMA_VERSION}.")
        unusable = [key for key, wanted in _RUN_TYPES.items() if not isinstance(run.get(key), (wanted, type(None)))]
        if unusable:
            raise RunDirectoryError(f"The run.json of {path} has no usable {unusable[0]}.")
        return cls(path, run)

    @classmethod
    def merge(
        cls, paths: Iterable[str], base: str, hosts: Iterable[str] = (), left_out: Iterable[str] = (), changes: Mapping[str, Any] | None = None
    ) -> RunDirectory:
        """Make one new run directory under base from several: all expected hosts, and of each host and volume the newest record with its tables.

        The ``hosts`` of the inventory are expected as well; unclaimed_hosts are those that no run expected. Each host keeps the parameters and the profile of
        the newest run that expects it. All that concerns the whole run, such as the policy, is that of the newest run as far as ``changes`` does not say
        otherwise; of the controller it is what all agree on. merged_from names all runs. The caller judges the fleet.
        Raises RunDirectoryError, also if one of several runs tested no storage: merged with others it would hide what they measured.
        """
        sources = sorted((cls.open(path) for path in paths), key=lambda source: (str(source.run.get("created_at", "")), source.run["run_id"]))
        if not sources:
            raise RunDirectoryError("There is no run directory to merge.")
        untested = [source for source in sources if not source.is_test]
        if untested and len(sources) > 1:
            raise RunDirectoryError(f"The run {untested[0].run['run_id']} {untested[0].kind.why_untested}; it cannot be merged with others.")
        _refuse_other_places(sources)
        newest = {key: value for key, value in sources[-1].run.items() if key not in ("schema", "run_id", "created_at", "unmatched_limit_terms", *COMMON)}
        claimed = {host for source in sources for host in source.expected_hosts}
        expected, unclaimed = sorted(claimed.union(hosts)), sorted(set(hosts) - claimed)
        left_out = sorted({host for source in sources for host in source.run.get("left_out_hosts") or []}.union(left_out).difference(expected))
        merged_from = [source.run["run_id"] for source in sources]
        controller = _common_facts([source.run.get("controller") or {} for source in sources])
        of_hosts = {"expected_hosts": expected, "left_out_hosts": left_out, "unclaimed_hosts": unclaimed}
        chosen = _newest_records(sources)
        settings = merged_settings([source.run for source in sources], (source.read_limits_record(folder).profile for source, folder in chosen))
        merged = cls.create(base, {**newest, "controller": controller, **settings, **(changes or {}), **of_hosts, "merged_from": merged_from})
        for source, folder in chosen:
            merged.write_record(*source.read_with_tables(folder))
        for host in sorted(claimed):
            merged.write_volumes(host, _all_volumes(host, sources))
        return merged

    @property
    def expected_hosts(self) -> list[str]:
        """Names of the hosts that the run was to measure."""
        return [str(host) for host in self.run.get("expected_hosts") or []]

    @property
    def kind(self) -> Kind:
        """The kind of the run."""
        return kind_of(self.run)

    @property
    def is_check_mode(self) -> bool:
        """Whether the run was a preflight, which measures nothing."""
        return self.kind is CHECK_MODE

    @property
    def is_test(self) -> bool:
        """Whether the run measured storage."""
        return self.kind.tests_storage

    @cached_property
    def _names_by_folder(self) -> dict[str, str]:
        return {safe_name(name): name for name in self.expected_hosts}

    def write_record(self, record: HostRecord, tables: Mapping[str, bytes] | None = None) -> str:
        """File a host's record and its tables (bytes by file name), replacing an earlier one; returns the folder, relative to the run directory.

        The size and SHA-256 of each table join the record. A comparison, a verdict, a report, a certificate and a signature made before are out of date and
        removed. Raises RunDirectoryError.
        """
        tables = tables or {}
        folder = _folder(record.host, record.volume)
        for name in tables:
            if not _TABLE_NAME.match(name):
                raise RunDirectoryError(f"{name!r} is not the name of a table.")
        filed = {name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} for name, content in tables.items()}
        record = replace(record, run_id=record.run_id or self.run["run_id"], created_at=record.created_at or utc_now(), tables=filed)
        path = os.path.join(self.path, folder)
        try:
            _make_folder(self.path, folder)
            for name, content in tables.items():
                write_file(os.path.join(path, name), content)
            self._remove(os.path.join(folder, COMPARISON), os.path.join(folder, POWER_CUTS))
            self._write_record_file(folder, record)
        except OSError as error:
            raise RunDirectoryError(f"The record of {record.host!r} cannot be written to {path}: {error.strerror or error}.") from None
        return folder

    def _write_record_file(self, folder: str, record: HostRecord) -> None:
        write_file(os.path.join(self.path, folder, "record.json"), _encode(record.as_dict()))
        self._remove_what_follows_from(folder)

    def _remove_what_follows_from(self, folder: str) -> None:
        self._remove(VERDICT, SUMMARY, os.path.join(folder, CERTIFICATE))
        self.remove_signature()

    def remove_signature(self) -> None:
        """Remove what signed the run as it was. Raises OSError."""
        self._remove(SIGNATURE, MANIFEST, STATEMENT)

    def _remove(self, *names: str) -> None:
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.path, name))

    @property
    def is_signed(self) -> bool:
        """Whether the run has a manifest of all its files: nothing may change any more."""
        return os.path.lexists(os.path.join(self.path, MANIFEST))

    def write_comparison(self, folder: str, comparison: Mapping[str, Any]) -> None:
        """Write what holding the record in a folder against its baseline said, and remove what is out of date then. Raises RunDirectoryError."""
        self._write_said(folder, COMPARISON, comparison, "The comparison")

    def read_comparison(self, folder: str) -> dict[str, Any] | None:
        """Return what was written of the comparison of the record in a folder, None if nothing was. One that cannot be read is empty, so it says nothing."""
        return self._read_said(folder, COMPARISON)

    def write_power_cuts(self, folder: str, said: Mapping[str, Any]) -> None:
        """Write what the history said about power cuts of the volume in a folder, and remove what is out of date then. Raises RunDirectoryError."""
        if self.read_power_cuts(folder) != said:
            self._write_said(folder, POWER_CUTS, said, "What is known of power cuts")

    def read_power_cuts(self, folder: str) -> dict[str, Any] | None:
        """Return what the history said about power cuts of the volume in a folder, None if nothing was asked or said. One that cannot be read is empty."""
        return self._read_said(folder, POWER_CUTS)

    def _write_said(self, folder: str, name: str, said: Mapping[str, Any], what: str) -> None:
        path = os.path.join(self.path, folder, name)
        try:
            write_file(path, _encode(said))
            self._remove_what_follows_from(folder)
        except OSError as error:
            raise RunDirectoryError(f"{what} cannot be written to {path}: {error.strerror or error}.") from None

    def _read_said(self, folder: str, name: str) -> dict[str, Any] | None:
        path = os.path.join(self.path, folder, name)
        if not os.path.lexists(path):
            return None
        try:
            return _read_json(path, MAX_RECORD_BYTES)
        except RunDirectoryError:
            return {}

    def write_certificate(self, folder: str, text: str) -> None:
        """Write the certificate of the record in a folder. Raises RunDirectoryError."""
        path = os.path.join(self.path, folder, CERTIFICATE)
        try:
            write_file(path, text.encode("ascii"))
        except OSError as error:
            raise RunDirectoryError(f"The certificate cannot be written to {path}: {error.strerror or error}.") from None

    def read_certificate(self, folder: str) -> bytes | None:
        """Return the certificate of the record in a folder as it was written, None if there is none. Raises RunDirectoryError."""
        path = os.path.join(self.path, folder, CERTIFICATE)
        try:
            return read_file(path, MAX_CERTIFICATE_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunDirectoryError(f"The certificate {path} cannot be read: {error.strerror or error}.") from None

    def write_volumes(self, host: str, volumes: Iterable[Mapping[str, Any]]) -> None:
        """Note the volumes that a host is expected to report, each with its ``name`` and what else the plan knows of it. Raises RunDirectoryError.

        Nothing is written if they are what a host reports of which nothing is noted: the default volume alone.
        """
        volumes = [dict(volume) for volume in volumes]
        folder = os.path.join("hosts", safe_name(host))
        if [volume["name"] for volume in volumes] == [DEFAULT_VOLUME] and not os.path.lexists(os.path.join(self.path, folder, VOLUMES)):
            return
        try:
            _make_folder(self.path, folder)
            write_file(os.path.join(self.path, folder, VOLUMES), _encode({"schema": SCHEMA_VERSION, "host": host, "volumes": volumes}))
        except OSError as error:
            raise RunDirectoryError(f"The volumes of {host!r} cannot be written to {self.path}: {error.strerror or error}.") from None

    def write_discovered(self, host: str, text: str) -> str:
        """Write the variables that were discovered for a host, for people, and return the path of the file. Raises RunDirectoryError."""
        folder = os.path.join("hosts", safe_name(host))
        try:
            _make_folder(self.path, folder)
            write_file(os.path.join(self.path, folder, DISCOVERED), text.encode())
        except OSError as error:
            raise RunDirectoryError(f"The discovered volumes of {host!r} cannot be written to {self.path}: {error.strerror or error}.") from None
        return os.path.join(self.path, folder, DISCOVERED)

    def noted_volumes(self, host: str) -> list[dict[str, Any]] | None:
        """Return what was noted of the volumes that a host is expected to report, None if nothing was. Raises RunDirectoryError."""
        path = os.path.join(self.path, "hosts", safe_name(host), VOLUMES)
        if not os.path.lexists(path):
            return None
        data = _read_json(path, MAX_RECORD_BYTES)
        volumes = data.get("volumes")
        if data.get("host") != host or not isinstance(volumes, list) or not volumes:
            raise RunDirectoryError(f"{path} does not contain the volumes of {host!r}.")
        if not all(isinstance(volume, dict) and isinstance(volume.get("name"), str) for volume in volumes):
            raise RunDirectoryError(f"{path} contains a volume without a name.")
        return volumes

    def expected_volumes(self, host: str) -> list[str]:
        """Return the names of the volumes that a host is expected to report: as noted, or else those that it reported, or else the default one."""
        noted = self.noted_volumes(host)
        if noted is not None:
            return [volume["name"] for volume in noted]
        return [self.read_limits_record(folder).volume for folder in self._folders_of(safe_name(host))] or [DEFAULT_VOLUME]

    def write_order(self, order: Mapping[str, Any]) -> None:
        """Record what a host is ordered to measure, before it is started. Raises RunDirectoryError."""
        folder = _folder(order["host"], order["volume"])
        try:
            _make_folder(self.path, folder)
            write_file(os.path.join(self.path, folder, ORDER), _encode(order))
        except OSError as error:
            raise RunDirectoryError(f"The order of {order['host']!r} cannot be written to {self.path}: {error.strerror or error}.") from None

    def withdraw_record(self, host: str, volume: str) -> None:
        """Remove what was filed of a volume that is about to be measured again: whatever comes of it, nothing reads as a verdict. Raises RunDirectoryError."""
        folder = _folder(host, volume)
        try:
            tables = [name for name in os.listdir(os.path.join(self.path, folder)) if _TABLE_NAME.match(name)]
            self._remove(*(os.path.join(folder, name) for name in ("record.json", COMPARISON, POWER_CUTS, *tables)))
            self._remove_what_follows_from(folder)
        except OSError as error:
            raise RunDirectoryError(f"The record of {host!r} cannot be removed from {self.path}: {error.strerror or error}.") from None

    def write_round(self, order: Mapping[str, Any], number: int, tables: Mapping[str, bytes]) -> None:
        """Write the tables of a round of a search and its order, replacing earlier ones. Raises RunDirectoryError."""
        folder = _round_folder(order["host"], order["volume"], number)
        try:
            _make_folder(self.path, folder)
            write_file(os.path.join(self.path, folder, ORDER), _encode(order))
            for name, content in tables.items():
                write_file(os.path.join(self.path, folder, name), content)
        except OSError as error:
            raise RunDirectoryError(f"The tables of {order['host']!r} cannot be written to {self.path}: {error.strerror or error}.") from None

    def read_round(self, host: str, volume: str, number: int, names: Iterable[str]) -> dict[str, bytes]:
        """Return those tables of a round that there are. Raises RunDirectoryError if one cannot be read."""
        path = os.path.join(self.path, _round_folder(host, volume, number))
        tables = {}
        for name in names:
            try:
                tables[name] = read_file(os.path.join(path, name), MAX_TABLE_BYTES)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise RunDirectoryError(f"{path}/{name} cannot be read: {error.strerror or error}.") from None
        return tables

    def samples_size(self, host: str, volume: str) -> int:
        """Return how many bytes of the samples of an observation are stored."""
        try:
            return os.lstat(os.path.join(self.path, _folder(host, volume), SAMPLES)).st_size
        except OSError:
            return 0

    def folder_of(self, host: str, volume: str) -> str:
        """Return the path of the folder of a host's volume, which need not exist."""
        return os.path.join(self.path, _folder(host, volume))

    def add_samples(self, host: str, volume: str, content: bytes) -> None:
        """Append what an observer has written since the last time. Raises RunDirectoryError, also if it is more than an observer writes."""
        path = os.path.join(self.path, _folder(host, volume), SAMPLES)
        if self.samples_size(host, volume) + len(content) > MAX_SAMPLES_BYTES:
            raise RunDirectoryError(f"The observer of {host!r} sent more than {MAX_SAMPLES_BYTES >> 20} MiB.")
        try:
            _make_folder(self.path, _folder(host, volume))
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
        except OSError as error:
            raise RunDirectoryError(f"The samples of {host!r} cannot be written to {path}: {error.strerror or error}.") from None

    def read_samples(self, host: str, volume: str) -> bytes:
        """Return all that an observer has written, empty if nothing came. Raises RunDirectoryError."""
        path = os.path.join(self.path, _folder(host, volume), SAMPLES)
        try:
            return read_file(path, MAX_SAMPLES_BYTES)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise RunDirectoryError(f"The samples {path} cannot be read: {error.strerror or error}.") from None

    def read_order(self, host: str, volume: str) -> dict[str, Any]:
        """Return what a host was ordered to measure. Raises RunDirectoryError, also if nothing was."""
        return _read_json(os.path.join(self.path, _folder(host, volume), ORDER), MAX_RECORD_BYTES)

    def note_leftovers(self, host: str, volume: str, left: Iterable[str]) -> bool:
        """Add to a filed record what of the run is left on the host; False if no record is filed. Raises RunDirectoryError."""
        return self._amend(host, volume, lambda record: replace(record, leftovers=[str(item) for item in left]))

    def note_facts(self, host: str, volume: str, facts: Mapping[str, Any], notes: Iterable[str]) -> bool:
        """Add facts and notes to a filed record; False if no record is filed. Raises RunDirectoryError."""
        return self._amend(host, volume, lambda record: replace(record, facts={**record.facts, **facts}, notes=[*record.notes, *notes]))

    def note_certificate(self, host: str, volume: str, certificate: Mapping[str, Any]) -> bool:
        """Note in the record of an observation how it relates to a certificate; False if no record is filed. Raises RunDirectoryError."""
        return self._amend(host, volume, lambda record: replace(record, observation={**(record.observation or {}), "certificate": dict(certificate)}))

    def note_standing(self, host: str, volume: str, reason: str) -> bool:
        """Note in a filed record why its volume cannot pass whatever it measured, empty if nothing stands against it. Raises RunDirectoryError."""
        record = self.find_record(host, volume)
        if record is None or (record.standing or "") == reason:
            return record is not None
        return self._amend(host, volume, lambda record: replace(record, standing=reason or None))

    def _amend(self, host: str, volume: str, change: Callable[[HostRecord], HostRecord]) -> bool:
        folder = _folder(host, volume)
        if not self.has_record(host, volume):
            return False
        try:
            self._write_record_file(folder, change(self.read_limits_record(folder)))
        except OSError as error:
            raise RunDirectoryError(f"{folder}/record.json cannot be written to {self.path}: {error.strerror or error}.") from None
        return True

    def has_record(self, host: str, volume: str) -> bool:
        """Whether a record of this host's volume exists."""
        return os.path.lexists(os.path.join(self.path, _folder(host, volume), "record.json"))

    def find_record(self, host: str, volume: str) -> HostRecord | None:
        """Return the record of this host's volume as it was filed, None if none was."""
        return self.read_limits_record(_folder(host, volume)) if self.has_record(host, volume) else None

    def is_known(self, host: str, volume: str) -> bool:
        """Whether a record of this host's volume exists whose verdict is not missing."""
        return self.has_record(host, volume) and self.read_record(_folder(host, volume)).verdict != MISSING

    def folders(self) -> list[str]:
        """Return the folders of all records, relative to the run directory, sorted."""
        return [folder for host in _entries(os.path.join(self.path, "hosts")) for folder in self._folders_of(host)]

    def _folders_of(self, host: str) -> list[str]:
        """Return the folders of the records in the folder of a host, sorted."""
        folder = os.path.join("hosts", host)
        volumes = _entries(os.path.join(self.path, folder))
        return [os.path.join(folder, volume) for volume in volumes if os.path.lexists(os.path.join(self.path, folder, volume, "record.json"))]

    def read_record(self, folder: str) -> HostRecord:
        """Return the record in a folder, judged by its limits and, as far as run and profile ask for it, by its comparison with the baseline and by power cuts.

        A merged run has the records as the runs that it comes from have judged them.
        """
        record = self.read_limits_record(folder)
        record = judged_with(record, self.read_comparison(folder)) if is_asked(self.run) else record
        if self.run.get("merged_from") or not self.is_test:
            return record
        record = judged_also(record, {"verdict": INCONCLUSIVE, "reason": record.standing}) if record.standing else record
        return judged_with_cuts(record, self.read_power_cuts(folder), wanted_cuts(profile_data(self.run, record.host)))

    def read_limits_record(self, folder: str) -> HostRecord:
        """Return the record in a folder as it was filed; a record that cannot be trusted becomes an error with the reason.

        A record of an older version does not name the profile that judged it: it was that of its host, which a merged run of that version did not keep.
        """
        try:
            record = _parse_record(_read_json(os.path.join(self.path, folder, "record.json"), MAX_RECORD_BYTES), folder)
        except RunDirectoryError as error:
            return self._unreadable(folder, str(error))
        if record.profile is None and not self.run.get("merged_from"):
            record = replace(record, profile=self._profile_key_of(record.host))
        return record

    def _profile_key_of(self, host: str) -> dict[str, str] | None:
        """Return what records say of the profile that a host is to be judged by, None if run.json contains none."""
        if host in (self.run.get("host_profiles") or {}):
            return profile_key(profile_data(self.run, host))
        return self._common_profile_key

    @cached_property
    def _common_profile_key(self) -> dict[str, str] | None:
        """What records say of the profile of most hosts, because a large fleet has many of them."""
        return profile_key(self.run["profile"]) if self.run.get("profile") else None

    def read_with_tables(self, folder: str) -> tuple[HostRecord, dict[str, bytes]]:
        """Return the record in a folder and its tables; if a table cannot be trusted, an error and no tables."""
        record = self.read_record(folder)
        try:
            return record, self.read_tables(record)
        except RunDirectoryError as error:
            return self._unreadable(folder, str(error)), {}

    def iter_records(self) -> Iterator[HostRecord]:
        """Yield every record, one at a time (a fleet's records together can be large)."""
        for folder in self.folders():
            yield self.read_record(folder)

    def records(self) -> list[HostRecord]:
        """Return every record."""
        return list(self.iter_records())

    def expected_missing(self) -> list[tuple[str, str]]:
        """Return host and volume of every record that is expected and has not been filed, in the order of the run. Raises RunDirectoryError."""
        filed = set(_entries(os.path.join(self.path, "hosts")))
        return [(host, volume) for host in self.expected_hosts for volume in self._missing_volumes(host, safe_name(host) in filed)]

    def _missing_volumes(self, host: str, has_folder: bool) -> list[str]:
        noted = self.noted_volumes(host) if has_folder else None
        if noted is None:
            return [] if has_folder and self._folders_of(safe_name(host)) else [DEFAULT_VOLUME]
        return [volume["name"] for volume in noted if not self.has_record(host, volume["name"])]

    def read_tables(self, record: HostRecord, wanted: Iterable[str] | None = None) -> dict[str, bytes]:
        """Return a record's tables (or those ``wanted``) as they were written. Raises RunDirectoryError if one is missing or has changed."""
        folder = os.path.join(self.path, _folder(record.host, record.volume))
        tables = {}
        for name, filed in record.tables.items():
            if wanted is not None and name not in wanted:
                continue
            if not _TABLE_NAME.match(name):
                raise RunDirectoryError(f"{name!r} is not the name of a table.")
            try:
                content = read_file(os.path.join(folder, name), MAX_TABLE_BYTES)
            except OSError as error:
                raise RunDirectoryError(f"{name} cannot be read: {error.strerror or error}.") from None
            if hashlib.sha256(content).hexdigest() != filed.get("sha256"):
                raise RunDirectoryError(f"{name} is not what was collected: its SHA-256 differs.")
            tables[name] = content
        return tables

    def write_verdict(self, verdict: Mapping[str, Any]) -> None:
        """Write verdict.json; a signature made before is out of date and removed. Raises RunDirectoryError."""
        path = os.path.join(self.path, VERDICT)
        try:
            self.remove_signature()
            write_file(path, _encode(verdict))
        except OSError as error:
            raise RunDirectoryError(f"The verdict cannot be written to {path}: {error.strerror or error}.") from None

    def verdict(self) -> dict[str, Any] | None:
        """Return what verdict.json holds, None if the gate wrote none. Raises RunDirectoryError if it cannot be read."""
        path = os.path.join(self.path, VERDICT)
        return _read_json(path, MAX_RUN_BYTES) if os.path.lexists(path) else None

    def _unreadable(self, folder: str, reason: str) -> HostRecord:
        host, volume = folder.split(os.sep)[1:]
        reason = f"its record cannot be read: {reason}"
        return HostRecord(
            host=self._names_by_folder.get(host, host),
            volume=volume,
            kind="error",
            run_id=self.run["run_id"],
            error={"stage": "gate", "verdict": ERROR, "reason": reason},
            verdict=ERROR,
            qualification="nothing was measured",
            reasons=[reason],
        )


def new_run_id() -> str:
    """Return a new run id: the time of now in UTC and six random hexadecimal digits, such as 20261121T104935Z-1f0c2a."""
    return f"{_utc_now():%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def is_run_id(text: str) -> bool:
    """Whether a text can be a run ID, and so the name of a run directory."""
    return bool(_RUN_ID.match(text))


def safe_name(name: str) -> str:
    """Return a folder's name for an untrusted name: the same if it is harmless, otherwise a readable part of it, a tilde and a hash of all of it.

    Two different names never share a folder, even on a file system that ignores case.
    """
    if _SAFE_NAME.match(name) and name not in (VOLUMES, DISCOVERED):  # files beside the folders of a host's volumes
        return name
    readable = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:40]
    return f"{readable}~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _folder(host: Any, volume: Any) -> str:
    """Return the folder of a host's volume, relative to the run directory."""
    return os.path.join("hosts", safe_name(str(host)), safe_name(str(volume)))


def _round_folder(host: Any, volume: Any, number: int) -> str:
    return os.path.join(_folder(host, volume), f"round-{number}")


def _utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def _encode(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(_finite(data), indent=1, default=str) + "\n").encode("ascii")


def _finite(data: Any) -> Any:
    """Return data with None in the place of figures that JSON cannot hold."""
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not -float("inf") < data < float("inf"):
        return None
    return data


def _read_json(path: str, most: int) -> dict[str, Any]:
    try:
        data = json.loads(read_file(path, most), parse_constant=_refuse_constant)
    except OSError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        raise RunDirectoryError(f"{path} is not valid JSON.") from None
    if not isinstance(data, dict):
        raise RunDirectoryError(f"{path} does not contain an object.")
    return data


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _parse_record(data: dict[str, Any], folder: str) -> HostRecord:
    """Return a record from what its file holds. Raises RunDirectoryError if it is not shaped as records are, or lies in another one's folder."""
    name = f"{folder}/record.json"
    try:
        record = HostRecord.from_dict(data)
    except RecordError as error:
        raise RunDirectoryError(f"{name} {error}.") from None
    if folder != _folder(record.host, record.volume):
        raise RunDirectoryError(f"{name} belongs to another host or volume.")
    return record


def _common_facts(facts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the newest of some facts (the last), with None for each that another one of them does not share. Of their jobs it is what all share."""
    common = {key: value if all(other.get(key) == value for other in facts) else None for key, value in facts[-1].items() if key != "job"}
    jobs = [each.get("job") or {} for each in facts]
    job = {key: value for key, value in jobs[-1].items() if all(other.get(key) == value for other in jobs)}
    return {**common, **({"job": job} if job else {})}


def _newest_records(sources: list[RunDirectory]) -> list[tuple[RunDirectory, str]]:
    """Return the folder of every record with the run that has its newest one; sources are sorted, the oldest run first.

    The age of a record that cannot be read is unknown. It counts as old as its run, and no record of an older run replaces it, because that could be a pass.
    Nor does one stand for a run that was opened after it, was to measure the same volume, and has no record of it.
    """
    lost = {_folder(*volume): str(source.run.get("created_at", "")) for source in sources for volume in source.expected_missing()}
    newest: dict[str, tuple[str, RunDirectory]] = {}
    for source in sources:
        for folder in source.folders():
            created_at = source.read_record(folder).created_at
            if folder not in newest or not created_at or created_at >= newest[folder][0]:
                newest[folder] = (created_at or str(source.run.get("created_at", "")), source)
    return [(entry[1], folder) for folder, entry in sorted(newest.items()) if entry[0] >= lost.get(folder, "")]


def _refuse_other_places(sources: list[RunDirectory]) -> None:
    """Raise RunDirectoryError if runs measured volumes at different mount points under one name: the newest record would hide what the other volume showed."""
    places: dict[str, tuple[str, str]] = {}
    for source in sources:
        for folder in source.folders():
            record = source.read_limits_record(folder)
            identity = identity_of_record(record)
            place, run_id = places.setdefault(folder, (identity.mount_point, source.run["run_id"])) if identity else ("", "")
            if identity and place != identity.mount_point:
                raise RunDirectoryError(
                    f"{record.label} was measured at {place} by the run {run_id} and at {identity.mount_point} by the run {source.run['run_id']}: these are "
                    "two volumes with one name. Leave one of the runs out, or give the volumes different names."
                )


def _all_volumes(host: str, sources: list[RunDirectory]) -> list[dict[str, Any]]:
    """Return the volumes that a host is expected to report by any of the sources that expect the host, each as the newest of them noted it."""
    volumes: dict[str, dict[str, Any]] = {}
    for source in sources:
        if host in source.expected_hosts:
            volumes.update({name: {"name": name} for name in source.expected_volumes(host)})
            volumes.update({volume["name"]: volume for volume in source.noted_volumes(host) or []})
    return list(volumes.values())


def _make_folder(root: str, folder: str) -> None:
    """Create a folder below root part by part; an OSError if a part is a link or not a directory."""
    path = root
    for part in folder.split(os.sep):
        path = os.path.join(path, part)
        try:
            os.mkdir(path)
        except FileExistsError:
            if os.path.islink(path) or not os.path.isdir(path):
                raise


def _entries(path: str) -> list[str]:
    """Return the names of the true directories in a directory, sorted; empty if it does not exist."""
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error.strerror or error}.") from None
