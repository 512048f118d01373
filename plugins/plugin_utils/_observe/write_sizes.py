# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sizes of the log writes of a queue manager, as published while queue managers were discovered. The data is
untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._run.shapes import as_dict
from .._run.table_reader import printable
from .interval import LOG, Observation, Options
from .samples import samples_of
from .sources import SOURCES

NOT_WRITTEN = "it wrote nothing to its log"
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class WriteSizes:
    """The published averages and their source, or the reason why there are none."""

    source: str = ""
    sizes_bytes: tuple[float, ...] = ()
    problem: str = ""


def read_write_sizes(observed: Any) -> WriteSizes:
    """Return the answer of ``watch`` of ``_sources/choice.py`` on the host about a queue manager."""
    answer = as_dict(observed)
    observation = _averages(answer)
    if observation is None:
        return WriteSizes(problem=printable(str(answer.get("problem") or "the host did not answer")[:_LONGEST]))
    intervals = [each for each in observation.intervals if each.stream == LOG]
    sizes = tuple(each.write_size_mean_bytes for each in intervals if each.write_size_mean_bytes and each.bytes != 0)
    idle = bool(intervals) and all(each.bytes == 0 for each in intervals)
    return WriteSizes(
        answer["source"],
        sizes,
        "" if sizes else NOT_WRITTEN if idle else " ".join(observation.problems) or "no write size was published",
    )


def _averages(answer: Mapping[str, Any]) -> Observation | None:
    """Return the averages in an answer; None if it has none. Discovery uses only sources of averages."""
    source, samples = SOURCES.get(str(answer.get("source"))), answer.get("samples")
    if source is None or not isinstance(samples, list):
        return None
    observation: Observation = source.read(samples_of(samples), Options())
    return observation if observation.facts.get("operations_are_estimated") else None
