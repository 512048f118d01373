# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sources that observe a live queue manager. Each module in this package reads the samples that the module with the
same name in module_utils/_sources collects. Each has read(), SOURCE (its name), TITLE (what it sees) and CAVEAT (what
its figures do not show).
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any


def _found() -> dict[str, Any]:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {module.SOURCE: module for module in modules}


SOURCES = _found()
