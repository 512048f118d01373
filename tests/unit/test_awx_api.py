# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The simulated API of AWX refuses the same requests as AWX."""

from __future__ import annotations

import pytest
from fake_awx.api import Awx

SURVEY = {
    "name": "",
    "description": "",
    "spec": [{"question_name": "Q", "variable": "v", "type": "integer", "required": True, "default": 5}],
}
DAILY = "DTSTART:20270103T020000Z RRULE:FREQ=DAILY;INTERVAL=1"


@pytest.fixture
def awx():
    """An API with a project, and a template that has a survey."""
    made = Awx(["site.yml"])
    made.create("inventories", {"name": "hosts"})
    project = made.create("projects", {"name": "project"})
    assert made.answer("POST", "job_templates/", {}, template(made))[1] == {
        "playbook": ["Playbook not found for project."]
    }
    for _look in range(2):
        made.answer("GET", f"project_updates/{project['summary_fields']['current_update']['id']}/", {}, None)
    _status, job_template = made.answer("POST", "job_templates/", {}, template(made))
    assert made.answer("POST", f"job_templates/{job_template['id']}/survey_spec/", {}, SURVEY)[0] == 200
    return made


def template(awx, **more):
    ids = {"project": awx.named("projects", "project")["id"], "inventory": awx.named("inventories", "hosts")["id"]}
    return {"name": "template", "playbook": "site.yml", "survey_enabled": True, **ids, **more}


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"playbook": "other.yml"}, "playbook"),
        ({"inventory": 99}, "inventory"),
        ({"inventory": None}, "inventory"),
        ({"forks": 201}, "forks"),
        ({"ask_slices_on_launch": True}, "ask_slices_on_launch"),
        ({"name": "template"}, "__all__"),
    ],
)
def test_templates(awx, more, field):
    status, refused = awx.answer("POST", "job_templates/", {}, template(awx, **{"name": "another", **more}))
    assert (status, list(refused)) == (400, [field])


def test_a_template_stays_although_its_survey_is_refused(awx):
    wrong = {**SURVEY, "spec": [{**SURVEY["spec"][0], "type": "boolean"}]}
    _status, made = awx.answer("POST", "job_templates/", {}, template(awx, name="another"))
    assert awx.answer("POST", f"job_templates/{made['id']}/survey_spec/", {}, wrong)[0] == 400
    assert awx.named("job_templates", "another")["survey_enabled"]


@pytest.mark.parametrize("table", ["schedules", "workflow_job_template_nodes"])
@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({}, "variables_needed_to_start"),
        ({"extra_data": {"v": "5"}}, "variables_needed_to_start"),
        ({"extra_data": {"v": 5, "w": 5}}, "extra_data"),
        ({"extra_data": {"v": 5}, "limit": "mq01"}, "limit"),
        ({"extra_data": {"v": 5}}, ""),
    ],
)
def test_prompts(awx, table, more, field):
    what = {
        "name": "x",
        "identifier": "x",
        "rrule": DAILY,
        "unified_job_template": awx.named("job_templates", "template")["id"],
        **more,
    }
    status, answer = awx.answer("POST", f"{table}/", {}, what)
    assert status == (400 if field else 201)
    assert not field or list(answer) == [field]


def test_rules_of_schedules_and_messages_of_notifications(awx):
    what = {
        "name": "x",
        "rrule": "FREQ=DAILY",
        "unified_job_template": awx.named("job_templates", "template")["id"],
        "extra_data": {"v": 5},
    }
    assert list(awx.answer("POST", "schedules/", {}, what)[1]) == ["rrule"]
    assert list(
        awx.answer("POST", "notification_templates/", {}, {"name": "x", "messages": {"error": {"message": "a\nb"}}})[1]
    ) == ["messages"]
    injectors = {"env": {"ANSIBLE_CALLBACKS_ENABLED": "x"}}
    assert list(awx.answer("POST", "credential_types/", {}, {"name": "x", "injectors": injectors})[1]) == ["injectors"]


def test_a_second_credential_of_the_same_type_is_refused(awx):
    where = f"job_templates/{awx.named('job_templates', 'template')['id']}/credentials/"
    first, second, other = (
        awx.create("credentials", {"name": name, "credential_type": kind})["id"]
        for name, kind in (("a", 1), ("b", 1), ("c", 2))
    )
    answers = [awx.answer("POST", where, {}, {"id": number})[0] for number in (first, second, other)]
    assert answers == [204, 400, 204] and awx.linked_names("job_templates", "template", "credentials") == {"a", "c"}
