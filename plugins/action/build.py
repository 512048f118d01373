# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends the tester's sources, or a static binary, to the host, which builds or installs it."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail

from ..plugin_utils._action_base import RemoteAction
from ..plugin_utils._tester.sources import (
    BinaryError,
    SourcesError,
    compiler_flags,
    pack,
    read_binary,
    read_sources,
    static_binary,
)


class ActionModule(RemoteAction):
    """Calls ``build`` on the host."""

    module_name = "mqops.logdisk.build"
    stage = "tester"

    def as_single_values(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Take the options of the role as ``options``, and what ``probe`` returned as ``known``."""
        options, self._known = arguments.pop("options"), arguments.pop("known")
        return {
            **arguments,
            **{name: options[f"tester_{name}"] for name in ("cflags", "method", "binary")},
            "path": self._known["path"],
            "compiler": self._known.get("compiler") or "cc",
            "architecture": self._known["facts"]["architecture"],
        }

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        architecture = arguments.pop("architecture", "")
        try:
            sources = read_sources(arguments["source_dir"])
            files = (
                sources
                if arguments.get("method", "compile") == "compile"
                else {"logdisk": self._binary(arguments, sources, architecture)}
            )
        except (SourcesError, BinaryError) as error:
            raise AnsibleActionFail(str(error)) from error
        return {**arguments, "flags": compiler_flags(sources, arguments.get("cflags", "")), "archive": pack(files)}

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the facts about the host, updated with the result of the build. The hash of a ready-made binary's
        sources is known only now, because the installed binary reports it."""
        return {**self._known, **answer, "source_hash": self._known.get("source_hash") or answer.get("source_hash", "")}

    def _binary(self, arguments: dict[str, Any], sources: dict[str, bytes], architecture: str) -> bytes:
        if arguments.get("binary"):
            return read_binary(arguments["binary"])
        return static_binary(sources, arguments.get("cflags", ""), architecture)
