# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The formats of a report. Each module in this package is one format: FILE is the name of its file, and render() yields
the text of the file from a model.

If AFTER_OTHERS is true, the format reads files of other formats. docs/report.md lists the files.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..._run.names import SUMMARY
from ..model import Model


def _found() -> dict[str, Callable[[Model], Iterator[str]]]:
    modules: list[Any] = [
        importlib.import_module(f"{__name__}.{path.stem}")
        for path in Path(__file__).parent.glob("*.py")
        if path.stem != "__init__"
    ]
    modules.sort(key=lambda module: (module.FILE == SUMMARY, getattr(module, "AFTER_OTHERS", False), module.FILE))
    return {module.FILE: module.render for module in modules}


RENDERERS = _found()
"""The report's files and their writers. The summary is last: if it exists, the others also exist."""
