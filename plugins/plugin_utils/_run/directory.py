# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The run directory: the only place on the controller for a run's parameters, records, tables, verdict and report.

    <base>/<run id>/run.json
    <base>/<run id>/hosts/<safe host>/volumes.json, unless the host is expected to report only the default volume
    <base>/<run id>/hosts/<safe host>/workspace_volumes.yml, if its volumes were discovered: the plan as
        variables of the host, for people
    <base>/<run id>/hosts/<safe host>/<safe volume>/order.json, record.json, comparison.json,
        power_cuts.json, previous.json, certificate.json and the tester's tables, bytes unchanged
    <base>/<run id>/hosts/<safe host>/<safe volume>/samples.jsonl, if a queue manager was observed: the output
        of the source, bytes unchanged
    <base>/<run id>/hosts/<safe host>/<safe volume>/acknowledged-<number>.txt of each power cut: the writes that
        the witness saw acknowledged. The tables of the cut are durability_<number>.csv and run_<number>.csv
    <base>/<run id>/hosts/<safe host>/<safe volume>/round-<number>/order.json and the tester's tables of each
        round of a search, bytes unchanged: the tables of the volume are joined from them
    <base>/<run id>/verdict.json and the rendered report
    <base>/<run id>/test-result.intoto.json, manifest.sha256 and manifest.sha256.sig, if the run is signed
    <base>/latest -> the newest run's directory

The names of compressed files end in .gz: those of long tables and, in a large run, of other files (see compressed.py).
Every file is written to a temporary name and renamed, so that many workers can write records at once and a reader never
sees half a file. Host names are untrusted: the name of a folder is made safe, and the record contains the true name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .files import LARGE_RUN_HOSTS, replace_link, write_file
from .findings import is_finding
from .kinds import CHECK_MODE, DEFAULT, KINDS, Kind, kind_of
from .moment import utc_now
from .names import (
    COMPARISON,
    HOSTS,
    MANIFEST,
    POWER_CUTS,
    PREVIOUS,
    RUN,
    VERDICT,
    is_run_id,
    latest,
    new_run_id,
    volume_folder,
)
from .orders import Certificates, Orders, Samples, StoredResults, Volumes
from .records import Records
from .run_files import (
    MAX_RUN_BYTES,
    SCHEMA_VERSION,
    RunDirectoryError,
    RunFiles,
    encode,
    read_json,
    refuse_other_schema,
    with_seal,
)
from .shapes import Items, Keys, Maybe, Run, Where, check
from .verdicts import WORST_FIRST

_OBJECTS = ("controller", "parameters", "profile", "host_profiles", "policy", "history", "baseline")
_BY_HOST = ("host_array_settings", "host_targets", "host_classes", "host_parameters")
_LISTS = (
    "expected_hosts",
    "left_out_hosts",
    "unclaimed_hosts",
    "merged_from",
    "other_profiles",
    "unmatched_limit_terms",
)
_SHAPE = Keys(
    {
        "run_id": Where(lambda run_id: isinstance(run_id, str) and is_run_id(run_id)),
        "kind": Where(lambda kind: kind in tuple(KINDS)),
        "created_at": Maybe(str),
        "wrong_clock": Maybe(Where(is_finding)),
        **dict.fromkeys((*_OBJECTS, *_BY_HOST), Maybe(dict)),
        **dict.fromkeys(_LISTS, Maybe(list)),
    }
)
"""The structure of those keys of run.json that code depends on. Other keys hold text that is only displayed."""

_JUDGED = Keys(
    {
        **dict.fromkeys(("host", "volume", "qualification"), str),
        **dict.fromkeys(("certified", "stops_gate"), bool),
        **dict.fromkeys(("reasons", "leftovers"), Items(str)),
        "verdict": Where(lambda verdict: verdict in tuple(WORST_FIRST)),
        "profile": Maybe(Keys(dict.fromkeys(("name", "version", "sha256"), str))),
        "findings": Items(Where(is_finding)),
    }
)
_VERDICT = Keys(
    {
        "asked_by": str,
        **dict.fromkeys(("gate_failed", "certified"), bool),
        **dict.fromkeys(("reasons", "fleet_problems"), Items(str)),
        **dict.fromkeys(("counts", "policy"), dict),
        "hosts": Items(_JUDGED),
    }
)
"""The structure of verdict.json. The exit status of a command that renders a run again depends on this file."""


