# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports the volumes whose latency drifts from certificate to certificate, using only the history."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Iterable, Mapping
from typing import Any

from .._fleet.outcome import DRIFT, make_outcome, one_message
from .._fleet.settings import read_margin
from .._history.compare.fleet_drift import DRIFTING, fleet_drift
from .._history.figures import figure_named
from .._history.states import day_of
from .._history_action import (
    CHANGE,
    DECLINES_FILE,
    HISTORY,
    HOSTS,
    PLAY_HOSTS,
    STATUS_PAGE,
    FleetAction,
    existing_pages,
    versions_here,
)
from .._report.history.drift import decline_sentence, declines_of, drift_text, gating_nights, label_of, render_drift
from .._run.files import write_json, write_text
from .._run.run_files import MAX_JSON_BYTES, RunDirectoryError, read_json

JSON_FILE = "drift.json"
PAGE = "drift.html"
SINCE = "drift_since"
"""The variable that holds the first day whose certificates are considered for a host, for example the day of an
intended change."""


class Step(FleetAction):
    """Runs only on the controller, once for all hosts. A later task fails a host if the two newest certificates of a
    volume are beyond the control limit. It fails the fleet if a whole class was slow on its two most recent nights, or
    became slower since its first certificates."""

    kind = "drift"
    argument_spec = {**CHANGE, **HOSTS, **PLAY_HOSTS, **HISTORY}

    def consult(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        hosts = self.expectation(options, task_vars).hosts
        figure, margin = figure_named(options["figure"]), read_margin(options["margin"])
        since = since_days(hosts, task_vars["hostvars"])
        with self.history(options) as history:
            drift = fleet_drift(history, hosts, figure=figure, margin=margin, since=since)
        page = os.path.join(options["report_dir"], PAGE)
        if self.write_to(options["report_dir"]):
            write_json(os.path.join(options["report_dir"], JSON_FILE), drift, compact=True)
            if not task_vars.get("ansible_limit"):  # a part of a class says little about the class
                self._write_declines(options, drift)
            others = existing_pages(options["report_dir"], [STATUS_PAGE])
            write_text(page, render_drift(drift, versions_here(), others))
        answer = self.tell(drift_text(drift, self.page(page)))
        beyond: dict[str, list[str]] = {}
        for volume in drift["volumes"]:
            if volume["state"] == DRIFTING:
                beyond.setdefault(volume["host"], []).append(label_of(volume))
        together = list(dict.fromkeys(night["class"] for night in gating_nights(drift)))
        own = {
            host: f"beyond the control limit, two certificates in a row: {', '.join(labels)}"
            for host, labels in beyond.items()
        }
        of_classes = [f"the volumes of {decline_sentence(each)}" for each in declines_of(drift)]
        if together:
            of_classes.append(f"slower as a class, two nights in a row: the volumes of {', '.join(together)}")
        outcome = make_outcome(DRIFT, one_message([*of_classes, *own.values()], JSON_FILE) or "no volume drifts")
        told = self.result(outcome, own, of_classes, options["play_hosts"], task_vars)
        return {
            "drifting": [label for labels in beyond.values() for label in labels],
            "drifting_classes": list(dict.fromkeys([*together, *(each["class"] for each in declines_of(drift))])),
            **told,
            **answer,
        }

    def _write_declines(self, options: dict[str, Any], drift: Mapping[str, Any]) -> None:
        """Write declines.json, unless it is about another figure of the same history, which the status follows."""
        path = os.path.join(options["report_dir"], DECLINES_FILE)
        with contextlib.suppress(RunDirectoryError):
            written = read_json(path, MAX_JSON_BYTES)
            if written.get("history") == options["place"] and written.get("figure") != options["figure"]:
                return
        write_json(path, declines_file(drift, options["place"], options["figure"]))


def declines_file(drift: Mapping[str, Any], history: str, figure: str) -> dict[str, Any]:
    """Return the content of declines.json."""
    found_at = drift["created_at"]
    return {
        "schema": drift["schema"],
        "history": history,
        "figure": figure,
        "declines": [
            {**each, "found_at": found_at, "text": f"{decline_sentence(each)}; found by drift on {found_at[:10]}"}
            for each in declines_of(drift)
        ],
    }


def since_days(hosts: Iterable[str], hostvars: Mapping[str, Mapping[str, Any]]) -> dict[str, datetime.date]:
    """Return the start day of each host that has one. Raises ValueError."""
    given = {host: str(hostvars[host].get(SINCE) or "") for host in hosts}
    return {host: day_of(day) for host, day in given.items() if day}
