# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names the place of the tester on the host and measures the offset of the host's clock."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _sources, _static_binary
from ansible_collections.mqops.logdisk.plugins.plugin_utils._remote import RemoteAction


class ActionModule(RemoteAction):
    """Calls ``probe`` on the host."""

    module_name = "mqops.logdisk.probe"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            sources = _sources.read_sources(arguments["source_dir"])
            binaries = self._binaries(arguments, sources)
        except (_sources.SourcesError, _static_binary.BinaryError) as error:
            raise AnsibleActionFail(str(error)) from error
        # A ready-made binary may be of other sources: then it says of which.
        self._source_hash = "" if arguments.get("binary") and arguments.get("method") == "binary" else _sources.source_hash(sources)
        parts = [*_sources.flags(sources, arguments.get("cflags", "")), arguments.get("compiler", ""), arguments.get("method", "compile"),
                 arguments.get("binary", "")]
        self._sent_epoch_s = time.time()
        return {**arguments, "name": _sources.build_name(parts), "sha256": [hashlib.sha256(binary).hexdigest() for binary in binaries]}

    def _binaries(self, arguments: dict[str, Any], sources: dict[str, bytes]) -> list[bytes]:
        """Return the binaries of the controller, one of which the host's must be."""
        if arguments.get("method", "compile") == "compile":
            return []
        if arguments.get("binary"):
            return [_static_binary.read_binary(arguments["binary"])]
        return _static_binary.cached_binaries(sources, arguments.get("cflags", ""))

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        received_epoch_s = time.time()
        # The module reads the clock as its last act: what lies behind that is one way of the connection, what lies before
        # is mostly the start of Python. So the end of the call is nearer, and the whole of it bounds the error.
        bound_s = received_epoch_s - self._sent_epoch_s
        answer["facts"]["clock_offset_s"] = round(float(answer["time_epoch_s"]) - received_epoch_s, 3)
        answer["facts"]["clock_offset_error_s"] = round(bound_s, 3)
        answer["tester"]["source_hash"] = self._source_hash or answer["tester"]["source_hash"]
        answer["called_s"] = [self._sent_epoch_s, received_epoch_s]
        return answer
