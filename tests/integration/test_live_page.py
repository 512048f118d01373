# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a run exists while hosts measure, and shows what they have finished."""

import re
import time
from collections.abc import Callable
from pathlib import Path

from ansible_runs import QUICK, Controller
from testbed import Bed

Start = Callable[..., Bed]
RELOADS = '<meta http-equiv="refresh"'
SWEEP = {**QUICK, "sweep_block_sizes": ["4K", "16K", "64K"], "sweep_duration": 15, "sweep_rate": 500}


def pages_of(running, page: Path) -> list[str]:
    """Return the different contents of a page until the command has ended."""
    pages: list[str] = []
    while running.poll() is None:
        text = page.read_text() if page.exists() else ""
        if text and text not in pages[-1:]:
            pages.append(text)
        time.sleep(0.1)
    return [*pages, page.read_text()]


def test_a_certification_shows_what_its_hosts_have_finished(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    bed = start("h1", "h2")
    inventory = bed.inventory(tmp_path / "hosts.yml", variables=SWEEP)
    with (tmp_path / "screen").open("w+") as screen:
        running = controller.start("certify", "-i", str(inventory), stdout=screen)
        first, *rounds, final = pages_of(running, controller.directory / "reports" / "latest" / "index.html")
        screen.seek(0)
        said = screen.read()
    print(said)
    finished = [re.findall(r'<th scope="col">(\d+ KiB)</th>', page) for page in rounds]
    print(finished)
    assert running.returncode == 0
    (named,) = re.findall(r"^logdisk: progress, later the report: (.*)$", said, re.MULTILINE)
    assert Path(named).read_text() == final
    assert "not started yet" in first and "Measuring takes about 51 s" in first
    assert all(RELOADS in page and "not judged yet" in page for page in (first, *rounds[:-1]))
    assert ["4 KiB", "16 KiB"] in finished
    assert RELOADS not in final and "not judged yet" not in final
    lines = re.findall(r"^logdisk: (4 KiB|16 KiB) finished, p99 .* on h\d", said, re.MULTILINE)
    assert lines == ["4 KiB", "16 KiB"]
