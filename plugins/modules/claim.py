#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: claim
short_description: Test the storage classes of a Kubernetes cluster
description:
  - For each storage class of the plan, creates a claim and a job that runs the tester on its volume, waits until the
    job has ended, takes the tables from the log of its pod, and judges the volume in the same way as a volume of a
    host. The storage classes are tested one after the other.
  - For each claim with the access mode ReadWriteMany, also tests the locks, with two pods on two nodes. The plan lists
    these tests as C(of_other_kinds).
  - Always deletes its jobs, by their uid, and Kubernetes deletes the claim with them. Objects that something else
    created are never deleted.
  - A storage class that cannot be tested gets a record with the reason and does not affect the others.
  - If the controller is lost, the job ends by itself, and Kubernetes removes it with its claim one hour later.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.controller
requirements:
  - The collection kubernetes.core and the Python package kubernetes on the controller.
options:
  run_path:
    description: The run directory on the controller.
    type: str
    required: true
  plan:
    description: The result of M(mqops.logdisk.plan). Each volume of the plan is a storage class.
    type: dict
    required: true
  source_dir:
    description: Directory of the tester's sources. The image must have been built from them.
    type: path
    required: true
  image:
    description: The image of the tester, in the form in which the nodes of the cluster pull it.
    type: str
    required: true
  namespace:
    description: The namespace in which claims and jobs are created.
    type: str
    required: true
  size:
    description: Size of the claims as a Kubernetes quantity. If empty, it is calculated from the test files and the
      tester's reserve.
    type: str
    default: ""
  access_mode:
    description: Access mode of the claims. With V(ReadWriteMany), a plan from the role includes tests of locks.
    type: str
    default: ReadWriteOnce
  fs_group:
    description: ID of the group that may write to the volume. With V(none), the cluster chooses the group.
    type: str
    default: "10001"
  pod:
    description: A dictionary that is merged into the spec of the pod.
    type: dict
    default: {}
  patience_s:
    description: Number of seconds that a claim may be pending, or that a pod may take to start, before the test is
      abandoned.
    type: int
    default: 300
  interval_s:
    description: Number of seconds between two checks of a pod that is measuring.
    type: float
    default: 30
  kubeconfig:
    description: Path of the kubeconfig file. If empty, the environment determines it, as for the modules of
      kubernetes.core.
    type: str
    default: ""
  context:
    description: Context of the kubeconfig file. If empty, the current context is used.
    type: str
    default: ""
attributes:
  check_mode:
    description: Nothing is created in check mode, so there is nothing to measure.
    support: none
"""

EXAMPLES = r"""
- name: Test the storage classes
  mqops.logdisk.claim:
    run_path: "{{ gate_run.path }}"
    plan: "{{ sweep_plan }}"
    source_dir: "{{ role_path }}/../../src"
    image: registry.example.com/logdisk:1.0.0
    namespace: mq
"""

RETURN = r"""
logdisk:
  description: The cluster, the verdict on each storage class, the worst of these verdicts, and the version of the
    schema.
  returned: success
  type: dict
  sample: {schema: 1, kind: measurement, host: prod, verdict: pass, volumes: {fast: pass}}
"""
