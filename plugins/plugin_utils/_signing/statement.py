# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The in-toto statement of a run, with the test-result predicate:
https://github.com/in-toto/attestation/tree/main/spec/predicates/test-result.md"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._run.files import canonical
from .._run.record import host_label
from .._run.table_reader import printable
from .._run.verdicts import GOOD, PASS

PASSED = "PASSED"
WARNED = "WARNED"
FAILED = "FAILED"

_RUN_FILE = "run.json"


def statement(verdict: Mapping[str, Any], hashes: Mapping[str, str]) -> bytes:
    """Return the text of the statement about a run. verdict is verdict.json, and hashes are the SHA-256 of the files to
    which it applies."""
    tests: dict[str, list[str]] = {PASSED: [], WARNED: [], FAILED: []}
    for host in verdict["hosts"]:
        tests[result_of(host)].append(printable(host_label(host["host"], host["volume"])))
    content = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [_descriptor(path, digest) for path, digest in sorted(hashes.items())],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": _result(verdict, tests),
            "configuration": [_descriptor(_RUN_FILE, hashes[_RUN_FILE]), *_profiles(verdict)],
            "passedTests": tests[PASSED],
            "warnedTests": tests[WARNED],
            "failedTests": tests[FAILED],
        },
    }
    return canonical(content).encode("ascii")


def result_of(host: Mapping[str, Any]) -> str:
    """Return the result of one host. The predicate has three results: anything that does not pass has failed, and a
    pass that does not certify is a warning."""
    if host["verdict"] not in GOOD:
        return FAILED
    return PASSED if host["verdict"] == PASS and host["certified"] else WARNED


def _result(verdict: Mapping[str, Any], tests: Mapping[str, Iterable[str]]) -> str:
    if verdict["gate_failed"] or tests[FAILED] or not verdict["hosts"]:
        return FAILED
    return WARNED if tests[WARNED] else PASSED


def _profiles(verdict: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the descriptor of each profile that judged a host, with the digest that the certificates contain, and the
    hosts that it judged."""
    known: dict[str, Mapping[str, Any]] = {}
    judged: dict[str, list[str]] = {}
    for host in verdict["hosts"]:
        profile = host.get("profile")
        if profile:
            known[profile["sha256"]] = profile
            judged.setdefault(profile["sha256"], []).append(printable(host_label(host["host"], host["volume"])))
    return [
        _descriptor(
            printable(profile["name"]),
            sha256,
            annotations={"version": printable(profile["version"]), "hosts": judged[sha256]},
        )
        for sha256, profile in known.items()
    ]


def _descriptor(name: str, digest: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": digest}, **more}
