# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Verifies signed runs: who signed them, and that no file has changed since."""

from __future__ import annotations

import os
from typing import Any

from .._action_base import ControllerAction
from .._fleet.messages import say
from .._fleet.outcome import one_message, shortened
from .._run.files import absolute
from .._run.table_reader import printable
from .._signing.run_signature import SignedRun, verify_run
from .._signing.ssh_keygen import parse_moment


class Step(ControllerAction):
    """Runs only on the controller, and fails unless every run is verified."""

    argument_spec = {
        "run": {"type": "list", "elements": "str"},
        "signers": {"type": "str", "default": ""},
        "principal": {"type": "str", "default": ""},
        "date": {"type": "str", "default": ""},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        paths = [os.path.realpath(absolute(path)) for path in options["run"] or []]
        if not paths:
            return {"failed": True, "msg": "no run is named: set verify_run to a run directory"}
        if not options["signers"]:
            return {"failed": True, "msg": "no file of allowed signers is named: set verify_signers to it"}
        signers = absolute(options["signers"])
        try:
            moment = parse_moment(options["date"]) if options["date"] else ""
            with open(signers, "rb"):
                pass
        except ValueError as error:
            return {"failed": True, "msg": f"verify_date: {error}"}
        except OSError as error:
            return {
                "failed": True,
                "msg": f"the file of allowed signers {signers} cannot be read: {error.strerror or error}",
            }
        signed, problems = [], []
        for path in paths:
            run, found = verify_run(path, signers, options["principal"], moment)
            problems += [f"{printable(path)}: {problem}" for problem in shortened(found)]
            signed += [run] if run else []
        say(self._display, "\n".join([*map(sentence, signed), *problems]))
        failure = {"failed": True, "msg": one_message(problems, "")} if problems else {}
        return {"verified": [run.run_id for run in signed], "problems": problems, **failure}


def sentence(run: SignedRun) -> str:
    """Return what the signature proves about a run. It does not prove when the run was judged."""
    files = f"all {run.files} files are as they were signed"
    return (
        f"{run.run_id}: signed by {run.signer.principal} with {run.signer.key}, judged at "
        f"{printable(run.judged_at)}; {files}"
    )
