# SPDX-License-Identifier: GPL-3.0-or-later
"""With the default callback, a certification of a healthy fleet prints few and narrow lines, and the summary begins
with the result."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import COMPILE, QUICK, Controller
from certification import summaries
from screen import lines_beside_tasks, widest
from testbed import Bed

Start = Callable[..., Bed]

MOST_PROGRESS = 11
WORDS = ["PASS,", "limits", "run", "result", "report"]
"""The first words of the lines of the summary. The disks of these tests cannot be certified."""


@pytest.mark.parametrize(
    ("count", "most"), [(3, 40 - MOST_PROGRESS), pytest.param(20, 42 - MOST_PROGRESS, marks=pytest.mark.thorough)]
)
def test_a_healthy_fleet_prints_the_answer_first_in_few_and_narrow_lines(
    start: Start, controller: Controller, tmp_path: Path, count: int, most: int
) -> None:
    """The first certification, which builds the testers. A long one prints up to MOST_PROGRESS lines of progress."""
    bed = start(*(f"h{number}" for number in range(count)))
    variables = {**QUICK, **COMPILE, "sweep_duration": 3}
    outcome = controller.run("certify", "-i", str(bed.inventory(tmp_path / "hosts.yml", variables=variables)))
    assert outcome.status == 0
    beside = lines_beside_tasks(outcome.screen)
    print(f"{len(outcome.screen.splitlines())} lines, {len(beside)} beside tasks, widest {len(widest(outcome.screen))}")
    assert len([line for line in beside if not re.match("logdisk: (0/|.* finished, )", line)]) <= most
    assert len(widest(outcome.screen)) <= 200
    (headline,) = summaries(outcome.screen)
    summary = beside[beside.index(headline) :]
    assert [line.split()[0] for line in summary] == WORDS
