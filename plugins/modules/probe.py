#!/usr/bin/python
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
---
module: probe
short_description: Inspect a host before the tester is installed
description:
  - Returns everything that the roles need to know about a host, in one call and without changing anything.
  - If another user could have installed the existing tester, or could change it, the module does not run it but fails.
  - A tester with an unexpected SHA-256 is not run either. It is reported as not installed, so that it is built or
    copied again. This detects old, damaged and mixed-up binaries. It does not protect against anyone who has the rights
    of the tester's user on the host.
  - The action plugin adds the path of this version of the tester and the offset of the host's clock.
  - These are the options of the module. Tasks pass the results of earlier tasks to its action plugin, as the example
    shows.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.run.user
  - mqops.logdisk.run.queue_managers
  - mqops.logdisk.run.tester
options:
  discover:
    description: Whether to return RV(discovered).
    type: bool
    default: false
  observe_window:
    description: With O(discover=true), number of seconds for which to collect the figures that IBM MQ publishes about
      the logs of running queue managers. With V(0), no figures are collected.
    type: int
    default: 0
  observe_url:
    description: Address of the metrics of the queue managers, for O(observe_window).
    type: str
    default: ""
  observe_amqsrua:
    description: Path of IBM MQ's sample program C(amqsrua), for O(observe_window). It is used if the metrics cannot be
      read. If empty, the module looks for it.
    type: str
    default: ""
  workspace:
    description:
      - Options of M(mqops.logdisk.workspace), if the workspaces are to be inspected. Nothing is created, because only
        M(mqops.logdisk.start) creates workspaces.
      - The action plugin sets this option.
    type: dict
    default: {}
  directory:
    description: Directory for the binaries of the tester. C(~) is the home directory of the connecting user.
    type: path
    required: true
  name:
    description: Name of the directory for this version of the tester, below C(bin) in O(directory). The
      action plugin sets this option.
    type: str
    default: unknown
  cflags:
    description: Additional compiler flags. Different flags result in a different build.
    type: str
    default: ""
  sha256:
    description:
      - For O(method=binary), the SHA-256 of each binary on the controller. The binary on the host must match one of
        them. The action plugin sets this option.
      - With O(method=compile) the SHA-256 must be the one that M(mqops.logdisk.build) stored beside the binary.
    type: list
    elements: str
    default: []
  compiler:
    description: The compiler to use. If empty, the first of C(cc), C(gcc) and C(clang) that exists is used.
    type: str
    default: ""
  state_dir:
    description: Directory for the state of runs. The module fails if this user cannot write to it. If
      empty, it is not checked.
    type: path
    default: ""
attributes:
  check_mode:
    description: The module returns the same information with and without check mode.
    support: full
"""

EXAMPLES = r"""
- name: Inspect the host
  mqops.logdisk.probe:
    options: "{{ tester_asked }}"
    run: "{{ tester_run }}"
    plan: "{{ tester_plan }}"
    source_dir: "{{ _tester_source_dir }}"
  register: tester_ready
"""

RETURN = r"""
facts:
  description: Facts about the host, as they are stored in its record.
  returned: success
  type: dict
  sample: {os: Debian GNU/Linux 12 (bookworm), kernel: 6.1.0-18-amd64, hostname: db01,
           machine_id: 0f3c9a2b6e1d4c5f8a7b0c1d2e3f4a5b}
os_family:
  description: C(Debian), C(RedHat) or C(Suse). Empty for any other family.
  returned: success
  type: str
compiler:
  description: Path of the compiler. Empty if there is none.
  returned: success
  type: str
headers:
  description: Whether the headers of the C library are installed.
  returned: success
  type: bool
tester:
  description: The path of the tester on the host, the hash of its sources, and whether the expected tester is installed
    and can be run.
  returned: success
  type: dict
  sample: {path: /home/ansible/.mqops-logdisk/bin/0f3c/logdisk, installed: true, source_hash: 56a799f573cf1e70}
discovered:
  description:
    - The queue managers of the host and their logs, as M(mqops.logdisk.queue_manager_info) returns them.
    - With O(observe_window), C(observed) of each queue manager contains the figures that IBM MQ published about its log
      and their source, or the reason why there are none.
  returned: if O(discover=true)
  type: dict
