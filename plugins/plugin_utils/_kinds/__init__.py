# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of runs. All other code asks the kind of a run or record for its properties, and does not check its name.

Each kind is a folder. This module and its imports depend on nothing else, so any other module may import them. The
other modules of a folder (its facets) are imported on first use, and may themselves import any other layer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .kind import Kind
from .locks import Locks
from .measurement import Measurement
from .observation import Observation
from .power_cut import PowerCut
from .preflight import Preflight

DEFAULT: Kind = Measurement()
"""The kind of a run whose run.json does not name a kind."""

CHECK_MODE: Kind = Preflight()
"""The kind of all runs in check mode."""

KINDS: dict[str, Kind] = {kind.name: kind for kind in (DEFAULT, Observation(), PowerCut(), Locks())}
"""The kinds that a run can be opened for, by the names in run.json."""

_OF_RECORDS = {**KINDS, CHECK_MODE.name: CHECK_MODE}
_NONE = Kind()

DATA_KEYS = tuple(kind.data_key for kind in KINDS.values() if kind.data_key)
"""The keys of record.json and report.json for data that only records of one kind have."""

OF_PROFILES = {kind.profile_key: kind for kind in KINDS.values() if kind.profile_key}
"""The kinds for which a profile may have a section, by the key of the section."""

UNJUDGED = tuple(kind.without_verdict for kind in (CHECK_MODE, *KINDS.values()) if kind.without_verdict)
"""The words that may replace a verdict."""


def kind_of(run: Mapping[str, Any]) -> Kind:
    """Return the kind of a run: in check mode, a preflight."""
    return CHECK_MODE if (run.get("controller") or {}).get("check_mode") else opened_for(run)


def opened_for(run: Mapping[str, Any]) -> Kind:
    """Return the kind that a run was opened for, even if it was only a preflight."""
    return KINDS.get(str(run.get("kind")), DEFAULT)


def kind_named(name: str) -> Kind:
    """Return the kind of a record, by its name. A record that only states why there is no result, such as the record of
    an error, has a kind without a name."""
    return _OF_RECORDS.get(name, _NONE)


def by_data_key(name: str, data: Any) -> dict[str, Any]:
    """Return the data that only records of one kind have, under the key of that kind. The keys of the other kinds hold
    None."""
    return {key: data if key == kind_named(name).data_key else None for key in DATA_KEYS}
