# SPDX-License-Identifier: GPL-3.0-or-later
"""Input that AWX's API refuses, and the messages with which it does so: rules for schedules, surveys, their answers,
prompts, credentials, and messages of notifications.

Every function returns AWX's error message, or nothing if AWX would accept the input. Each function names the code in
AWX 24.6.1 that it reimplements.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import StrictUndefined
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

TYPES = {
    "text": str,
    "textarea": str,
    "password": str,
    "multiplechoice": str,
    "multiselect": str,
    "integer": int,
    "float": float,
}
FREQUENCIES = {"MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"}
# The fields of a job that a message may use, with the values that AWX uses to validate the message.
JOB = {
    "id": 42,
    "name": "Stub JobTemplate",
    "status": "running",
    "job_explanation": "Sample job explanation",
    "limit": "bar_limit",
    "playbook": "ping.yml",
    "artifacts": {},
    "host_status_counts": {"skipped": 1, "ok": 5, "changed": 3, "failures": 0, "dark": 0},
}
CONTEXT = {
    "job": JOB,
    "job_friendly_name": "Job",
    "url": "https://awx.example/#/jobs/playbook/1010",
    "job_metadata": "{}",
}


def rule_errors(rrule: str) -> list[str]:
    """Check the recurrence rule of a schedule (awx/api/serializers.py, SchedulePreviewSerializer.validate_rrule)."""
    errors = []
    starts = re.findall(r"DTSTART(?:;[^:]+)?:\d+T\d+Z?", rrule)
    rules = re.findall(r"(RULE:\S*)", rrule)
    if not starts:
        errors.append("Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ")
    if re.search(r"DTSTART:\d+T\d+(?!\d|Z)", rrule):
        errors.append("DTSTART cannot be a naive datetime.  Specify ;TZINFO= or YYYYMMDDTHHMMSSZZ.")
    if len(starts) > 1:
        errors.append("Multiple DTSTART is not supported.")
    errors += ["%s not allowed in rrule." % word for word in ("EXDATE", "RDATE") if word + ":" in rrule.upper()]
    if not rules:
        errors.append("One or more rule required in rrule.")
    for rule in rules:
        errors += _errors_of_one_rule(rule)
    return errors


def _errors_of_one_rule(rule: str) -> list[str]:
    errors = []
    parts = dict(part.split("=", 1) for part in rule.removeprefix("RULE:").split(";") if "=" in part)
    if "INTERVAL" not in parts:
        errors.append(f"INTERVAL required in rrule: {rule}")
    elif parts.get("FREQ") == "SECONDLY":
        errors.append(f"SECONDLY is not supported: {rule}")
    elif parts.get("FREQ") not in FREQUENCIES:
        errors.append(f"rrule parsing failed validation: invalid '{rule}'")
    if re.search(r"\d", parts.get("BYDAY", "")):
        errors.append(f"BYDAY with numeric prefix not supported: {rule}")
    if "COUNT" in parts and "UNTIL" in parts:
        errors.append(f"RRULE may not contain both COUNT and UNTIL: {rule}")
    if int(parts.get("COUNT", 0)) > 999:
        errors.append(f"COUNT > 999 is unsupported: {rule}")
    return errors


def survey_error(survey: Mapping[str, Any]) -> str:
    """Check a survey (awx/api/views/__init__.py, JobTemplateSurveySpec._validate_spec_data). AWX reports only one
    error: the last one in the fields of the survey, or else the first one in its questions."""
    error = ""
    for field, kind, label in (
        ("name", str, "string"),
        ("description", str, "string"),
        ("spec", list, "list of items"),
    ):
        if field not in survey:
            error = f"Field '{field}' is missing from survey spec."
        elif not isinstance(survey[field], kind):
            error = f"Expected {label} for field '{field}', received {type(survey[field]).__name__} type."
    if survey.get("spec") == []:
        error = "'spec' doesn't contain any items."
    if error:
        return error
    seen: set[str] = set()
    for number, question in enumerate(survey["spec"]):
        error = _question_error(number, question)
        if not error and question["variable"] in seen:
            error = f"'variable' '{question['variable']}' duplicated in survey question {number}."
        error = error or _type_error(number, question)
        if error:
            return error
        seen.add(question["variable"])
    return ""


def _question_error(number: int, question: Any) -> str:
    if not isinstance(question, Mapping):
        return f"Survey question {number} is not a json object."
    for field, kind, label in (
        ("type", str, "string"),
        ("question_name", str, "string"),
        ("variable", str, "string"),
        ("required", bool, "boolean"),
    ):
        if field not in question:
            return f"'{field}' missing from survey question {number}"
        if not isinstance(question[field], kind):
            return f"'{field}' in survey question {number} expected to be {label}."
    return ""


def _type_error(number: int, question: Mapping[str, Any]) -> str:
    kind = question["type"]
    if kind not in TYPES:
        return f"'{kind}' in survey question {number} is not one of '{', '.join(TYPES)}' allowed question types."
    default = question.get("default", "")
    if default != "" and not isinstance(default, TYPES[kind]):
        return (
            f"Default value {default} in survey question {number} expected to be "
            f"{'string' if TYPES[kind] is str else kind}."
        )
    for limit in ("min", "max"):
        if question.get(limit) is not None and not isinstance(question[limit], int):
            return f"The {limit} limit in survey question {number} expected to be integer."
    return _choice_error(number, question) if kind.startswith("multi") else ""


def _choice_error(number: int, question: Mapping[str, Any]) -> str:
    if "choices" not in question:
        return f"Survey question {number} of type {question['type']} must specify choices."
    defaults = question.get("default", "").splitlines()
    if question["type"] == "multiplechoice" and len(defaults) > 1:
        return "Multiple Choice (Single Select) can only have one default value."
    if any(default not in choices(question) for default in defaults):
        return "Default choice must be answered from the choices listed."
    return ""


def choices(question: Mapping[str, Any]) -> list[Any]:
    given = question.get("choices", [])
    return given.splitlines() if isinstance(given, str) else list(given)


def answer_errors(questions: Sequence[Mapping[str, Any]], answers: Mapping[str, Any]) -> list[str]:
    """Check the answers of a launch, a schedule or a node (awx/main/models/mixins.py,
    SurveyJobTemplateMixin._survey_element_validation).

    The defaults of a survey do not count as answers.
    """
    errors = []
    for question in questions:
        variable = question["variable"]
        if variable in answers:
            errors += _errors_of_one_answer(question, answers[variable])
        elif question["required"]:
            errors.append(f"'{variable}' value missing")
    return errors


def _errors_of_one_answer(question: Mapping[str, Any], value: Any) -> list[str]:
    variable, kind = question["variable"], question["type"]
    if kind == "multiplechoice":
        return (
            []
            if value in choices(question)
            else [f"Value {value} for '{variable}' expected to be one of {choices(question)}."]
        )
    if kind == "multiselect":
        if not isinstance(value, list):
            return [f"'{variable}' value is expected to be a list."]
        return [
            f"Value {one} for '{variable}' expected to be one of {choices(question)}."
            for one in value
            if one not in choices(question)
        ]
    wanted = (int, float) if kind == "float" else TYPES[kind]
    if not isinstance(value, wanted) or isinstance(value, bool):
        return [
            f"Value {value} for '{variable}' expected to be "
            f"{'an integer' if kind == 'integer' else 'a numeric type' if kind == 'float' else 'a string'}."
        ]
    size = value if kind in ("integer", "float") else len(value)
    if question.get("min") is not None and size < question["min"]:
        return [f"'{variable}' value {value} is too small (must be at least {question['min']})."]
    if question.get("max") is not None and size > question["max"]:
        return [f"'{variable}' value {value} is too large (must be no more than {question['max']})."]
    return []


def prompt_errors(
    template: Mapping[str, Any],
    questions: Sequence[Mapping[str, Any]],
    prompts: Mapping[str, Any],
    inventory_hosts: int | None = None,
) -> dict[str, list[str]]:
    """Check the values that a launch, a schedule or a node passes to a template: fields by awx/main/models/jobs.py,
    JobTemplate._accept_or_ignore_job_kwargs, and variables by awx/main/models/mixins.py,
    SurveyJobTemplateMixin._accept_or_ignore_variables.

    ``inventory_hosts`` is the number of hosts in the inventory of the job, or None if it is not known. Values that are
    equal to those of the template are not checked. The number of slices of the template itself is not checked either,
    because a job never gets more slices than there are hosts (jobs.py, JobTemplate.get_effective_slice_ct).
    """
    errors: dict[str, list[str]] = {}
    for field, value in prompts.items():
        if field == "extra_data" or value in (None, "", [], {}) or value == template.get(field):
            continue
        if not template.get(f"ask_{field}_on_launch"):
            errors[field] = ["Field is not configured to prompt on launch."]
        elif (
            field == "job_slice_count"
            and value > 1
            and inventory_hosts is not None
            and min(value, inventory_hosts) <= 1
        ):  # jobs.py:483
            errors[field] = ["Job inventory does not have enough hosts for slicing"]
    extra = prompts.get("extra_data") or {}
    missing = answer_errors(questions, extra)
    if missing:
        errors["variables_needed_to_start"] = missing
    own = template_variables(template)
    asked = {question["variable"] for question in questions}
    unknown = sorted(name for name in set(extra) - asked if name not in own or own[name] != extra[name])
    if unknown and not template.get("ask_variables_on_launch"):
        errors["extra_data"] = [
            f"Variables {', '.join(unknown)} are not allowed on launch. Check the Prompt on Launch setting on the Job "
            "Template to include Extra Variables."
        ]
    return errors


def template_variables(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a template itself, which the modules send as JSON."""
    given = template.get("extra_vars") or {}
    return json.loads(given) if isinstance(given, str) else dict(given)


