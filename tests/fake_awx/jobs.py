# SPDX-License-Identifier: GPL-3.0-or-later
"""Job templates that can be started with the requests of ansible-rulebook. Every job succeeds at once.

As in AWX, a value for which the template does not prompt is ignored, and the job starts without it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Condition
from typing import Any, NamedTuple

from fake_awx.api import ASK_FIELDS, Awx, Item, listed


class Job(NamedTuple):
    """The parameters of a job."""

    template: str
    limit: str
    extra_vars: dict[str, Any]


@dataclass
class StartingAwx(Awx):
    """Stores the jobs in the order in which they were started."""

    jobs: list[Job] = field(default_factory=list)
    started: Condition = field(default_factory=Condition)

    def add_template(self, template: Mapping[str, Any]) -> None:
        """Add a job template without checking whether its project exists."""
        self.last_id += 1
        url = f"{self.root}job_templates/{self.last_id}/"
        known = {"id": self.last_id, "url": url, "type": "job_template", "related": {"launch": f"{url}launch/"}}
        organization = {"organization": {"name": template["organization"]}}
        self.tables["job_templates"][self.last_id] = {
            **dict.fromkeys(ASK_FIELDS, False),
            **template,
            **known,
            "summary_fields": organization,
        }

    def wait_for(self, limits: set[str], timeout_s: float) -> None:
        """Wait until jobs with these limits have been started."""
        with self.started:
            assert self.started.wait_for(lambda: limits <= {job.limit for job in self.jobs}, timeout_s), self.jobs

    def answer(self, method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, Any]:
        match method, path.strip("/").split("/"):
            case "POST", ["job_templates", number, "launch"]:
                return 201, self._start(self.tables["job_templates"][int(number)], body)
            case "GET", ["jobs"]:
                return 200, listed([self._job(int(number)) for number in query["id__in"].split(",")])
        return super().answer(method, path, query, body)

    def _start(self, template: Item, body: Item) -> Item:
        limit = body.get("limit", "") if template["ask_limit_on_launch"] else template.get("limit", "")
        given = body.get("extra_vars", {}) if template["ask_variables_on_launch"] else {}
        with self.started:
            self.jobs.append(Job(template["name"], limit, {**template.get("extra_vars", {}), **given}))
            self.started.notify_all()
        return self._job(len(self.jobs))

    def _job(self, number: int) -> Item:
        url = f"{self.root}jobs/{number}/"
        return {
            "id": number,
            "type": "job",
            "url": url,
            "status": "successful",
            "created": "2026-11-22T12:00:00Z",
            "artifacts": {},
        }
