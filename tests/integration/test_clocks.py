# SPDX-License-Identifier: GPL-3.0-or-later
"""A certification on a controller whose clock was a year ahead: it certifies nothing and hides nothing."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import MOST_TRIES, QUICK, Controller, Outcome
from certification import Certification
from test_history import BAD, GOOD, states
from testbed import Bed, HostSpec

YEAR_S = 365 * 86400
# The controller's programs are Python, and no clock of this machine may be changed.
SHIFT = f"""
import datetime, time
true_time, true_datetime = time.time, datetime.datetime
time.time = lambda: true_time() + {YEAR_S}
class Shifted(true_datetime):
    @classmethod
    def now(cls, tz=None):
        return true_datetime.fromtimestamp(time.time(), tz)
datetime.datetime = Shifted
"""


def newest(outcome: Outcome) -> Certification:
    """Return the run that was written last. Its ID contains a time, which may be wrong."""
    return max(outcome.certifications, key=lambda each: (each.path / "verdict.json").stat().st_mtime)


def certify(controller: Controller, inventory: Path, effect: str, profile: dict) -> Outcome:
    """Certify until the effect is as expected, because other load on this machine can make a run inconclusive."""
    for _ in range(MOST_TRIES):
        outcome = controller.run("certify", "-i", str(inventory), gate_profile=profile)
        if json.loads((newest(outcome).path / "hosts/h1/log/certificate.json").read_text())["effect"] == effect:
            return outcome
    pytest.fail(f"this machine spoiled each of {MOST_TRIES} runs")


def test_a_certificate_from_the_future_hides_no_failure(
    start: Callable[..., Bed], controller: Controller, tmp_path: Path
) -> None:
    inventory = start(HostSpec("h1", alone=True)).inventory(
        tmp_path / "hosts.yml", variables={**QUICK, "gate_profile": GOOD}
    )
    (tmp_path / "ahead").mkdir()
    (tmp_path / "ahead/sitecustomize.py").write_text(SHIFT)
    environment = {**controller.environment, "PYTHONPATH": str(tmp_path / "ahead")}
    ahead = dataclasses.replace(controller, environment=environment)

    future = certify(ahead, inventory, "certifies", GOOD)
    assert future.status == 0
    assert "the clocks of 1 of 1 hosts differ from it, for example that of h1 by -31536" in future.words
    only = newest(future)
    year = only.path.name[:4]
    nothing = controller.run("status", "-i", str(inventory))
    assert (nothing.status, states(nothing)) == (2, {"h1": "none"})
    assert f"its certificate is dated {year}-" in nothing.words

    # The clock is right again. This run fails, and the certificate from the future does not hide that.
    failed = certify(controller, inventory, "fails", BAD)
    assert failed.status == 2
    assert f"the newest results in the history were stored when a controller's clock showed {year}-" in failed.words
    assert any("newest results in the history" in note for note in newest(failed).records["h1"]["notes"])
    status = controller.run("status", "-i", str(inventory))
    assert (status.status, states(status)) == (2, {"h1": "failed"})
    assert f"wrong date h1: run {only.path.name} is dated {year}-" in status.words

    merged = controller.run("report", "-i", str(inventory), report_runs=[str(only.path), str(newest(failed).path)])
    assert merged.status != 0 and f"The run {only.path.name} is dated {year}-" in merged.words

    # The next pass certifies.
    passed = certify(controller, inventory, "certifies", GOOD)
    assert passed.status == 0 and "newest results in the history" not in passed.words
    status = controller.run("status", "-i", str(inventory))
    assert (status.status, states(status)) == (0, {"h1": "valid"})
    assert "wrong date" not in status.words
    earlier = controller.run("status", "-i", str(inventory), status_today="2020-01-01")
    assert earlier.status == 2
