# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends the tester's sources, or a ready-made binary, to the host that builds or places it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _sources
from ansible_collections.mqops.logdisk.plugins.plugin_utils._remote import RemoteAction


class ActionModule(RemoteAction):
    """Calls ``build`` on the host."""

    module_name = "mqops.logdisk.build"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            sources = _sources.read_sources(arguments["source_dir"])
        except _sources.SourcesError as error:
            raise AnsibleActionFail(str(error)) from error
        flags = _sources.flags(sources, arguments.get("cflags", ""))
        files = sources if arguments.get("method", "compile") == "compile" else {"logdisk": read_binary(arguments["binary"])}
        return {**arguments, "flags": flags, "archive": _sources.pack(files)}


def read_binary(path: str) -> bytes:
    """Return the binary at ``path`` on the controller."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise AnsibleActionFail(f"tester_binary: cannot read {path}: {error.strerror}") from error
