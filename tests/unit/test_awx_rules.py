# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reimplemented checks of AWX refuse the same input that AWX refused."""

from __future__ import annotations

import pytest
from fake_awx.rules import answer_errors, credential_error, message_errors, prompt_errors, rule_errors, survey_error

START = "DTSTART:20261206T020000Z "


@pytest.mark.parametrize(
    ("rrule", "error"),
    [
        ("DTSTART;TZID=Europe/Berlin:20261206T020000 RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=SU", ""),
        (START + "RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=SU;BYSETPOS=1", ""),
        ("RRULE:FREQ=DAILY;INTERVAL=1", "Valid DTSTART required"),
        ("DTSTART:20261206T020000 RRULE:FREQ=DAILY;INTERVAL=1", "naive datetime"),
        (START + START + "RRULE:FREQ=DAILY;INTERVAL=1", "Multiple DTSTART"),
        (START, "One or more rule required"),
        (START + "RRULE:FREQ=DAILY", "INTERVAL required"),
        (START + "RRULE:FREQ=SECONDLY;INTERVAL=5", "SECONDLY is not supported"),
        (START + "RRULE:FREQ=REGULARLY;INTERVAL=5", "rrule parsing failed"),
        (START + "RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=1SU", "BYDAY with numeric prefix"),
        (START + "RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1000", "COUNT > 999"),
        (START + "RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1;UNTIL=20270101T000000Z", "both COUNT and UNTIL"),
        (START + "RRULE:FREQ=DAILY;INTERVAL=1 EXDATE:20270101", "EXDATE not allowed"),
    ],
)
def test_recurrence_rules(rrule, error):
    assert rule_errors(rrule) == [] if not error else error in " ".join(rule_errors(rrule))


def question(**more):
    return {"question_name": "Q", "variable": "v", "type": "text", "required": False, **more}


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (question(), ""),
        (question(type="integer", default=5, min=0, max=9), ""),
        (question(type="multiplechoice", choices=["true", "false"], default="true"), ""),
        (question(type="multiselect", choices="a\nb", default="a\nb"), ""),
        ({"question_name": "Q", "variable": "v", "type": "text"}, "'required' missing from survey question 0"),
        (question(required="yes"), "'required' in survey question 0 expected to be boolean."),
        (question(type="boolean"), "'boolean' in survey question 0 is not one of"),
        (question(default=False), "Default value False in survey question 0 expected to be string."),
        (question(type="integer", default="5"), "Default value 5 in survey question 0 expected to be integer."),
        (question(type="integer", min="1"), "The min limit in survey question 0 expected to be integer."),
        (question(type="multiplechoice"), "must specify choices"),
        (
            question(type="multiplechoice", choices=[True, False], default="true"),
            "Default choice must be answered from the choices listed.",
        ),
        (question(type="multiplechoice", choices=["a", "b"], default="a\nb"), "can only have one default value"),
    ],
)
def test_questions_of_a_survey(asked, error):
    assert error in survey_error({"name": "", "description": "", "spec": [asked]})
    assert bool(error) == bool(survey_error({"name": "", "description": "", "spec": [asked]}))


def test_surveys():
    assert survey_error({"name": "", "spec": [question()]}) == "Field 'description' is missing from survey spec."
    assert survey_error({"name": "", "description": "", "spec": []}) == "'spec' doesn't contain any items."
    assert "'v' duplicated in survey question 1" in survey_error(
        {"name": "", "description": "", "spec": [question(), question(type="boolean")]}
    )
    assert (
        survey_error({"name": 1, "description": "", "spec": [question()]})
        == "Expected string for field 'name', received int type."
    )
    assert (
        survey_error({"name": "", "description": "", "spec": {}})
        == "Expected list of items for field 'spec', received dict type."
    )
    assert survey_error({"name": "", "description": "", "spec": ["v"]}) == "Survey question 0 is not a json object."