workspace:
  description: The layout of the workspaces that can be created without elevated privileges, as returned by
    M(mqops.logdisk.workspace), and the data that M(mqops.logdisk.start) needs to create them. Empty if nothing was
    inspected, or if creating them requires elevated privileges. The action plugin derives it from the host's report.
  returned: success
  type: dict
observed_s:
  description: Number of seconds for which figures were collected from IBM MQ.
  returned: success
  type: float
called_s:
  description: The times at which the call began and ended, by the controller's clock. The end does not include
    RV(observed_s). The action plugin adds them.
  returned: success
  type: list
  elements: float
time_epoch_s:
  description: The time on the host when the module ended.
  returned: success
  type: float
"""

import os
import stat
import time

from ansible.module_utils.basic import AnsibleModule
from ..module_utils import _machine, _places, _queue_managers, _tester, _user

FAMILIES = (
    ("Debian", ("debian", "ubuntu")),
    ("RedHat", ("rhel", "fedora", "centos", "rocky", "almalinux", "ol", "amzn")),
    ("Suse", ("suse", "sles", "opensuse", "sled")),
)


def family_of(release):
    """Return the package family of an os-release dict, or an empty string."""
    names = [release.get("ID", "")] + release.get("ID_LIKE", "").split()
    for family, members in FAMILIES:
        if any(name in members or name.startswith(members) for name in names if name):
            return family
    return ""


def find_compiler(module, wanted):
    for name in [wanted] if wanted else ["cc", "gcc", "clang"]:
        path = name if os.path.isabs(name) and os.access(name, os.X_OK) else module.get_bin_path(name)
        if path:
            return path
    return ""


def has_headers(module, compiler):
    """Return whether the headers of the C library are installed. Fails if they are, but the compiler is too old for the
    tester: installing a compiler would not help."""
    if not compiler:
        return False
    library = "#define _GNU_SOURCE\n#include <stdio.h>\n#include <pthread.h>\n#include <sys/uio.h>\n"
    line = '#include <stdatomic.h>\n_Static_assert(1, ""); _Alignas(64) atomic_int number;\n'
    command = [compiler, "-x", "c", "-"]
    if module.run_command(command + ["-std=c11", "-fsyntax-only"], data=library + line)[0] == 0:
        return True
    if module.run_command(command + ["-E"], data=library)[0] != 0:
        return False
    if module.params["method"] == "compile":
        module.fail_json(
            msg=(
                "the C compiler %s cannot compile C11 with stdatomic.h (%s): install gcc 4.9, clang 3.6 or newer and "
                "name it in tester_compiler, or set tester_method: binary"
            )
            % (compiler, (module.run_command([compiler, "--version"])[1].strip().splitlines() or ["no version"])[0])
        )
    return True


def why_unsafe(path):
    """Return why it is not safe to run the binary at ``path``, or an empty text if it is safe. It is safe if only this
    user and root could have created it, and only they can change it and the directories above it (up to the tester's
    directory)."""
    folder = os.path.dirname(path)
    parent = os.path.dirname(folder)
    for component in (os.path.dirname(parent), parent, folder, path):
        status = os.lstat(component)
        if stat.S_ISLNK(status.st_mode):
            return "%s is a symlink" % component
        if status.st_uid not in (0, os.geteuid()):
            return "%s belongs to another user (uid %d)" % (component, status.st_uid)
        if status.st_mode & 0o022:
            return "%s is writable by group or others" % component
    return ""


def installed_source_hash(module, path, expected):
    """Return the hash of the sources of the tester at ``path``; empty if it does not exist, if its SHA-256 is not among
    ``expected``, or if it cannot be executed (noexec mount, wrong architecture). Fails without running it if other
    users could have created it."""
    if not os.path.isfile(path):
        return ""
    try:
        unsafe = why_unsafe(path)
        if not unsafe and _tester.file_sha256(path) not in expected:
            return ""
    except (IOError, OSError):
        return ""  # it was removed in the meantime
    if unsafe:
        module.fail_json(
            msg=(
                "the tester %s was not run: %s. Remove it if it is not yours. Otherwise call chmod go-w for it, or set "
                "tester_dir to another directory"
            )
            % (path, unsafe)
        )
    try:
        status, output, dummy = module.run_command([path, "--version"], handle_exceptions=False)
    except OSError:
        return ""
    return _tester.source_hash(output) if status == 0 else ""


def refuse_places(module, installed):
    """Fail if this user cannot store the tester or its results in the configured directories."""
    directory, state = (
        os.path.abspath(module.params[name]) if module.params[name] else "" for name in ("directory", "state_dir")
    )
    problems = (
        []
        if installed
        else [
            _places.why_unwritable(directory, "tester_dir and sweep_state_dir" if state == directory else "tester_dir"),
            _places.why_not_executable(directory),
        ]
    )
    if state:
        problems.append(_places.why_unwritable(state, "sweep_state_dir"))
    for problem in problems:
        if problem:
            module.fail_json(msg=problem)


def discovered(module):
    """Return the queue managers if they were requested, and how long their logs were observed."""
    p = module.params
    if not p["discover"]:
        return dict(observed_s=0.0)
    # Only a call that discovers queue managers needs this import.
    from ..module_utils import _queue_manager_info

    found = _queue_manager_info.discover(p["mqs_ini"], module.run_command, planned=p["planned_queue_managers"])
    begun_s = time.monotonic()
    if p["observe_window"]:
        observe(found["queue_managers"], p)
    return dict(discovered=found, observed_s=time.monotonic() - begun_s)


def observe(queue_managers, p):
    """Add the figures that MQ publishes about its log to each queue manager that may be running."""
    # The sources are imported only by a call that observes.
    from ..module_utils._sources import choice

    names = [each["name"] for each in queue_managers if each["exists"] and each["running"] is not False]
    seen = choice.watch(names, p["observe_window"], p["observe_url"], p["observe_amqsrua"])
    for each in queue_managers:
        each["observed"] = seen.get(each["name"], dict(source="", samples=[], problem="it is not running"))


def inspected(asked):
    """Return the results of inspecting the requested workspaces; empty if none were requested."""
    if not asked:
        return {}
    # These modules are imported only by a call that inspects file systems.
    from ..module_utils import _workspaces

    return dict(workspaces=_workspaces.inspect_all(asked, None))


def main():
    module = AnsibleModule(
        argument_spec=dict(
            directory=dict(type="path", required=True),
            name=dict(type="str", default="unknown"),
            source_dir=dict(type="path"),
            cflags=dict(type="str", default=""),
            method=dict(type="str", choices=["compile", "binary"], default="compile"),
            binary=dict(type="path", default=""),
            sha256=dict(type="list", elements="str", default=[]),
            compiler=dict(type="str", default=""),
            user=dict(type="str", default=""),
            state_dir=dict(type="path", default=""),
            discover=dict(type="bool", default=False),
            observe_window=dict(type="int", default=0),
            observe_url=dict(type="str", default=""),
            observe_amqsrua=dict(type="str", default=""),
            workspace=dict(type="dict", default={}),
            **_queue_managers.OPTIONS,
        ),
        supports_check_mode=True,
    )
    _user.refuse_other(module)
    path = os.path.join(os.path.abspath(module.params["directory"]), "bin", module.params["name"], "logdisk")
    expected = module.params["sha256"] if module.params["method"] == "binary" else [_tester.read_hash(path)]
    source_hash = installed_source_hash(module, path, expected)
    refuse_places(module, bool(source_hash))
    compiler = "" if source_hash else find_compiler(module, module.params["compiler"])
    found = dict(discovered(module), **inspected(module.params["workspace"]))
    module.exit_json(
        changed=False,
        facts=_machine.host_facts(),
        os_family=family_of(_machine.os_release()),
        compiler=compiler,
        headers=has_headers(module, compiler),
        tester=dict(path=path, installed=bool(source_hash), source_hash=source_hash),
        time_epoch_s=time.time(),
        **found,
    )


if __name__ == "__main__":
    main()
