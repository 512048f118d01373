# SPDX-License-Identifier: GPL-3.0-or-later
"""A bed of hosts on one bridge."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from testbed import reaper, trees
from testbed.host import Host, HostSpec
from testbed.servers import Server
from testbed.settings import Settings
from testbed.shell import TestbedError, run, wait_for

INTERPRETER = "/usr/bin/python3"


class Bed:
    """Hosts that run until down(). Use this class as a context manager, so that the hosts always end with the block."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.hosts: dict[str, Host] = {}
        self.servers: dict[str, Server] = {}
        self.subnet = 0

    def __enter__(self) -> "Bed":
        return self

    def __exit__(self, *reason: object) -> None:
        self.down()

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    def __iter__(self) -> Iterator[Host]:
        return iter(self.hosts.values())

    def up(self, specs: Iterable[HostSpec]) -> "Bed":
        """Start the hosts and wait until all of them respond. Everything that an earlier run left behind with this
        prefix is removed first."""
        reaper.reap(self.settings)
        try:
            self._make_state()
            self._make_bridge()
            self._make_hosts(list(specs))
            self._wait_for_ssh()
        except BaseException:
            self.down()
            raise
        return self

    def down(self) -> None:
        for host in self:
            host.let_go()
        reaper.reap(self.settings)
        for host in self:
            host.wait_until_ended()
        for server in self.servers.values():
            server.wait_until_ended()
        self.hosts = {}
        self.servers = {}

    # The parts of the bed

    def _make_state(self) -> None:
        state = self.settings.state
        self.settings.state_base.mkdir(mode=0o755, parents=True, exist_ok=True)
        if self.settings.state_base.stat().st_uid != 0:
            raise TestbedError(f"{self.settings.state_base} belongs to somebody else")
        state.mkdir(mode=0o700)
        (state / "cp").mkdir()
        for key in ("host_key", "id_ed25519"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", key, "-f", str(state / key))
        shutil.copy(state / "id_ed25519.pub", state / "authorized_keys")

    def _make_bridge(self) -> None:
        bridge = self.settings.bridge
        with self._one_bed_at_a_time():
            self.subnet = self._free_subnet()
            run("ip", "link", "add", bridge, "type", "bridge")
            run("ip", "addr", "add", f"10.{self.subnet}.255.254/16", "dev", bridge)
            run("ip", "link", "set", bridge, "up")

    @contextlib.contextmanager
    def _one_bed_at_a_time(self) -> Iterator[None]:
        """Prevent other beds from taking a network between the search for a free one and the setup of its route."""
        descriptor = os.open(self.settings.state_base, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _free_subnet(self) -> int:
        """Return a 10.x.0.0/16 network to which this machine has no other route."""
        taken = {
            int(number)
            for number in re.findall(r"^10\.(\d+)\.", run("ip", "-4", "route", "show", "table", "all"), re.MULTILINE)
        }
        first = self.settings.preferred_subnet
        for subnet in (*range(first, 200), *range(100, first)):
            if subnet not in taken:
                return subnet
        raise TestbedError("every network from 10.100.0.0/16 to 10.199.0.0/16 is in use here")

    def _make_hosts(self, specs: list[HostSpec]) -> None:
        names = [spec.name for spec in specs]
        if len(set(names)) != len(names):
            raise TestbedError(f"host names are not unique: {', '.join(names)}")
        state = self.settings.state
        for number, spec in enumerate(specs, start=1):
            tree = trees.tree(self.settings, spec.release, spec.image)
            self.hosts[spec.name] = Host(spec, number, self.settings.prefix, self.subnet, state, tree)
        self._make_servers()
        batch = [command for host in self for command in host.network_commands(self.settings.bridge)]
        run("ip", "-batch", "-", stdin="\n".join(batch) + "\n")
        for host in self:
            host.start()
        public = " ".join((state / "host_key.pub").read_text().split()[:2])
        (state / "known_hosts").write_text("".join(f"{host.address} {public}\n" for host in self))

    def _make_servers(self) -> None:
        """Start the servers of shared file systems, each with an address of its own on the bridge."""
        for host in self:
            spec = host.spec.server
            if host.spec.disk != "shared":
                continue
            if spec.name not in self.servers:
                address = f"10.{self.subnet}.255.{253 - len(self.servers)}"
                run("ip", "addr", "add", f"{address}/16", "dev", self.settings.bridge)
                self.servers[spec.name] = Server(spec, address, self.settings)
                self.servers[spec.name].start()
            host.server = self.servers[spec.name]
            if host.server.spec != spec:
                raise TestbedError(f"two servers have the name {spec.name}")

    def _wait_for_ssh(self) -> None:
        waiting = list(self)

        def all_answer() -> bool:
            waiting[:] = [host for host in waiting if not answers(host)]
            return not waiting

        wait_for(all_answer, "every host's sshd answers")

    # The information that a controller needs

    def inventory(
        self, path: Path, hosts: Iterable[Host] | None = None, variables: dict[str, object] | None = None
    ) -> Path:
        """Write an inventory in YAML."""
        chosen = list(self if hosts is None else hosts)
        groups: dict[str, object] = {}
        for host in chosen:
            for group in host.spec.groups:
                groups.setdefault(group, {"hosts": {}})["hosts"][host.name] = {}
        content = {
            "hosts": {host.name: self.host_variables(host) for host in chosen},
            "children": groups,
            "vars": variables or {},
        }
        path.write_text("---\n" + "".join(yaml_lines({"all": content})))
        return path

    def host_variables(self, host: Host) -> dict[str, object]:
        state = self.settings.state
        borrowed = host.spec.interpreter
        return {
            "ansible_host": host.address,
            "ansible_user": host.spec.user,
            "ansible_ssh_private_key_file": str(state / "id_ed25519"),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={state}/known_hosts -o StrictHostKeyChecking=yes",
            "ansible_ssh_timeout": connect_timeout_s(host),
            "ansible_python_interpreter": str(borrowed or INTERPRETER),
            **host.spec.variables,
        }

    @property
    def environment(self) -> dict[str, str]:
        """The environment for ansible. In this environment, connections that stay open belong to the bed and end with
        it."""
        return {"ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.settings.state / "cp")}

    def ssh(self, host: Host, *command: str) -> str:
        """Return the output of a command on a host."""
        return run("ssh", *self.ssh_options(host), f"{host.spec.user}@{host.address}", *command)

    def ssh_options(self, host: Host) -> list[str]:
        state = self.settings.state
        options = [
            f"UserKnownHostsFile={state}/known_hosts",
            "StrictHostKeyChecking=yes",
            f"ConnectTimeout={connect_timeout_s(host)}",
            "BatchMode=yes",
        ]
        return ["-i", str(state / "id_ed25519"), *(word for option in options for word in ("-o", option))]


def connect_timeout_s(host: Host) -> int:
    """Return the timeout for connecting. A caller that does not expect an answer should not wait long, but a host that
    answers may be slow, because this machine is busy."""
    return 60 if host.is_linked else 5


def answers(host: Host) -> bool:
    host.check_alive()
    try:
        with socket.create_connection((host.address, 22), timeout=0.5) as connection:
            connection.settimeout(1)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def yaml_lines(value: dict[str, object], indent: int = 0) -> Iterator[str]:
    """Yield the lines of a mapping as YAML in block style. Everything in it that is not a mapping is in JSON style."""
    for key, item in value.items():
        name = key if re.fullmatch(r"[a-zA-Z_]\w*", key) else json.dumps(key)
        if isinstance(item, dict) and item:
            yield f"{' ' * indent}{name}:\n"
            yield from yaml_lines(item, indent + 2)
        else:
            yield f"{' ' * indent}{name}: {json.dumps(item)}\n"