@pytest.mark.parametrize(
    ("asked", "answers", "error"),
    [
        (question(required=True, default="x"), {}, "'v' value missing"),
        (question(), {}, ""),
        (question(type="integer"), {"v": "60"}, "Value 60 for 'v' expected to be an integer."),
        (question(type="integer", max=9), {"v": 10}, "too large"),
        (
            question(type="multiplechoice", choices=["true", "false"]),
            {"v": False},
            "Value False for 'v' expected to be one of ['true', 'false'].",
        ),
        (question(type="multiselect", choices=["a"]), {"v": ["b"]}, "Value b for 'v' expected to be one of ['a']."),
        (question(), {"v": 5}, "expected to be a string"),
    ],
)
def test_answers(asked, answers, error):
    assert answer_errors([asked], answers) == [] if not error else error in answer_errors([asked], answers)[0]


def test_prompts():
    asks = {"ask_limit_on_launch": True}
    assert prompt_errors(asks, [question()], {"limit": "mq01", "extra_data": {"v": "x"}}) == {}
    assert prompt_errors({}, [], {"limit": "mq01"}) == {"limit": ["Field is not configured to prompt on launch."]}
    refused = prompt_errors(asks, [question()], {"extra_data": {"gate_fail_on": "fail"}})
    assert refused["extra_data"][0].startswith(
        "Variables gate_fail_on are not allowed on launch. Check the Prompt on Launch setting"
    )
    assert prompt_errors({"ask_variables_on_launch": True}, [], {"extra_data": {"gate_fail_on": "fail"}}) == {}


@pytest.mark.parametrize("own", [{"logdisk_sliced": True}, '{"logdisk_sliced": true}'])
def test_a_variable_that_equals_that_of_the_template_is_no_prompt(own):
    template = {"extra_vars": own}
    assert prompt_errors(template, [], {"extra_data": {"logdisk_sliced": True}}) == {}
    assert list(prompt_errors(template, [], {"extra_data": {"logdisk_sliced": False}})) == ["extra_data"]


def test_a_template_has_one_credential_of_each_type():
    ssh, other, cloud = (
        {"credential_type": 1, "kind": "Machine"},
        {"credential_type": 1, "kind": "Machine"},
        {"credential_type": 7},
    )
    assert credential_error(other, [ssh]) == "Cannot assign multiple Machine credentials."
    assert credential_error(cloud, [ssh]) == credential_error(ssh, []) == ""


SLICES = {"ask_job_slice_count_on_launch": True}
TOO_FEW = {"job_slice_count": ["Job inventory does not have enough hosts for slicing"]}


@pytest.mark.parametrize(
    ("template", "slices", "hosts", "errors"),
    [
        (SLICES, 3, 0, TOO_FEW),
        (SLICES, 3, 1, TOO_FEW),
        (SLICES, 3, 2, {}),
        (SLICES, 1, 0, {}),
        (SLICES, 3, None, {}),
        ({}, 3, 9, {"job_slice_count": ["Field is not configured to prompt on launch."]}),
        ({"job_slice_count": 3}, 3, 0, {}),
        ({**SLICES, "job_slice_count": 3}, 2, 1, TOO_FEW),
    ],
)
def test_slices_as_a_prompt(template, slices, hosts, errors):
    assert prompt_errors(template, [], {"job_slice_count": slices}, hosts) == errors


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ({"error": {"message": "{{ job.name }} {{ job.artifacts }}", "body": "a\nb"}}, ""),
        ({"error": {"message": "a\nb"}}, "cannot contain newlines"),
        ({"error": {"message": "{{ job.secret }}"}}, "secret"),
        ({"error": {"message": "{% for x %}"}}, "Unable to render"),
        ({"failure": {"message": "x"}}, "Event 'failure' invalid"),
        ({"error": {"subject": "x"}}, "Message type 'subject' invalid"),
    ],
)
def test_messages_of_notifications(messages, error):
    assert message_errors(messages) == [] if not error else error in message_errors(messages)[0]
