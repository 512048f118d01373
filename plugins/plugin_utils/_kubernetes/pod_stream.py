# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A program that runs a command in the running pod of a job, and connects the command to its own standard streams, as
``kubectl exec -i`` does. It needs no kubectl, but the collection kubernetes.core, which also finds the cluster for
the other calls of its API.

    python pod_stream.py COLLECTIONS KUBECONFIG CONTEXT NAMESPACE JOB CONTAINER COMMAND...

COLLECTIONS is the directory that contains ansible_collections/kubernetes/core. KUBECONFIG and CONTEXT may be empty."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STDIN, STDOUT, STDERR, ERROR = range(4)
"""The channels of the connection."""
READ_BYTES = 1 << 16
NO_POD = 69
"""The exit status if the command cannot be started."""


def stream_command(
    collections: str, place: Sequence[str], namespace: str, job: str, container: str, command: Sequence[str]
) -> list[str]:
    """Return the command line that runs a command in the pod of a job. ``place`` holds the kubeconfig file and its
    context."""
    return [sys.executable, str(Path(__file__)), collections, *place, namespace, job, container, *command]


def exit_status(said: bytes) -> int:
    """Return the exit status of the command, from the message that ends the connection."""
    try:
        status = json.loads(said or b"{}")
        if status.get("status") == "Success":
            return 0
        causes = status["details"]["causes"]
        return int(next(each["message"] for each in causes if each.get("reason") == "ExitCode"))
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return NO_POD


def running(answer: Any) -> str:
    """Return the name of the newest pod that runs and is not being deleted, from the API's answer; empty if there is
    none."""
    found = [
        pod["metadata"]
        for pod in answer.get("items") or []
        if pod.get("status", {}).get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")
    ]
    return max(found, key=lambda own: own.get("creationTimestamp", ""), default={}).get("name", "")


def main(arguments: Sequence[str]) -> int:
    collections, kubeconfig, context, namespace, job, container, *command = arguments
    # The modules beside this file must not hide others.
    sys.path[0] = collections
    from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
    from kubernetes.client import CoreV1Api
    from kubernetes.stream import stream

    given = {key: value for key, value in (("kubeconfig", kubeconfig), ("context", context)) if value}
    api = CoreV1Api(get_api_client(**given).client.client)
    found = api.list_namespaced_pod(namespace, label_selector=f"job-name={job}", _preload_content=False)
    pod = running(json.loads(found.data))
    if not pod:
        print(f"no pod of the job {job} is running", file=sys.stderr)
        return NO_POD
    connection = stream(
        api.connect_get_namespaced_pod_exec,
        pod,
        namespace,
        command=command,
        container=container,
        stdin=True,
        stdout=True,
        stderr=True,
        tty=False,
        binary=True,
        _preload_content=False,
    )
    threading.Thread(target=send, args=(connection,), daemon=True).start()
    return receive(connection.sock)


def send(connection: Any) -> None:
    """Send the input to the command. At its end, close the connection, which also ends the input of the command."""
    try:
        while content := os.read(0, READ_BYTES):
            connection.write_channel(STDIN, content)
        connection.sock.send_close()
    except Exception as error:
        print(f"the input cannot be sent: {error}", file=sys.stderr)


def receive(socket: Any) -> int:
    """Write the output of the command, and return its exit status."""
    while True:
        _code, frame = socket.recv_data_frame(control_frame=False)
        if frame is None or frame.opcode == frame.OPCODE_CLOSE:
            return NO_POD  # without a status, it is not known how the command ended
        channel, content = frame.data[0] if frame.data else STDIN, frame.data[1:]
        if channel == ERROR:
            return exit_status(content)
        for target in (STDOUT, STDERR):
            while channel == target and content:
                content = content[os.write(target, content) :]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Exception as error:  # the last line of the messages is shown as the reason
        print(" ".join(str(error).split())[-300:], file=sys.stderr)
        sys.exit(NO_POD)
