# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The summary on the screen: it is wrapped and coloured on a terminal, and printed unchanged otherwise."""

from __future__ import annotations

import os
import types

import pytest
from ansible import constants
from ansible_collections.mqops.logdisk.plugins.action import command, step
from ansible_collections.mqops.logdisk.plugins.callback.report import CallbackModule
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _action_base
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import messages, progress

TEXT = f"FAIL: This run does not certify.\n  run      1\n  fail         {'word ' * 40}\n"


@pytest.fixture
def printed(monkeypatch):
    """Return a function that prints a summary for a terminal of that many columns, or without a terminal, and returns
    the lines with their colours."""

    def run(columns):
        said = []
        callback = CallbackModule()
        callback._display = types.SimpleNamespace(display=lambda text, color: said.append((text, color)))
        monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", "default")
        monkeypatch.setattr(progress, "watched", columns is not None)
        monkeypatch.setenv("COLUMNS", str(columns))
        callback._print(TEXT, "")
        return said

    return run


@pytest.mark.parametrize(("columns", "width"), [(60, 60), (80, 80), (200, 200), (400, 200), (None, 200)])
def test_a_terminal_has_lines_of_its_width_and_no_output_has_wider_ones_than_200_characters(printed, columns, width):
    lines = [text for text, color in printed(columns)]
    assert width - 10 < max(map(len, lines)) <= width


def test_a_long_command_can_still_be_copied(monkeypatch):
    said = []
    monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", "default")
    command = f"  ansible-playbook -i {'x' * 100} stop.yml -e stop_run_id={'y' * 100}"
    messages.say(types.SimpleNamespace(display=lambda text, color: said.append(text)), command)
    assert "\n" in said[0] and said[0].replace("\\\n    ", "") == command


def test_a_long_sentence_is_wrapped_and_a_path_is_not(monkeypatch):
    said = []
    monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", "default")
    messages.say(types.SimpleNamespace(display=lambda text, color: said.append(text)), f"{'word ' * 50}\n  {'x' * 250}")
    (first, second, path) = said[0].splitlines()
    assert len(first) <= 200 and second.startswith("  word") and path == f"  {'x' * 250}"


@pytest.mark.parametrize(("step", "command"), [("claim", "kubectl delete job"), ("wait", "playbooks/stop.yml")])
def test_an_interrupted_run_ends_with_the_command_that_ends_it(monkeypatch, tmp_path, step, command):
    said = []
    callback = CallbackModule()
    callback._display = types.SimpleNamespace(display=lambda text, color: said.append(text))
    callback._paths = [str(tmp_path / step)]
    monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", "default")
    task = types.SimpleNamespace(resolved_action="mqops.logdisk.step", args={"name": step})
    callback.v2_playbook_on_task_start(task, False)
    callback._interrupted()
    assert command in said[0]


def test_lines_with_a_verdict_are_coloured(printed):
    colours = [color for text, color in printed(200)]
    assert colours[:3] == [constants.COLOR_ERROR, None, constants.COLOR_ERROR]


@pytest.fixture
def listening(monkeypatch):
    """The main process of ansible-playbook, with a callback."""
    monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", "default")
    monkeypatch.setattr(messages, "_said", set())
    monkeypatch.setattr(messages, "_notices", None)
    monkeypatch.setattr(messages, "_read_bytes", 0)
    messages.listen()
    yield
    os.close(messages._notices)


@pytest.mark.parametrize(
    ("action", "said"),
    [("command", ["WARNING: x is not an option"]), ("step", [])],
)
def test_warnings_about_names_are_said_after_the_recap_once(monkeypatch, listening, action, said):
    """The callback may be loaded twice. Only the results of commands and of two steps are told."""
    printed = []
    answer = {"logdisk": {"kind": "names", "warnings": ["x is not an option"]}}
    monkeypatch.setattr(
        _action_base, "step_named", lambda name: lambda *parts: types.SimpleNamespace(run=lambda *of: answer)
    )
    kind = {"command": (command.ActionModule, "status"), "step": (step.ActionModule, "look")}
    module, name = kind[action]
    task = types.SimpleNamespace(args={"name": name}, copy=lambda: types.SimpleNamespace())
    module(task, *[None] * 5).run()
    for _callback in range(2):
        callback = CallbackModule()
        callback._display = types.SimpleNamespace(display=lambda text, color: printed.append(text))
        callback.get_option = lambda name: True
        callback.v2_runner_on_ok(None)
        callback.v2_playbook_on_stats(None)
    assert printed == said


PATH = "/srv/reports/20261122T035743Z-b63e67"


@pytest.fixture
def masking(monkeypatch, listening):
    monkeypatch.setattr(messages, "mask_secrets", lambda text: text.replace("reports", "$REDACTED$"))


def test_a_path_stays_whole_if_a_secret_is_part_of_it(masking, capsys):
    messages.say(None, f"it reports {PATH}/index.html", places=[PATH])
    assert capsys.readouterr().out == f"it $REDACTED$ {PATH}/index.html\n"


@pytest.mark.parametrize("place", [PATH, "reports", "."])
def test_a_secret_that_is_in_no_path_is_left_to_ansible(monkeypatch, listening, place):
    monkeypatch.setattr(messages, "mask_secrets", lambda text: text.replace("reports-1.2", "$REDACTED$"))
    said = []
    messages.say(types.SimpleNamespace(display=lambda text, color: said.append(text)), "it reports-1.2", places=[place])
    assert said == ["it reports-1.2"]


def test_what_a_worker_says_about_a_path_is_printed_by_the_callback(masking, monkeypatch, capsys):
    with monkeypatch.context() as worker:
        worker.setattr(messages.multiprocessing, "parent_process", lambda: "the main process")
        messages.say(None, f"run {PATH}", places=[PATH])
    assert capsys.readouterr().out == ""
    CallbackModule().v2_runner_on_ok(None)
    assert capsys.readouterr().out == f"run {PATH}\n"
