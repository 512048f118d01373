# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of a run directory. Every format is made from the same model, written under a temporary name, and then
renamed."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator

from ...module_utils._command_lines import extra_variable
from .._run.directory import RunDirectory
from .._run.environment import as_started, vanishes
from .._run.files import read_file, write_text
from .._run.names import INDEX, SIGNATURE, SUMMARY

_MAX_SUMMARY_BYTES = 1 << 20


def render(run_directory: RunDirectory) -> dict[str, str]:
    """Write every file of the report, summary.txt last; returns their absolute paths by name. Raises OSError."""
    # Imported only here, because the page of a run in progress needs none of it, and Ansible compiles it each time.
    from .formats import RENDERERS
    from .model import build_model

    paths = {name: os.path.join(run_directory.path, name) for name in RENDERERS}
    with contextlib.suppress(FileNotFoundError):
        os.unlink(paths[SUMMARY])
    with _few_collections():
        model, named_in = build_model(run_directory), run_directory.run.get("playbooks_in")
        for name, write in RENDERERS.items():
            write_text(paths[name], (as_started(text, named_in) for text in write(model)))
    return paths


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Search for garbage in cycles 100 times less often. A model has millions of objects and no cycles; searching
    them takes an eighth of the processor time."""
    usual = gc.get_threshold()
    gc.set_threshold(100 * usual[0], *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def finish(run_directory: RunDirectory) -> None:
    """Judge and render a run that did not reach its gate; does nothing if the report is complete. Raises OSError."""
    if os.path.lexists(os.path.join(run_directory.path, SUMMARY)):
        return
    if run_directory.verdict() is None:
        from .._records.fleet import REPORT, judge_run

        judge_run(run_directory, REPORT)
    render(run_directory)


def summary(run_directory: RunDirectory, url: str = "", kept: bool = False) -> str:
    """Return the text to show after the play recap, from a complete report. The text includes the location of the
    report. ``url`` is the URL of the archive of the run directory, if it was uploaded. ``kept``: whether the history
    keeps the run directory. Raises OSError.
    """
    text = read_file(os.path.join(run_directory.path, SUMMARY), _MAX_SUMMARY_BYTES).decode("utf-8")
    return text + "".join(f"  {line}\n" for line in _places(run_directory, url, kept))


def _places(run_directory: RunDirectory, url: str, kept: bool) -> Iterator[str]:
    if url:
        yield f"report   {url}"
    if kept:
        report_run = extra_variable("report_run", run_directory.run["run_id"])
        yield f"kept     in the history: playbooks/report.yml {report_run} brings the report back"
    if not vanishes(run_directory.path):
        yield f"report   {os.path.join(run_directory.path, INDEX)}"
        if os.path.lexists(os.path.join(run_directory.path, SIGNATURE)):
            yield f"signed   {os.path.join(run_directory.path, SIGNATURE)}"
    elif not url and not kept:
        yield (
            "report   deleted with this job: keep it with gate_keep_report, gate_upload_url, or a "
            "gate_report_dir that outlives the job"
        )
