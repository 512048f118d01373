# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of AWX's API that the modules of awx.awx use to set up AWX. It makes the same checks as AWX, and keeps
everything in memory.

The answers have the same form as those of AWX 24.6.1: lists with ``count`` and ``results``, items with ``id``, ``url``,
``type`` and ``related``, and status 400 with an error for each field. Like AWX, it does some things later: a project
has no playbooks until its update has ended.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fake_awx import rules

PROMPTED = (
    "limit",
    "job_slice_count",
    "inventory",
    "scm_branch",
    "job_tags",
    "skip_tags",
    "verbosity",
    "forks",
    "timeout",
    "extra_data",
)
ASKED = (
    "credential",
    "diff_mode",
    "execution_environment",
    "instance_groups",
    "job_type",
    "labels",
    "tags",
    "variables",
)
ASK_FIELDS = {f"ask_{name}_on_launch" for name in (*PROMPTED, *ASKED)}
TEMPLATES = ("job_templates", "workflow_job_templates")
FOREIGN = {
    "organization": "organizations",
    "project": "projects",
    "inventory": "inventories",
    "execution_environment": "execution_environments",
}
KINDS = {
    **{
        name: name.removesuffix("s")
        for name in (
            "organizations",
            "credentials",
            "credential_types",
            "execution_environments",
            "notification_templates",
        )
    },
    **{
        name: name.removesuffix("s")
        for name in ("projects", "project_updates", "schedules", "workflow_job_template_nodes", *TEMPLATES)
    },
    "inventories": "inventory",
    "hosts": "host",
    "labels": "label",
}
REVISION = "5bf9dc9"
Item = dict[str, Any]


class Refused(Exception):
    """The answer with which AWX refuses a request: a status and its content."""

    def __init__(self, status: int, content: Mapping[str, Any]) -> None:
        super().__init__(content)
        self.status, self.content = status, content


