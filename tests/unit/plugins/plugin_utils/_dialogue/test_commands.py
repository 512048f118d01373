# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a command of the user, however it ends."""

from __future__ import annotations

import os
import signal

from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.commands import call


def test_what_became_of_a_command():
    done = call("echo one; echo two >&2; exit 3", 60)
    assert (done.status, done.output, done.problem) == (3, "one two", "")


def test_a_command_that_does_not_end_is_killed_with_its_children():
    done = call("sleep 600 & wait", 0.1)
    assert done.status is None
    assert "killed" in done.problem


def test_what_a_command_leaves_running_is_not_waited_for():
    done = call("sleep 600 & echo $!", 300)
    os.kill(int(done.output), signal.SIGKILL)
    assert done.status == 0
