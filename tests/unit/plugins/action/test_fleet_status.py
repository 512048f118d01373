# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The profile that the status is asked for, as variables name it."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.action.fleet_status import asked_profiles
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError

OWN = {"name": "own", "limits": [{"metric": "latency_p99", "max": "2 ms"}]}


def asked(**profiles):
    return asked_profiles({"hostvars": {host: {} if profile is None else {"gate_profile": profile} for host, profile in profiles.items()}}, profiles)


def test_a_profile_is_asked_for_by_name_path_or_content_and_only_if_it_is_set(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text(yaml.safe_dump({**OWN, "name": "mine"}))
    assert asked(a="mq-log-gold", b=OWN, c=str(path), d=None, e="", f="mq-log-gold") == {"a": "mq-log-gold", "b": "own", "c": "mine", "f": "mq-log-gold"}


def test_a_profile_that_cannot_be_read_is_an_error():
    with pytest.raises(DefinitionError, match="goldd"):
        asked(a="goldd")
