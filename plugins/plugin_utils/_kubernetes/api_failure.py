# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes sentences about why a call of the cluster's API failed, from the messages of the kubernetes.core modules."""

from __future__ import annotations

import re

# The modules quote the answer of the API server as the repr of its bytes.
_MESSAGE = re.compile(r'"message":\s*"((?:[^"\\]|\\.)*)"')
_CODE = re.compile(r'"code":\s*([0-9]{3})\b')
_UNREACHABLE = (
    "Max retries exceeded",
    "Failed to establish a new connection",
    "Connection refused",
    "timed out",
    "Name or service not known",
)
_LIBRARY = re.compile(r"required Python library \(([\w.-]+)\)")
_LONGEST = 600
NEEDS = "docs/kubernetes.md lists the rights that this needs"


class ClusterError(Exception):
    """The test has no result. The message is the reason. ``unreachable`` is true if the cluster did not answer at
    all."""

    def __init__(self, reason: str, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.unreachable = unreachable


def api_failure(what: str, text: str) -> ClusterError:
    """Return the error for a failed call, from the message of the failed module. ``what`` is a phrase for the purpose
    of the call."""
    text = re.sub(r'\\+(?=")', r"\\", text)
    said, code = _MESSAGE.search(text), _CODE.search(text)
    message = " ".join((re.sub(r"\\(.)", r"\1", said[1]) if said else text).split())[:_LONGEST]
    if said is None:
        return _of_the_way(what, message)
    status = int(code[1]) if code else 0
    if "exceeded quota" in message:
        return ClusterError(f"no space in the quota of the namespace: cannot {what}: {message}")
    if status == 403:
        return ClusterError(f"forbidden: cannot {what}: {message}; {NEEDS}")
    if status == 401:
        return ClusterError(
            f"the cluster does not accept the credentials: cannot {what}: {message}; set K8S_AUTH_API_KEY, or "
            "claim_kubeconfig and claim_context"
        )
    if status == 404 and "namespaces" in message:
        return ClusterError(f"no such namespace: cannot {what}: {message}; create it, or correct claim_namespace")
    return ClusterError(f"cannot {what}: {message}")


def _of_the_way(what: str, message: str) -> ClusterError:
    """Return the error for a call to which no API server replied."""
    library = _LIBRARY.search(message)
    if library:
        return ClusterError(
            f"the Python package {library[1]} is not installed for the Python that runs "
            f"Ansible: pip install {library[1]}"
        )
    if "kubernetes.core" in message and "not found" in message:
        return ClusterError(
            "the collection kubernetes.core is not installed: ansible-galaxy collection install "
            f"kubernetes.core ({message})"
        )
    if "HTTP response" not in message and any(word in message for word in _UNREACHABLE):
        return ClusterError(f"the API server of the cluster cannot be reached: {message}", unreachable=True)
    return ClusterError(f"cannot {what}: {message}")
