# SPDX-License-Identifier: GPL-3.0-or-later
"""The tester runs as the promised user or not at all, regardless of the privilege settings in the inventory."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller, first_of
from testbed import Bed, HostSpec

Start = Callable[..., Bed]
ELSEWHERE = {"tester_dir": "/var/tmp/tester", "sweep_state_dir": "/var/tmp/state"}


@pytest.mark.parametrize("method", first_of(["binary", "compile"]))
def test_the_inventory_asks_for_root(start: Start, controller: Controller, tmp_path: Path, method: str) -> None:
    """If an inventory enables privilege escalation for other playbooks, the playbooks of the collection do not use it.
    Only workspace_owner selects the user."""
    bed = start(
        HostSpec("user", user="ops"),
        HostSpec("plain", user="ops", variables={"ansible_become": True}),
        HostSpec(
            "named",
            user="ops",
            variables={"ansible_become": True, "ansible_become_user": "root", "workspace_owner": "nobody", **ELSEWHERE},
        ),
        HostSpec("other", user="ops", variables={"ansible_become": False, "workspace_owner": "nobody", **ELSEWHERE}),
        HostSpec("root", user="ops", variables={"workspace_owner": "root"}),
    )
    inventory = bed.inventory(tmp_path / "hosts.yml")
    outcome = controller.certify(inventory, tester_method=method)
    assert outcome.status == 0
    facts = {name: record["facts"] for name, record in outcome.certification.records.items()}
    assert {name: found["user"] for name, found in facts.items()} == {
        "user": "ops",
        "plain": "ops",
        "named": "nobody",
        "other": "nobody",
        "root": "root",
    }
    promised = {
        "user": "the connecting user",
        "plain": "the connecting user",
        "named": "nobody",
        "other": "nobody",
        "root": "root",
    }
    assert {name: found["promised_user"] for name, found in facts.items()} == promised
    assert {host.name: host.files("/fut/logdisk") for host in bed} == {name: [] for name in facts}


@pytest.mark.parametrize(
    ("extra", "owner", "refusal"),
    first_of(
        [
            ({"ansible_become": True}, "", "ansible_become"),
            ({"ansible_become_user": "root"}, "nobody", "nobody"),
            ({"ansible_become": False}, "nobody", "nobody"),
        ]
    ),
    ids=[
        "root instead of the connecting user",
        "root instead of the owner",
        "the connecting user instead of the owner",
    ],
)
def test_extra_variables_are_refused(
    start: Start, controller: Controller, tmp_path: Path, extra: dict[str, object], owner: str, refusal: str
) -> None:
    """Extra variables override every playbook, so extra variables that would change the user of the tester are refused
    before they take effect."""
    bed = start(HostSpec("h1", user="ops", variables={"workspace_owner": owner, **(ELSEWHERE if owner else {})}))
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"), **extra)
    assert outcome.status == 2
    (reason,) = outcome.certification.records["h1"]["reasons"]
    assert refusal in reason
    assert "extra variables" in reason
    assert bed["h1"].files("/fut/logdisk", "/var/tmp") == []


@pytest.mark.thorough
def test_a_host_without_the_owner_says_so(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The error is reported whether or not Ansible sends a file to the host. If it does, chmod fails first; otherwise,
    sudo fails first."""
    bed = start(HostSpec("piped", user="ops"), HostSpec("sent", user="ops", variables={"ansible_pipelining": False}))
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"), "--check", workspace_owner="nosuch")
    assert outcome.status == 2
    for record in outcome.certification.records.values():
        assert record["reasons"] == [
            "tester: workspace_owner: there is no user nosuch on this host: create it, or set workspace_owner to "
            "another one, or to an empty text for the connecting user"
        ]


@pytest.mark.thorough
def test_the_other_playbooks_follow_the_owner_alone(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The clean-up does not become root. If it did, it would look in root's home directory, and would not find the
    files that the connecting user left."""
    bed = start(HostSpec("h1", user="ops", variables={"ansible_become": True}))
    bed.ssh(
        bed["h1"],
        'mkdir -p -m 700 .mqops-logdisk/runs/R-log; printf \'{"kind": "mqops.logdisk"}\' > '
        ".mqops-logdisk/runs/R-log/.mqops-logdisk.json",
    )
    inventory = bed.inventory(tmp_path / "hosts.yml", variables=QUICK)
    for playbook in ("stop", "cleanup"):
        refused = controller.run(playbook, "-i", str(inventory), ansible_become=True)
        assert refused.status == 2
        assert "extra variables" in refused.words
    assert controller.run("cleanup", "-i", str(inventory)).status == 0
    assert bed["h1"].files("/home/ops/.mqops-logdisk/runs") == []


@pytest.mark.parametrize("password", ["reports", "ops"])
def test_a_password_that_is_part_of_a_path_spoils_no_path(
    start: Start, controller: Controller, tmp_path: Path, password: str
) -> None:
    """From version 2.22 on, ansible-core masks a password wherever it occurs, such as the one of a user "ansible" below
    /home/ansible."""
    home = tmp_path / "home/ops"
    home.mkdir(parents=True)
    bed = start(HostSpec("h1", user="ops", variables={"workspace_owner": "root", "ansible_become_password": password}))
    outcome = replace(controller, directory=home).certify(bed.inventory(home / "hosts.yml"))
    assert outcome.status == 0
    path = outcome.certification.path
    before, summary = outcome.screen.split("PLAY RECAP")
    assert "\nPASS" in summary and f"  report   {path}/index.html\n" in summary
    assert f"{path}/index.html\n" in before and f"collect_run={path}\n" in before
