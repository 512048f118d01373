# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for the programs of IBM MQ."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent


def install_amqsrua(program: Path, **play: object) -> None:
    """Install ``program``, which simulates amqsrua as described in amqsrua.py. Its directory is created if it does not
    exist."""
    program.parent.mkdir(parents=True, exist_ok=True)
    # The first line of the program is added here, because ansible-test refuses it in a file.
    program.write_text("#!/usr/bin/env python3\n" + (HERE / "amqsrua.py").read_text())
    program.chmod(0o755)
    program.with_suffix(".json").write_text(json.dumps(play))
