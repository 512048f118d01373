# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A separate, real PostgreSQL server for tests and benchmarks: Debian's package, an unprivileged user,
a socket in a temporary directory."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator

import psycopg

USER = "logdisk"
PASSWORD = "a secret"
START_S = 120
_PR_SET_PDEATHSIG = 1


class Server:
    """A server, which runs after start(). Only one user can connect, through a socket and with a password."""

    def __init__(self, directory: str, command: list[str], options: dict[str, object]) -> None:
        self.directory = directory
        self._command = command
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with open(os.path.join(self.directory, "log"), "wb") as log:
            self._process = subprocess.Popen(self._command, stderr=log, preexec_fn=_die_with_parent, **self._options)
        _await(self, self._process)

    def stop(self) -> None:
        """Stop the server if it runs, as if it had crashed: connections end at once."""
        if self._process:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(START_S)
            self._process = None

    def new_database(self) -> str:
        """Create an empty database and return its URL, which contains no password."""
        name = f"db_{secrets.token_hex(6)}"
        with psycopg.connect(self.url("postgres"), password=PASSWORD, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        return f"postgresql://{USER}@/{database}?host={self.directory}"


@contextlib.contextmanager
def running_server(*options: str) -> Iterator[Server]:
    """Start a server with more options, such as fsync=off, and stop it afterwards.
    The server also ends if this process is killed."""
    binaries = os.path.dirname(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1])
    owner = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    directory = tempfile.mkdtemp(prefix="logdisk-postgresql-")
    try:
        data, password_file = os.path.join(directory, "data"), os.path.join(directory, "password")
        with open(password_file, "w", encoding="ascii") as stream:
            stream.write(PASSWORD)
        for path in (directory, password_file):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        privileges = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        where = {"cwd": directory, "stdout": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, **privileges}
        how = [
            "--auth=scram-sha-256",
            f"--username={USER}",
            f"--pwfile={password_file}",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        ]
        subprocess.run([f"{binaries}/initdb", f"--pgdata={data}", *how], check=True, **where)
        settings = [f"unix_socket_directories={directory}", "listen_addresses=", "max_connections=20", *options]
        server = Server(
            directory,
            [f"{binaries}/postgres", "-D", data, *(part for setting in settings for part in ("-c", setting))],
            where,
        )
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _await(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            psycopg.connect(server.url("postgres"), password=PASSWORD).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                with open(os.path.join(server.directory, "log"), encoding="utf-8", errors="replace") as log:
                    raise RuntimeError(f"PostgreSQL did not start: {log.read()[-2000:]}") from None
            time.sleep(0.05)
        else:
            return