class RunDirectory:
    """One run directory. Everything in the directory is read and written with this object. ``path`` is the absolute
    path, and ``run`` is the content of run.json."""

    def __init__(self, path: str, run: dict[str, Any]) -> None:
        self.path = path
        self.run = run
        self._files = RunFiles(path, len(self.expected_hosts) > LARGE_RUN_HOSTS)
        self.records = Records(self._files, run)
        self.volumes = Volumes(self._files, self.records)
        self.orders = Orders(self._files)
        self.samples = Samples(self._files)
        self.comparisons = StoredResults(self._files, COMPARISON, "The comparison")
        self.power_cuts = StoredResults(self._files, POWER_CUTS, "What is known about power cuts")
        self.previous = StoredResults(self._files, PREVIOUS, "The previous run")
        self.certificates = Certificates(self._files)

    @classmethod
    def create(cls, base: str, run: Run) -> RunDirectory:
        """Create a new run directory under ``base``, and make base/latest point to it. ``base`` is created if it does
        not exist.

        ``run`` is the content for run.json; schema, run_id, kind (a measurement) and created_at are filled in if
        absent. Raises RunDirectoryError, for example if a directory for this run ID already exists.
        """
        filled = {"run_id": new_run_id(), "kind": DEFAULT.name, "created_at": utc_now()}
        run = {"schema": SCHEMA_VERSION, **filled, **run}
        if not isinstance(run["run_id"], str) or not is_run_id(run["run_id"]):
            raise RunDirectoryError(
                f"The run ID {run['run_id']!r} may contain only letters, digits, dots, dashes and underscores."
            )
        base = os.path.abspath(base)
        path = os.path.join(base, run["run_id"])
        try:
            os.makedirs(base, exist_ok=True)
            os.mkdir(path)
            os.mkdir(os.path.join(path, HOSTS))
            write_file(os.path.join(path, RUN), encode(run))
            replace_link(latest(base), run["run_id"])
        except OSError as error:
            raise RunDirectoryError(f"The run directory {path} cannot be created: {error.strerror or error}.") from None
        return cls(path, run)

    @classmethod
    def open(cls, path: str) -> RunDirectory:
        """Open an existing run directory (a link such as reports/latest is resolved). Raises RunDirectoryError."""
        path = os.path.realpath(path)
        run = read_json(os.path.join(path, RUN), MAX_RUN_BYTES)
        refuse_other_schema(run, os.path.join(path, RUN))
        check(run, _SHAPE, lambda part: RunDirectoryError(f"The {RUN} of {path} has no usable {part}."))
        return cls(path, run)

    @property
    def expected_hosts(self) -> list[str]:
        """Names of the hosts that the run was meant to measure."""
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

    def folder_of(self, host: str, volume: str) -> str:
        """Return the path of the folder of a host's volume. The folder need not exist."""
        return self._files.path(volume_folder(host, volume))

    def missing(self) -> list[tuple[str, str]]:
        """Return the host and the volume of every expected record that has not been stored, in the order of the run.
        Raises RunDirectoryError."""
        return self.volumes.missing(self.expected_hosts)

    def write_verdict(self, verdict: Mapping[str, Any]) -> None:
        """Write verdict.json, and remove any earlier signature, which is no longer valid. Raises RunDirectoryError."""
        with self._files.writing("The verdict", VERDICT):
            self._files.remove_signature()
            write_file(self._files.path(VERDICT), encode(with_seal(verdict)))

    def verdict(self) -> dict[str, Any] | None:
        """Return the content of verdict.json, or None if the gate did not write it. Raises RunDirectoryError if it
        cannot be read."""
        if not self._files.has(VERDICT):
            return None
        verdict = self._files.read_json(VERDICT, most=MAX_RUN_BYTES)
        check(verdict, _VERDICT, lambda part: RunDirectoryError(f"The {VERDICT} of {self.path} has no usable {part}."))
        return verdict

    @property
    def is_signed(self) -> bool:
        """Whether the run has a manifest of all its files, so that no file may be changed."""
        return self._files.has(MANIFEST)

    def remove_signature(self) -> None:
        """Remove the signature of the earlier content. Raises OSError."""
        self._files.remove_signature()