@dataclass
class Awx:
    """The objects that were set up, and the requests that the API received. ``prefix`` is the path of the API."""

    playbooks: Iterable[str]
    prefix: str = "/api/"
    tables: dict[str, dict[int, Item]] = field(default_factory=lambda: {name: {} for name in KINDS})
    linked: dict[tuple[str, int, str], list[int]] = field(default_factory=dict)
    surveys: dict[tuple[str, int], Item] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)
    last_id: int = 0

    def __post_init__(self) -> None:
        self.create("organizations", {"name": "Default"})

    @property
    def root(self) -> str:
        return self.prefix + "v2/"

    @property
    def changes(self) -> list[tuple[str, str, Any]]:
        """The requests that would change something, apart from logging in and updating a project."""
        return [
            request
            for request in self.requests
            if request[0] != "GET" and not re.search(r"/(tokens|update)/", request[1])
        ]

    def named(self, table: str, name: str) -> Item:
        (item,) = [item for item in self.tables[table].values() if item["name"] == name]
        return item

    def names(self, table: str) -> set[str]:
        return {item["name"] for item in self.tables[table].values()}

    def linked_names(self, table: str, name: str, relation: str) -> set[str]:
        target = "workflow_job_template_nodes" if relation.endswith("_nodes") else self._target(relation)
        return {
            self.tables[target][other]["name"]
            for other in self.linked.get((table, self.named(table, name)["id"], relation), [])
        }

    def answer(self, method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, Any]:
        """Answer a request to a path below the root."""
        parts = path.strip("/").split("/")
        try:
            match method, parts:
                case _, ["tokens", *_]:
                    return (201, {"id": 1, "token": "recorded"}) if method == "POST" else (204, None)
                case "GET", ["ping" | "config" | "me"]:
                    return 200, {"version": "24.6.1", "count": 1, "results": [{"id": 1, "username": "admin"}]}
                case "GET", ["unified_job_templates"]:
                    items = [item for table in ("projects", *TEMPLATES) for item in self.tables[table].values()]
                    return 200, listed(found(items, query))
                case "GET", [table] if table in self.tables:
                    return 200, listed(found(self.tables[table].values(), query))
                case "POST", [table] if table in self.tables:
                    return 201, self.create(table, body)
                case "GET", [table, number]:
                    return 200, self._got(table, number)
                case "PATCH", [table, number]:
                    return 200, self.update(table, self._got(table, number), body)
                case _, [table, number, "survey_spec"]:
                    return self._survey(method, (table, self._got(table, number)["id"]), body)
                case "POST", ["projects", number, "update"]:
                    return 202, self._project_update(self._got("projects", number))
                case "POST", [table, number, "workflow_nodes"]:
                    return 201, self.create(
                        "workflow_job_template_nodes", {**body, "workflow_job_template": self._got(table, number)["id"]}
                    )
                case "GET", [table, number, "workflow_nodes"]:
                    nodes = self.tables["workflow_job_template_nodes"].values()
                    return 200, listed(
                        found([node for node in nodes if node["workflow_job_template"] == int(number)], query)
                    )
                case _, [table, number, relation]:
                    return self._link(method, (table, self._got(table, number)["id"], relation), body)
        except Refused as refused:
            return refused.status, refused.content
        return 404, {"detail": "Not found."}

    def create(self, table: str, body: Item) -> Item:
        self._check(table, body, {})
        if table != "workflow_job_template_nodes" and body.get("name") in self.names(table):
            raise Refused(400, {"__all__": [f"{KINDS[table]} with this Name already exists."]})
        self.last_id += 1
        url = f"{self.root}{table}/{self.last_id}/"
        related = {name: f"{url}{name}/" for name in ("survey_spec", "update", "workflow_nodes")}
        item = {
            "id": self.last_id,
            "url": url,
            "type": KINDS[table],
            "related": related,
            "summary_fields": {},
            "description": "",
            **body,
        }
        self.tables[table][self.last_id] = item
        if table == "projects":
            item |= {"scm_revision": "", "playbooks": []}
            item["summary_fields"]["current_update"] = {"id": self._project_update(item)["id"]}
        return item

    def update(self, table: str, item: Item, body: Item) -> Item:
        self._check(table, body, item)
        item |= body
        return item

    def _got(self, table: str, number: str) -> Item:
        if table == "project_updates":
            self._advance(int(number))
        try:
            return self.tables[table][int(number)]
        except (KeyError, ValueError):
            raise Refused(404, {"detail": "Not found."}) from None

    def _check(self, table: str, body: Item, old: Item) -> None:
        new = {**old, **body}
        for name, target in FOREIGN.items():
            if new.get(name) and new[name] not in self.tables[target]:
                raise Refused(400, {name: [f'Invalid pk "{new[name]}" - object does not exist.']})
        unknown = sorted(name for name in body if name.startswith("ask_") and name not in ASK_FIELDS)
        if unknown:
            raise Refused(400, {name: ["Unknown field."] for name in unknown})
        match table:
            case "job_templates":
                self._check_template(new)
            case "schedules" if rules.rule_errors(new["rrule"]):
                raise Refused(400, {"rrule": rules.rule_errors(new["rrule"])})
            case "notification_templates" if rules.message_errors(new.get("messages") or {}):
                raise Refused(400, {"messages": rules.message_errors(new["messages"])})
            case "credential_types" if any(
                name.startswith("ANSIBLE_") for name in new.get("injectors", {}).get("env", {})
            ):
                raise Refused(400, {"injectors": ["ANSIBLE_ environment variables are not allowed."]})
        if table in ("schedules", "workflow_job_template_nodes"):
            self._check_prompts(new)

    def _check_template(self, template: Item) -> None:
        if template.get("playbook") not in self.tables["projects"][template["project"]]["playbooks"]:
            raise Refused(400, {"playbook": ["Playbook not found for project."]})
        if not template.get("inventory") and not template.get("ask_inventory_on_launch"):
            raise Refused(400, {"inventory": ["Job Template must provide 'inventory' or allow prompting for it."]})
        if template.get("forks", 0) > 200:
            raise Refused(400, {"forks": [f"Maximum number of forks (200) exceeded: {template['forks']}"]})

    def _check_prompts(self, item: Item) -> None:
        table, template = next(
            (table, self.tables[table][item["unified_job_template"]])
            for table in TEMPLATES
            if item["unified_job_template"] in self.tables[table]
        )
        survey = self.surveys.get((table, template["id"]), {}) if template.get("survey_enabled") else {}
        prompts = {name: item.get(name) for name in PROMPTED}
        inventory = (prompts["inventory"] if template.get("ask_inventory_on_launch") else None) or template.get(
            "inventory"
        )
        hosts = sum(host["inventory"] == inventory for host in self.tables["hosts"].values()) if inventory else None
        errors = rules.prompt_errors(template, survey.get("spec", []), prompts, hosts)
        if errors:
            raise Refused(400, errors)

    def _survey(self, method: str, key: tuple[str, int], body: Any) -> tuple[int, Any]:
        if method == "POST":
            error = rules.survey_error(body)
            if error:
                raise Refused(400, {"error": error})
            self.surveys[key] = body
        elif method == "DELETE":
            self.surveys.pop(key, None)
        return 200, self.surveys.get(key, {})

    def _project_update(self, project: Item) -> Item:
        self.last_id += 1
        url = f"{self.root}project_updates/{self.last_id}/"
        update = {
            "id": self.last_id,
            "url": url,
            "type": "project_update",
            "project": project["id"],
            "name": project["name"],
        }
        self.tables["project_updates"][self.last_id] = update | {
            "status": "pending",
            "failed": False,
            "event_processing_finished": False,
        }
        return {"project_update": self.last_id, **update}

    def _advance(self, number: int) -> None:
        """The update of a project ends when its state is requested for the second time."""
        update = self.tables["project_updates"].get(number, {"status": "successful"})
        if update["status"] == "pending":
            update["status"] = "running"
        elif update["status"] == "running":
            update |= {"status": "successful", "event_processing_finished": True, "scm_revision": REVISION}
            self.tables["projects"][update["project"]] |= {
                "scm_revision": REVISION,
                "playbooks": sorted(self.playbooks),
                "summary_fields": {},
            }

    def _target(self, relation: str) -> str:
        return "notification_templates" if relation.startswith("notification_templates") else relation

    def _link(self, method: str, key: tuple[str, int, str], body: Any) -> tuple[int, Any]:
        target = key[0] if key[2].endswith("_nodes") else self._target(key[2])
        if target not in self.tables:
            raise Refused(404, {"detail": "Not found."})
        others = self.linked.setdefault(key, [])
        if method == "GET":
            return 200, listed([self.tables[target][other] for other in others])
        if body.get("disassociate"):
            others.remove(body["id"])
        elif body["id"] not in self.tables[target]:
            raise Refused(400, {"id": ["Object does not exist."]})
        else:
            self._check_link(target, body["id"], others)
            others.append(body["id"])
        return 204, None

    def _check_link(self, target: str, number: int, others: list[int]) -> None:
        if target == "credentials":
            error = rules.credential_error(
                self.tables[target][number], [self.tables[target][other] for other in others]
            )
            if error:
                raise Refused(400, {"error": error})


