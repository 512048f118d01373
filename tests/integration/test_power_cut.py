# SPDX-License-Identifier: GPL-3.0-or-later
"""The power of hosts is cut while they write: what their disks kept is told, and nothing is claimed that was not seen."""

import sys
from collections.abc import Callable
from pathlib import Path

from ansible_runs import PROJECT, Controller
from testbed import Bed, HostSpec, Settings

SMALL = {
    "workspace_path": "/fut/logdisk",
    "cut_after": 2,
    "cut_file_size": "1M",
    "cut_files": 4,
}


def power(settings: Settings, *verbs: str) -> str:
    """A command that does things to the power of the host."""
    command = f"PYTHONPATH={PROJECT}/tests LOGDISK_TESTBED_STATE={settings.state_base} {sys.executable} -m testbed --prefix {settings.prefix}"
    return " && ".join(f"{command} {verb} {{{{ inventory_hostname }}}}" for verb in verbs)


def inventory(bed: Bed, path: Path, **variables: object) -> str:
    return str(bed.inventory(path / "hosts.yml", variables={"cut_confirm": "{{ inventory_hostname }}", **variables}))


def left_on(bed: Bed, name: str) -> list[str]:
    return [path for path in bed[name].files("/fut", "/root/.mqops-logdisk") if "logdisk-2" in path or "/runs/" in path]


def test_each_host_gets_the_outcome_of_its_disk(start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path) -> None:
    """One is honest and its power is cut twice, one loses its cache, one does not come back."""
    back, gone = power(settings, "cut", "boot"), power(settings, "cut")
    bed = start(
        HostSpec("honest", disk="cut", variables={"cut_command": back, "cut_count": 2}),
        HostSpec("liar", disk="cut", character="tail", variables={"cut_command": back}),
        HostSpec("gone", disk="cut", variables={"cut_command": gone, "cut_wait": 5, "ansible_ssh_timeout": 5}),
    )

    outcome = controller.run("power_cut", "-i", inventory(bed, tmp_path), **SMALL)

    assert outcome.status == 2
    records = outcome.certification.records
    cuts = {host: record["durability"]["cuts"] for host, record in records.items()}
    assert {host: [cut["outcome"] for cut in found] for host, found in cuts.items()} == {"honest": ["kept", "kept"], "liar": ["lost"], "gone": ["inconclusive"]}
    assert {host: record["verdict"] for host, record in records.items()} == {"honest": "pass", "liar": "fail", "gone": "inconclusive"}
    assert len({cut["seed"] for cut in cuts["honest"]}) == len({cut["boot_id_after"] for cut in cuts["honest"]}) == 2
    (total,) = [row for row in cuts["liar"][0]["rows"] if row["worker"] == "all"]
    assert int(total["lost_tail_writes"]) > 0
    assert f"{int(total['lost_tail_writes']):,} acknowledged writes at the end are gone" in cuts["liar"][0]["reason"]
    assert "did not come back" in cuts["gone"][0]["reason"]
    assert left_on(bed, "honest") == left_on(bed, "liar") == []
    folder = outcome.certification.path / "hosts/honest/log"
    assert {path.name for path in folder.iterdir()} >= {f"{name}_{number}.csv" for name in ("durability", "run") for number in (1, 2)}
    assert (folder / "acknowledged-2.txt").read_text().startswith("ready ")
    assert not [path for path in folder.iterdir() if path.name.startswith("witness")]
