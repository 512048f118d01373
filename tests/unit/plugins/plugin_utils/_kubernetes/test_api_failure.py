# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kubernetes.cluster import api_failure


def answered(code, message):
    """Return a module's message about an answer of the API server, which it quotes as the repr of its bytes."""
    return f"Failed to create object: {json.dumps({'kind': 'Status', 'message': message, 'code': code}).encode()!r}"


@pytest.mark.parametrize(
    "text, sentence",
    [
        (
            answered(403, 'jobs is forbidden: User "ci" cannot create it'),
            'forbidden: cannot create the job: jobs is forbidden: User "ci" cannot create it; docs/',
        ),
        (
            answered(403, 'pvc is forbidden: exceeded quota: "q"'),
            "no space in the quota of the namespace: cannot create the job: pvc is forbidden: ",
        ),
        (
            answered(401, "Unauthorized"),
            "the cluster does not accept the credentials: cannot create the job: Unauthorized; set ",
        ),
        (
            answered(404, 'namespaces "x" not found'),
            'no such namespace: cannot create the job: namespaces "x" not found; create it',
        ),
        (answered(422, "quantities must match"), "cannot create the job: quantities must match"),
        (
            "Failed to import the required Python library (kubernetes) on vm's Python",
            "the Python package kubernetes is not installed for the Python that",
        ),
        (
            "The module kubernetes.core.k8s was not found in configured module paths",
            "the collection kubernetes.core is not installed: ansible-galaxy",
        ),
        ("Something\n else  broke", "cannot create the job: Something else broke"),
    ],
)
def test_a_failed_call_becomes_a_sentence(text, sentence):
    error = api_failure("create the job", text)
    assert str(error).startswith(sentence)
    assert not error.unreachable


def test_a_cluster_that_does_not_answer_is_unreachable():
    error = api_failure(
        "read the job",
        "HTTPConnectionPool(host='10.0.0.1', port=6443): Max retries exceeded with url: /version (Connection refused)",
    )
    assert error.unreachable
    assert str(error).startswith("the API server of the cluster cannot be reached: HTTPConnectionPool")