def listed(items: list[Item]) -> Item:
    return {"count": len(items), "next": None, "previous": None, "results": items}


def found(items: Iterable[Item], query: Mapping[str, str]) -> list[Item]:
    """Return the items that match every condition, and at least one of those with ``or__``."""
    conditions = {name: value for name, value in query.items() if not name.startswith(("or__", "page", "order_by"))}
    either = {name.removeprefix("or__"): value for name, value in query.items() if name.startswith("or__")}
    return [
        item
        for item in items
        if all(str(item.get(name)) == value for name, value in conditions.items())
        and (not either or any(str(item.get(name)) == value for name, value in either.items()))
    ]


@contextmanager
def served(awx: Awx) -> Iterator[str]:
    """Serve the API on this machine. Yields its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            url = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or "{}") if length else {}
            with awx.lock:
                awx.requests.append((self.command, url.path, body))
                status, content = self._routed(url.path, dict(parse_qsl(url.query, keep_blank_values=True)), body)
            text = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("X-API-Product-Name", "AWX")
            self.send_header("X-API-Product-Version", "24.6.1")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _routed(self, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
            if not path.startswith(awx.root):
                return 404, {"detail": "Not found."}
            if not self.headers.get("Authorization"):
                return 401, {"detail": "Authentication credentials were not provided."}
            return awx.answer(self.command, path.removeprefix(awx.root), query, body)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer

        def log_message(self, *_arguments: object) -> None:
            """Nothing is printed, because tests examine ``requests``."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
