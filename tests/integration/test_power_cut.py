# SPDX-License-Identifier: GPL-3.0-or-later
"""The power of hosts is cut while they are writing. The report shows which writes their disks kept, and contains
nothing that was not observed."""

import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from ansible_runs import PROFILE, PROJECT, Controller, Outcome
from testbed import Bed, HostSpec, Settings, processes
from testbed.host import Host
from testbed.shell import wait_for

SMALL = {
    "workspace_path": "/fut/logdisk",
    "cut_after": 2,
    "cut_file_size": "1M",
    "cut_files": 4,
}


def power(settings: Settings, cut: str, boot: str = "") -> str:
    """Return a command that ends as soon as the host has no power. The power is switched on again in the background."""
    command = (
        f"PYTHONPATH={PROJECT}/tests LOGDISK_TESTBED_STATE={settings.state_base} {sys.executable} -m "
        f"testbed --prefix {settings.prefix}"
    )
    off, on = (f"{command} {verb} {{{{ inventory_hostname }}}}" for verb in (cut, boot))
    return f"{off} && ({on} &)" if boot else off


def inventory(bed: Bed, path: Path, **variables: object) -> str:
    return str(bed.inventory(path / "hosts.yml", variables=variables))


def cut_host(name: str, character: str = "honest", **variables: object) -> HostSpec:
    """Return a host whose own variables allow its power to be cut."""
    return HostSpec(name, disk="cut", character=character, variables={"cut_confirm": name, **variables})


def is_writing(host: Host) -> bool:
    """Return whether the tester of a host has written more than its new files."""
    counts = [Path(f"/proc/{pid}/io").read_text().split()[3] for pid in host.pids("logdisk")]
    return any(int(count) > 5 << 20 for count in counts)


def is_connected(host: Host) -> bool:
    """Return whether a run still has its separate connection to the tester of a host."""
    lines = map(processes.command_line, processes.all_pids())
    return any(line.startswith("ssh ") and host.address in line and "--acknowledge" in line for line in lines)


def left_on(bed: Bed, name: str) -> list[str]:
    return [path for path in bed[name].files("/fut", "/root/.mqops-logdisk") if "logdisk-2" in path or "/runs/" in path]


