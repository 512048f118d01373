# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Maintains the history: imports run directories and results of mqldt, revokes certificates, and removes old
entries."""

from __future__ import annotations

import getpass
import os
from collections.abc import Collection
from typing import Any

from .._fleet.messages import say
from .._history.mqldt.import_files import Origin, import_mqldt
from .._history.states import day_of
from .._history.store.filing import import_runs, prune
from .._history.store.history import History
from .._history_action import HISTORY, HistoryAction
from .._run.files import absolute
from .._run.record import DEFAULT_VOLUME


class Step(HistoryAction):
    """Runs only on the controller."""

    argument_spec = {
        "import": {"type": "list", "elements": "str"},
        "import_mqldt": {"type": "list", "elements": "str"},
        "mqldt_host": {"type": "str", "default": ""},
        "mqldt_dates": {"type": "list", "elements": "str"},
        "mqldt_volume": {"type": "str", "default": DEFAULT_VOLUME},
        "revoke": {"type": "str"},
        "reason": {"type": "str", "default": ""},
        "prune_before": {"type": "str"},
        **HISTORY,
    }

    def consult(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if not any(options[name] for name in ("import", "import_mqldt", "revoke", "prune_before")):
            raise ValueError(
                "specify what to do: set history_import, history_import_mqldt, history_revoke or history_prune_before"
            )
        if self._task.check_mode:
            return {"skipped": True, "msg": "the history is not changed in check mode"}
        create = bool(options["import"] or options["import_mqldt"])
        if create and not options["history"]:
            os.makedirs(os.path.dirname(options["place"]), exist_ok=True)
        with self.history(options, create) as history:
            done, problems = keep(history, options, task_vars["groups"]["all"])
        say(self._display, "\n".join(done))
        failure = {"failed": True, "msg": " | ".join(problems)} if problems else {}
        return {"changed": True, "done": done, "problems": problems, **failure}


def keep(history: History, options: dict[str, Any], hosts: Collection[str]) -> tuple[list[str], list[str]]:
    """Perform the requested actions. Returns a sentence for each action, and the problems. ``hosts`` are the hosts of
    the inventory. Raises OSError and ValueError."""
    done: list[str] = []
    problems: list[str] = []
    if options["import"]:
        total, added, problems = import_runs(history, [absolute(path) for path in options["import"]])
        done.append(f"The history {history.place} had {total - added} of {total} entries, and {added} were added.")
    if options["import_mqldt"]:
        origin = Origin(options["mqldt_volume"], options["mqldt_host"], options["mqldt_dates"], hosts)
        imported, damaged = import_mqldt(
            history, [absolute(path) for path in options["import_mqldt"]], origin, day_of(None)
        )
        done += imported
        problems += damaged
    if options["revoke"]:
        done.append(revoke(history, options["revoke"], options["reason"]))
    if options["prune_before"]:
        removed, runs, kept = prune(history, options["report_dir"], day_of(options["prune_before"]))
        done.append(
            f"{removed} entries, {len(runs)} run directories and {kept} reports in the history were removed; entries "
            "that decide the present state of a volume were kept."
        )
    return done, problems


def revoke(history: History, named: str, reason: str) -> str:
    """Revoke a certificate, or withdraw a volume that is given as host:/mount/point. Returns a sentence about what was
    done. Raises HistoryError."""
    label, is_volume, rest = named.partition(":/")
    if is_volume:
        count = history.take_out(label, f"/{rest}", reason, getpass.getuser())
        return f"The volume {named} is withdrawn: {count} entries are revoked."
    certificate = history.certificate(named)
    history.revoke(certificate.sha256, reason, getpass.getuser())
    return (
        f"The certificate {certificate.sha256} of {certificate.entry.label} ({certificate.entry.profile}) is revoked."
    )
