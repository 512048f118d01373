#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/variables.md from the argument specs of the roles, and docs/playbooks.md from the comments at the top of the playbooks:

    PYTHONPATH=collections .venv-dev/bin/python tools/write_reference.py

`make reference` runs it. tests/unit/test_reference.py fails if a page is not current.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import RUN, names_of

PROJECT = Path(__file__).resolve().parents[1]
GENERATED = "<!-- Written by `make reference`: change {source} instead of this page. -->\n"

PLAYBOOKS_HEAD = """# Playbooks

The installed collection runs each playbook by its name, and so does a checkout in which `make setup` was run. In a checkout, and in a project of AWX, the path
works as well:

```console
$ ansible-playbook -i hosts.yml mqops.logdisk.status
$ ansible-playbook -i hosts.yml playbooks/status.yml
```

[variables.md](variables.md) lists the options. A playbook that finds something wrong ends with status 2, see [gate.md](gate.md#exit-status).
"""

VARIABLES_HEAD = """# Variables

Set these variables in the inventory or with `-e`. `ansible-doc -t role mqops.logdisk.gate` (also `workspace`, `sweep`, `tester`, `observe`, `power_cut` and
`claim`) prints the same descriptions. [playbooks.md](playbooks.md) has the variables of single playbooks. [Mistyped names](gate.md#mistyped-names) are found.

The following variables concern the whole run. They must be the same for all hosts under test, otherwise the run is refused: {run_wide}.

`certify_hosts` is the host pattern of the hosts that a playbook is about, `all:!localhost` by default. Set it with `-e`: a variable of a host or group with
another value refuses the run. `ansible_become` in the inventory does not change the user that the tester runs as; only `workspace_owner` does. As an extra
variable, `ansible_become` is refused.
"""

ROLES = {
    "workspace": ("Where to test", "volumes.md", "discovery.md"),
    "sweep": ("What to measure", "workloads.md", "commit.md", "capacity.md"),
    "gate": ("How to judge, and what is kept", "profiles.md", "certificates.md", "report.md", "signing.md"),
    "tester": ("The tester on the hosts",),
    "observe": ("Live queue managers", "observe.md"),
    "power_cut": ("Power cuts", "power_cut.md"),
    "claim": ("Storage classes of Kubernetes", "kubernetes.md"),
}
"""The roles in the order of the page, each with the title of its section and the pages about it."""


def pages() -> dict[Path, str]:
    """Return the text of each generated page by its path."""
    return {PROJECT / "docs/playbooks.md": playbooks_page(), PROJECT / "docs/variables.md": variables_page()}


def playbooks_page() -> str:
    headers = {path.stem: header(path) for path in sorted((PROJECT / "playbooks").glob("*.yml"))}
    rows = [f"| [{name}](#{name}) | {linked(lines[0])} |" for name, lines in headers.items()]
    table = "\n".join(["| playbook | purpose |", "| --- | --- |", *rows])
    sections = [f"## {name}\n\n{section(lines)}" for name, lines in headers.items()]
    return "\n".join([GENERATED.format(source="the comment at the top of the playbook"), PLAYBOOKS_HEAD, table, "", "\n".join(sections)])


def header(path: Path) -> list[str]:
    """Return the comment that begins a playbook."""
    found = re.match(r"---\n((?:#.*\n)+)", path.read_text(encoding="utf-8"))
    if not found:
        raise SystemExit(f"write_reference: {path.name} does not begin with a comment that says what it is for")
    return [line[2:] for line in found[1].splitlines()]


def section(lines: list[str]) -> str:
    """Return the text of a playbook's section. Indented lines are commands."""
    text = [linked(line) for line in lines if not line.startswith("  ")]
    commands = [f"$ {line.strip()}" for line in lines if line.startswith("  ")]
    return "\n".join([*text, *(["", "```console", *commands, "```"] if commands else []), ""])


def linked(text: str) -> str:
    """Return a text with links to the pages that it names."""
    return re.sub(r"docs/([a-z_]+\.md)(#[a-z-]+)?", r"[\1](\1\2)", text)


def variables_page() -> str:
    elsewhere = set_by_tasks()
    parts = [
        GENERATED.format(source="the role's meta/argument_specs.yml"),
        VARIABLES_HEAD.format(run_wide=", ".join(f"`{name}`" for name in sorted(names_of(RUN)))),
    ]
    for role, (title, *documents) in ROLES.items():
        rows = [f"| `{name}` | {default(spec)} | {meaning(spec)} |" for name, spec in options(role).items() if name not in elsewhere]
        about = f"See {', '.join(f'[{page}]({page})' for page in documents)}.\n\n" if documents else ""
        parts.append("\n".join([f"## {title}\n\n{about}| variable | default | meaning |", "| --- | --- | --- |", *rows, ""]))
    return "\n".join(parts)


def options(role: str) -> dict[str, Any]:
    """Return the specs of a role's options, as they are described first. Required ones are what tasks hand on."""
    found: dict[str, Any] = {}
    for entry in yaml.safe_load((PROJECT / "roles" / role / "meta/argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"].values():
        for name, spec in entry.get("options", {}).items():
            if not spec.get("required"):
                found.setdefault(name, spec)
    return found


def set_by_tasks() -> set[str]:
    """Return the names of the variables that the playbooks set themselves: a user cannot."""
    texts = (path.read_text(encoding="utf-8") for path in (PROJECT / "playbooks").rglob("*.yml"))
    return {name for text in texts for name in re.findall(r"^ +(\w+): ", text, re.MULTILINE)}


def default(spec: dict[str, Any]) -> str:
    value = spec.get("default")
    if value in (None, ""):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def meaning(spec: dict[str, Any]) -> str:
    sentences = list(words(spec["description"]))
    if "choices" in spec and not all(f"`{choice}`" in " ".join(sentences) for choice in spec["choices"]):
        sentences.append(f"One of {', '.join(f'`{choice}`' for choice in spec['choices'])}.")
    for name, each in spec.get("options", {}).items():
        sentences.append(f"`{name}`: {' '.join(words(each['description']))}")
    return " ".join(sentences).replace("|", "\\|")


def words(description: str | list[str]) -> Iterator[str]:
    """Return a description's paragraphs with Markdown instead of Ansible's markup."""
    for paragraph in [description] if isinstance(description, str) else description:
        text = re.sub(r"\bB\(([^)]*)\)", r"**\1**", linked(paragraph))
        text = re.sub(r"\b[PO]\(mqops\.logdisk\.(\w+)#role(?::\w+:(\w+))?\)", lambda found: f"`{found[2] or found[1]}`", text)
        yield " ".join(re.sub(r"\b[CVOEM]\(((?:[^()\\]|\\.)*)\)", lambda found: f"`{found[1].replace(chr(92), '')}`", text).split())


if __name__ == "__main__":
    for page, content in pages().items():
        page.write_text(content, encoding="utf-8")
