# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/logdisk.schema.json describes what `logdisk --json` prints."""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "workload",
    [
        ["--bsize=4K", "--over=1us"],
        ["--workload=commit", "--apps=2", "--msgSize=2K"],
        ["--stream=name=db,pattern=random,size=8K,read=50%"],
    ],
    ids=["log", "commit", "streams"],
)
def test_a_document_has_the_documented_schema(tmp_path, workload):
    command = [PROJECT / "src/build/logdisk", f"--dir={tmp_path}", "--fileSize=4M", "--numFiles=2", "--duration=1"]
    done = subprocess.run([*command, *workload, "--json", "--quiet", "--shareDevice"], capture_output=True, check=True)
    document = json.loads(done.stdout)
    schema = json.loads((PROJECT / "docs/logdisk.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["results"] and document["run"]["exit_status"] == 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({**document, "results": [{"step": "1"}]})
