#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs Galaxy's importer on a built artifact: importer.py ARTIFACT

The importer reports problems only in its log and not by its exit status, so every warning or error in the log counts as
a failure.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    artifact = Path(sys.argv[1]).resolve()
    tools = str(Path(sys.executable).parent)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    env = {**kept, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "GALAXY_IMPORTER_CONFIG": "", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory(prefix="logdisk-importer-") as directory:
        command = [sys.executable, "-m", "galaxy_importer.main", str(artifact)]
        done = subprocess.run(
            command, cwd=directory, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    log = done.stdout + done.stderr
    complaints = re.findall(r"^(?:WARNING|ERROR|CRITICAL).*", log, re.MULTILINE)
    passed = done.returncode == 0 and not complaints and "processing completed successfully" in log
    print("importer: passed" if passed else f"{log}\nimporter: status {done.returncode}, {len(complaints)} complaints")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
