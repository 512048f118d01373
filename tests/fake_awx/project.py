# SPDX-License-Identifier: GPL-3.0-or-later
"""The repository as an AWX project: its files, and which of them AWX offers as playbooks."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# AWX offers a YAML file as a playbook if one of its lines matches this, in any directory,
PLAYBOOK = re.compile(
    r"^\s*?-?\s*?(?:hosts|(?:ansible\.builtin\.)?include|(?:ansible\.builtin\.)?import_playbook):\s*?.*?$"
)
# unless part of its path is one of these or begins with a dot.
SKIPPED = {"roles", "tasks", "group_vars", "host_vars"}


def project_files() -> list[Path]:
    """Return the files that are, or would be, committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in listed.stdout.splitlines() if (ROOT / (path := Path(name))).is_file()]


def playbooks(root: Path, files: Iterable[Path]) -> set[str]:
    return {
        str(path)
        for path in files
        if path.suffix in (".yml", ".yaml") and not _skipped(path) and _matches((root / path).read_text())
    }


def _skipped(path: Path) -> bool:
    return any(part in SKIPPED or part.startswith(".") for part in path.parts)


def _matches(text: str) -> bool:
    return any(PLAYBOOK.match(line) for line in text.splitlines()) or text.startswith("$ANSIBLE_VAULT")
