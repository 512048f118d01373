#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: build
short_description: Install the tester on a host
description:
  - Compiles the tester with a single compiler call, from sources that are sent as one archive, or copies a
    ready-made binary to the host.
  - The name of the target directory contains a hash of the sources and flags, so that each version is built only once.
  - The SHA-256 of the binary is stored beside it. If the binary is damaged or replaced, M(mqops.logdisk.probe) detects
    this, and the tester is built or copied again.
  - A new binary is installed only if it runs on the host.
  - These are the options of the module. Tasks pass the results of earlier tasks to its action plugin, as the example
    shows.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run.tester
options:
  path:
    description: Path to install the binary to, as returned by M(mqops.logdisk.probe).
    type: str
    required: true
  compiler:
    description: The compiler to call.
    type: str
    default: cc
  flags:
    description: Compiler flags. The action plugin sets this option to the required flags followed by O(cflags).
    type: list
    elements: str
    default: []
  cflags:
    description: Additional compiler flags.
    type: str
    default: ""
  architecture:
    description: Architecture of the host, as reported by uname. A binary is built for it if
      O(method=binary) and O(binary) is empty.
    type: str
    default: ""
  archive:
    description: The sources or the binary, compressed and encoded in base64. The action plugin sets this option.
    type: str
    default: ""
attributes:
  check_mode:
    description: In check mode, the module reports a change without building anything.
    support: full
"""

EXAMPLES = r"""
- name: Build the tester
  mqops.logdisk.build:
    options: "{{ tester_asked }}"
    source_dir: "{{ _tester_source_dir }}"
    known: "{{ tester_ready }}"
  register: tester_ready
"""

RETURN = r"""
path:
  description: Path of the binary.
  returned: success
  type: str
version:
  description: The output of the binary's C(--version) option.
  returned: when the tester was installed
  type: str
source_hash:
  description: The hash of the sources that the binary was built from, as the binary reports it.
  returned: when the tester was installed
  type: str
"""

import base64
import json
import os
import shutil
import tempfile
import zlib

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _runs, _tester


def unpack(archive, directory):
    """Write the files of ``archive`` (zlib: a line of JSON with names and sizes, then the contents) below
    ``directory``."""
    head, content = zlib.decompress(base64.b64decode(archive)).split(b"\n", 1)
    names, at = [], 0
    for name, size in json.loads(head.decode("utf-8")):
        names.append(name)
        path = os.path.join(directory, name)
        if not os.path.isdir(os.path.dirname(path)):
            os.mkdir(os.path.dirname(path))
        with open(path, "wb") as stream:
            stream.write(content[at : at + size])
        at += size
    return names


def compile_tester(module, directory, names):
    """Compile the C files of ``directory`` into the program ``logdisk`` in the same directory."""
    sources = [name for name in names if name.endswith(".c")]
    command = [module.params["compiler"]] + module.params["flags"] + ["-o", "logdisk"] + sources + ["-lm"]
    status, output, errors = module.run_command(command, cwd=directory)
    if status != 0:
        module.fail_json(
            msg="the tester does not compile with %s (status %d): %s"
            % (module.params["compiler"], status, (errors or output).strip()[-2000:])
        )


def check_runs(module, binary):
    status, output, errors = module.run_command([binary, "--version"])
    if status != 0:
        module.fail_json(
            msg="%s cannot be executed (status %d: %s). If its file system is mounted noexec, set "
            "tester_dir to another directory" % (binary, status, (errors or output).strip()[-300:])
        )
    if not _tester.source_hash(output):
        module.fail_json(
            msg="%s is not the tester: --version printed %r. Set tester_binary to a binary of this collection's sources"
            % (binary, output.strip()[:100])
        )
    return output.strip()


def place(module, archive):
    """Build in a directory beside the final one and rename it into place. Returns the version line."""
    target = os.path.dirname(module.params["path"])
    parent = os.path.dirname(target)
    root = _runs.own_directory(os.path.dirname(parent))
    _runs.own_directory(os.path.join(root, "bin"))
    aside = tempfile.mkdtemp(prefix=".build-", dir=parent)
    try:
        unpacked = os.path.join(aside, "unpacked")
        os.mkdir(unpacked)
        names = unpack(archive, unpacked)
        if module.params["method"] == "compile":
            compile_tester(module, unpacked, names)
        os.rename(os.path.join(unpacked, "logdisk"), os.path.join(aside, "logdisk"))
        shutil.rmtree(unpacked)
        os.chmod(os.path.join(aside, "logdisk"), 0o755)
        version = check_runs(module, os.path.join(aside, "logdisk"))
        _tester.write_hash(os.path.join(aside, "logdisk"))
        if os.path.isdir(target):
            shutil.rmtree(target)
        os.rename(aside, target)
    finally:
        if os.path.isdir(aside):
            shutil.rmtree(aside)
    return version


def main():
    module = AnsibleModule(
        argument_spec=dict(
            path=dict(type="str", required=True),
            compiler=dict(type="str", default="cc"),
            flags=dict(type="list", elements="str", default=[]),
            cflags=dict(type="str", default=""),
            source_dir=dict(type="path"),
            method=dict(type="str", choices=["compile", "binary"], default="compile"),
            binary=dict(type="path", default=""),
            architecture=dict(type="str", default=""),
            archive=dict(type="str", default=""),
        ),
        supports_check_mode=True,
        # The archive is much too long for a host's log and a job's events. It is not secret, so it is not marked as
        # such: Ansible would look for it in everything that it prints.
        no_log=True,
    )
    archive = module.params.pop("archive")
    if module.check_mode:
        module.exit_json(changed=True, path=module.params["path"])
    try:
        version = place(module, archive)
    except (OSError, _runs.RunError) as error:
        module.fail_json(msg="cannot install the tester at %s: %s" % (module.params["path"], error))
    module.exit_json(
        changed=True, path=module.params["path"], version=version, source_hash=_tester.source_hash(version)
    )


if __name__ == "__main__":
    main()