@pytest.mark.long
def test_each_host_gets_the_outcome_of_its_disk(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    """One disk keeps everything, and its power is cut twice. Another disk loses its cache, and one host does not come
    back."""
    back, gone = power(settings, "cut", "boot"), power(settings, "cut")
    bed = start(
        cut_host("honest", cut_command=back, cut_count=2),
        cut_host("liar", "tail", cut_command=back),
        cut_host("gone", cut_command=gone, cut_wait=5, ansible_ssh_timeout=5),
    )

    outcome = controller.run("power_cut", "-i", inventory(bed, tmp_path), **SMALL)

    assert outcome.status == 2
    records = outcome.certification.records
    cuts = {host: record["durability"]["cuts"] for host, record in records.items()}
    assert {host: [cut["outcome"] for cut in found] for host, found in cuts.items()} == {
        "honest": ["kept", "kept"],
        "liar": ["lost"],
        "gone": ["inconclusive"],
    }
    assert {host: record["verdict"] for host, record in records.items()} == {
        "honest": "pass",
        "liar": "fail",
        "gone": "inconclusive",
    }
    assert len({cut["seed"] for cut in cuts["honest"]}) == len({cut["boot_id_after"] for cut in cuts["honest"]}) == 2
    (total,) = [row for row in cuts["liar"][0]["rows"] if row["worker"] == "all"]
    assert int(total["lost_tail_writes"]) > 0
    assert f"{int(total['lost_tail_writes']):,} acknowledged writes at the end are gone" in cuts["liar"][0]["reason"]
    assert "did not come back" in cuts["gone"][0]["reason"]
    assert left_on(bed, "honest") == left_on(bed, "liar") == []
    folder = outcome.certification.path / "hosts/honest/log"
    assert {path.name for path in folder.iterdir()} >= {
        f"{name}_{number}.csv" for name in ("durability", "run") for number in (1, 2)
    }
    assert (folder / "acknowledged-2.txt").read_text().startswith("ready ")

    # The history keeps both results for the volumes, regardless of their latency.
    later = controller.certify(tmp_path / "hosts.yml", "--limit", "honest:liar")
    hosts = {host["host"]: host for host in later.certifications[-1].report["hosts"]}
    assert hosts["liar"]["verdict"] == "fail" and "lost acknowledged writes: cut 1: " in " ".join(
        hosts["liar"]["reasons"]
    )
    assert "2 cuts without a loss" in " ".join(hosts["honest"]["notes"])
    status = controller.run("status", "-i", str(tmp_path / "hosts.yml"), "--limit", "liar")
    assert status.status == 2 and "liar: lost acknowledged writes in a power cut on " in status.words


@pytest.mark.thorough
def test_a_cut_that_nobody_saw_and_one_that_must_not_be(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    """If a command interrupts the network before it cuts the power, and the disk loses acknowledged writes, the cut is
    inconclusive. If a queue manager starts while the tester is writing, the power is not cut."""
    bed = start(
        cut_host("silenced", "tail", cut_command=power(settings, "cut --silent 2", "boot")),
        cut_host("started", cut_command=f"touch {tmp_path}/cut", cut_after=10, cut_count=2),
    )
    running = controller.start("power_cut", "-i", inventory(bed, tmp_path, **SMALL))
    wait_for(lambda: is_writing(bed["started"]), "the tester writes")
    queue_manager = "/usr/local/bin/amqzxma0"
    bed.ssh(
        bed["started"],
        f"printf '#!/bin/sh\nsleep 900\n' > {queue_manager}; chmod 755 {queue_manager}; setsid "
        f"{queue_manager} -m QM7 > /dev/null 2>&1 &",
    )
    assert running.wait() == 2

    (run,) = Outcome(2, "", controller.directory).certifications
    cuts = {host: record["durability"]["cuts"] for host, record in run.records.items()}
    assert {host: [cut["outcome"] for cut in found] for host, found in cuts.items()} == {
        "silenced": ["inconclusive"],
        "started": ["inconclusive"] * 2,
    }
    (silenced,) = cuts["silenced"]
    assert silenced["visible_from_ns"] > silenced["silence_ns"] > 2 * 10**9
    assert (
        "before it was known that the power was off" in silenced["reason"]
        or "writes were found that had not been acknowledged" in silenced["reason"]
    )
    for cut in cuts["started"]:
        assert "queue managers are running on this host (QM7)" in cut["reason"]
    assert not (tmp_path / "cut").exists()
    assert left_on(bed, "silenced") == left_on(bed, "started") == []


@pytest.mark.thorough
@pytest.mark.parametrize(("first", "second"), list(combinations(range(5), 2)))
def test_two_of_five_that_cannot_be_prepared_cost_the_others_nothing(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path, first: int, second: int
) -> None:
    """Hosts that cannot be prepared do not affect the others, regardless of their positions in the inventory."""
    back, unprepared = power(settings, "cut", "boot"), (first, second)
    too_large = {"cut_file_size": "64G"}
    bed = start(
        *(
            cut_host(f"h{number}", cut_command=back, **(too_large if number in unprepared else {}))
            for number in range(5)
        )
    )

    outcome = controller.run("power_cut", "-i", inventory(bed, tmp_path, **SMALL))

    assert outcome.status == 2
    records = outcome.certification.records
    outcomes = {
        host: [cut["outcome"] for cut in (record.get("durability") or {}).get("cuts", [])]
        for host, record in records.items()
    }
    assert outcomes == {f"h{number}": [] if number in unprepared else ["kept"] for number in range(5)}
    for number in range(5):
        record = records[f"h{number}"]
        assert record["verdict"] == ("error" if number in unprepared else "pass")
        assert number not in unprepared or "free" in record["reasons"][0]
        assert left_on(bed, f"h{number}") == []


@pytest.mark.thorough
def test_what_is_no_cut_of_a_writing_host_shows_nothing(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    """No conclusion is drawn if a connection is lost before the cut, if the power is cut while the files are being
    created, if a second run starts at the same time, or after Ctrl-C. After Ctrl-C, the clean-up removes everything."""
    must_not_run = {"cut_command": f"touch {tmp_path}/cut", "cut_after": 3600}
    bed = start(cut_host("lost", **must_not_run), cut_host("early", **must_not_run, cut_file_size="48M"))
    lost, early = bed["lost"], bed["early"]
    hosts = inventory(bed, tmp_path, **{**SMALL, "cut_after": 3600})
    first = controller.start("power_cut", "-i", hosts)
    wait_for(lambda: early.pids("logdisk"), "the tester begins to write its files")
    early.hang()
    early.cut()
    early.boot()
    wait_for(lambda: is_writing(lost), "the tester writes")

    second = controller.run("power_cut", "-i", hosts, "--limit", "lost")
    assert second.status == 2
    assert "another certification is running on this host" in second.certifications[-1].records["lost"]["reasons"][0]

    lost.link_down()
    wait_for(lambda: not is_connected(lost), "the connection of the witness is lost")
    lost.link_up()
    assert first.wait() == 2
    records = second.certifications[0].records
    reasons = {host: [cut["reason"] for cut in record["durability"]["cuts"]] for host, record in records.items()}
    assert {host: record["verdict"] for host, record in records.items()} == {
        "lost": "inconclusive",
        "early": "inconclusive",
    }
    assert reasons["lost"][0].startswith("the connection to the tester broke before the cut")
    assert reasons["early"][0].startswith(
        "the files were not complete when the connection broke, so nothing can be concluded"
    )
    assert not (tmp_path / "cut").exists()
    assert left_on(bed, "lost") == left_on(bed, "early") == []

    with (tmp_path / "screen").open("w") as screen:
        interrupted = controller.start("power_cut", "-i", hosts, "--limit", "lost", stdout=screen)
        wait_for(lambda: is_writing(lost), "the tester writes again")
        assert controller.interrupt(interrupted) != 0
    wait_for(lambda: not lost.pids("logdisk"), "the tester ends with its connection")
    assert [path for path in left_on(bed, "lost") if path.endswith("/logdisk.acknowledge")]
    assert controller.run("cleanup", "-i", hosts, "--limit", "lost").status == 0
    assert left_on(bed, "lost") == []
    assert not (tmp_path / "cut").exists()


@pytest.mark.thorough
def test_a_playbook_cuts_one_host_after_the_other(
    start: Callable[..., Bed], controller_of: Callable[[str], Controller], settings: Settings, tmp_path: Path
) -> None:
    """With the oldest ansible-core. The command runs the playbook."""
    controller = controller_of("2.16")
    playbook = tmp_path / "outlet.yml"
    switch = power(settings, "cut", "boot").replace("inventory_hostname", "outlet")
    playbook.write_text(
        f"""---
- name: Switch the outlet
  hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - name: Look up the outlet
      ansible.builtin.fail:
        msg: there is no such outlet
      when: outlet == 'unplugged'
    - name: Switch the outlet
      ansible.builtin.shell: {switch}
"""
    )
    command = f"{controller.tools}/ansible-playbook -i localhost, {playbook} -e outlet={{{{ inventory_hostname }}}}"
    bed = start(cut_host("one"), cut_host("unplugged", cut_wait=5))
    # On a busy machine, Ansible may need some time after the tasks have ended.
    profile = {**PROFILE, "durability": {"blind_ms": 60_000}}
    hosts = inventory(bed, tmp_path, **SMALL, cut_command=command, cut_serial=True, gate_profile=profile)

    preflight = controller.run("power_cut", "-i", hosts, "--check")
    assert preflight.status == 0
    assert "the power of one is cut once, each time after 2 s of writing, by: " in preflight.words
    assert "No cut of a host tests a SAN array" in preflight.words
    assert bed["one"].files("/fut/logdisk") == []

    outcome = controller.run("power_cut", "-i", hosts)
    assert outcome.status == 2
    assert outcome.screen.count("PLAY [Cut the power]") == 2
    cuts = {host: record["durability"]["cuts"][0] for host, record in outcome.certifications[-1].records.items()}
    assert {host: cut["outcome"] for host, cut in cuts.items()} == {"one": "kept", "unplugged": "inconclusive"}
    assert "the cut command failed: status 2" in cuts["unplugged"]["reason"]
    assert "there is no such outlet" in cuts["unplugged"]["reason"]
    assert left_on(bed, "one") == left_on(bed, "unplugged") == []