def credential_error(credential: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    """Check a credential to be added to the others of a template (awx/api/views/__init__.py,
    JobTemplateCredentialsList.is_valid_relation).

    A template has at most one credential of each type. AWX allows several for vaults, but this check does not.
    """
    kind = credential.get("credential_type")
    taken = kind is not None and any(other.get("credential_type") == kind for other in others)
    return f"Cannot assign multiple {credential.get('kind', 'Machine')} credentials." if taken else ""


def message_errors(messages: Mapping[str, Any]) -> list[str]:
    """Check the messages of a notification (awx/api/serializers.py, NotificationTemplateSerializer.validate_messages).

    The messages of a webhook would also have to be JSON.
    """
    errors = []
    for event, texts in messages.items():
        if event not in ("started", "success", "error", "workflow_approval"):
            errors.append(
                f"Event '{event}' invalid, must be one of 'started', 'success', 'error', or 'workflow_approval'"
            )
            continue
        for kind, text in texts.items():
            if kind not in ("message", "body"):
                errors.append(f"Message type '{kind}' invalid, must be either 'message' or 'body'")
            elif kind == "message" and "\n" in text:
                errors.append(f"Messages cannot contain newlines (found newline in {event} event)")
            else:
                errors += _rendering_errors(text)
    return errors


def _rendering_errors(text: str) -> list[str]:
    try:
        ImmutableSandboxedEnvironment(undefined=StrictUndefined).from_string(text).render(CONTEXT)
    except TemplateError as error:
        return [f"Unable to render message '{text}': {error.message}"]
    return []


def render_message(text: str, job: Mapping[str, Any]) -> str:
    """Render a message as AWX does when it sends it: unknown values are empty."""
    return ImmutableSandboxedEnvironment().from_string(text).render({**CONTEXT, "job": {**JOB, **job}})
