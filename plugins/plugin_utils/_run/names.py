# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names of the folders and files in a run directory. Host names are untrusted:
the name of a folder is made safe."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import secrets
from typing import Any

RUN = "run.json"
RECORD = "record.json"
VERDICT = "verdict.json"
CERTIFICATE = "certificate.json"
COMPARISON = "comparison.json"
POWER_CUTS = "power_cuts.json"
PREVIOUS = "previous.json"
ORDER = "order.json"
SAMPLES = "samples.jsonl"
VOLUMES = "volumes.json"
DISCOVERED = "workspace_volumes.yml"
INDEX = "index.html"
"""The page of the report. Until the run has been judged, it shows the progress."""
SUMMARY = "summary.txt"
"""The file of the report that is written last. If it exists, the report is complete and up to date."""

STATEMENT = "test-result.intoto.json"
MANIFEST = "manifest.sha256"
SIGNATURE = f"{MANIFEST}.sig"

HOSTS = "hosts"
"""The folder that contains the folders of the hosts."""

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
_SAFE_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,79}\Z")
_TABLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\.csv\Z")


def latest(base: str) -> str:
    """Return the path of the link to the newest run directory under base."""
    return os.path.join(base, "latest")


def new_run_id() -> str:
    """Return a new run id: the current time in UTC and six random hexadecimal digits,
    such as 20261121T104935Z-1f0c2a."""
    return f"{datetime.datetime.now(datetime.timezone.utc):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def is_run_id(text: str) -> bool:
    """Whether a text can be a run ID, and therefore the name of a run directory."""
    return bool(_RUN_ID.match(text))


def is_table(name: str) -> bool:
    """Whether a name can be the name of a table."""
    return bool(_TABLE_NAME.match(name))


def safe_name(name: str) -> str:
    """Return the name of a folder for an untrusted name. If the name is harmless, it is unchanged. Otherwise, the
    folder's name consists of a readable part, a tilde and a hash of the whole name.

    Two different names never share a folder, even on a file system that ignores case.
    """
    if _SAFE_NAME.match(name) and name not in (VOLUMES, DISCOVERED):  # files beside the folders of volumes
        return name
    readable = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:40]
    return f"{readable}~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def host_folder(host: Any) -> str:
    """Return the folder of a host, relative to the run directory."""
    return os.path.join(HOSTS, safe_name(str(host)))


def volume_folder(host: Any, volume: Any) -> str:
    """Return the folder of a host's volume, relative to the run directory."""
    return os.path.join(host_folder(host), safe_name(str(volume)))


def round_folder(host: Any, volume: Any, number: int) -> str:
    """Return the folder of a round of a search, relative to the run directory."""
    return os.path.join(volume_folder(host, volume), f"round-{number}")
