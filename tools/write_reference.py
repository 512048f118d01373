#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the reference pages that are generated from code:

docs/variables.md   from the argument specs of the roles
docs/playbooks.md   from the comments at the top of the playbooks
docs/limit_ids.md   from the profiles of this collection
docs/settings.md    (its last section) from the catalogue of settings
docs/metrics.md     from the figures that a profile can limit
docs/causes.md      its last sections, from the advice that the report gives
docs/report_json.md from the descriptions in docs/report.schema.json
docs/logdisk.schema.json    from the columns that `logdisk --columns` prints, so the tester must have been built

    PYTHONPATH=collections .venv-dev/bin/python tools/write_reference.py

`make reference` runs it. tests/unit/test_documentation.py fails if a page is not current.
"""

import csv
import io
import json
import re
import subprocess
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import metrics
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import Profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import HARD_LIMITS, load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.advice import LOCK_CAUSES, OF_METRICS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import RUN, names_of, playbook_files
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes import advice
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.settings import catalogue

PROJECT = Path(__file__).resolve().parents[1]
GENERATED = "<!-- Written by `make reference`: change {source} instead of this page. -->\n"

PLAYBOOKS_HEAD = """# Playbooks

If the collection is installed, or in a checkout after `make setup`, each playbook can be run by its name. In a checkout
or an AWX project, you can also use the path of the playbook:

```console
$ ansible-playbook -i hosts.yml mqops.logdisk.status
$ ansible-playbook -i hosts.yml playbooks/status.yml
```

[variables.md](variables.md) lists the options. If a playbook finds something wrong, it ends with status 2: see
[gate.md](gate.md#exit-status).
"""

VARIABLES_HEAD = """# Variables

Set these variables in the inventory or with `-e`. `ansible-doc -t role mqops.logdisk.gate` (also `workspace`, `sweep`,
`tester`, `observe`, `power_cut`, `locks` and `claim`) prints the same descriptions. [playbooks.md](playbooks.md)
describes variables that apply to a single playbook. [Mistyped names](gate.md#mistyped-names) are detected.

The following variables apply to the whole run. If they are not the same for all hosts under test, the run is refused:
{run_wide}.

`certify_hosts` is a host pattern that selects the hosts of a playbook, `all:!localhost` by default. To include a host
named localhost, set it to `all`. If such a host is left out, the run says so. Set the variable with `-e`:
if a variable of a host or group has a different value, the run is refused. `ansible_become` in the inventory does not
change the user that the tester runs as. To change it, set `workspace_owner`. As an extra variable, `ansible_become` is
refused.
"""

ROLES = {
    "workspace": ("Where to test", "volumes.md", "discovery.md"),
    "sweep": ("What to measure", "workloads.md", "commit.md", "capacity.md"),
    "gate": ("How to judge, and what is kept", "profiles.md", "certificates.md", "report.md", "signing.md"),
    "tester": ("The tester on the hosts",),
    "observe": ("Live queue managers", "observe.md"),
    "power_cut": ("Power cuts", "power_cut.md"),
    "locks": ("Locks", "locks.md"),
    "claim": ("Storage classes of Kubernetes", "kubernetes.md"),
}
"""The roles in the order of the page, each with the title of its section and the pages about it."""


MOST_WORDS_IN_A_CELL = 30

LIMITS_HEAD = """# Ids of limits

An id always refers to the same limit. If a limit is removed, its id is not used again. A hard limit has the same id in
every profile. The SHA-256 of a profile does not depend on the ids.
`test_every_limit_of_a_shipped_profile_fails_the_row_that_breaks_it` tests each limit.
"""

CRITERIA = """
Some [criteria](profiles.md#hard-failures) apply to every run, so they are not among the limits of a profile. No waiver
excuses them, and a profile is refused if it uses one of these ids for a limit or a waiver. If `CUT-002`, `CUT-003`,
`LOCK-011` or `LOCK-012` is not met, the volume is `inconclusive`. If any other criterion is not met, the volume fails.

| id | finding | criterion |
| --- | --- | --- |
| `IO-001` | `io_error` | no operation fails |
| `IO-002` | `short_write` | every operation transfers all its bytes |
| `IO-003` | `wrong_data` | data is read back as it was written |
| `IO-004` | `hung` | every operation returns within the stall limit |
| `CUT-001` | `power_cut`, lost | every write acknowledged before a [power cut](power_cut.md) still exists after it |
| `CUT-002` | `power_cut`, inconclusive | the cut took place, and a loss would have been detected |
| `CUT-003` | `too_few_cuts` | the requested number of cuts was made |
| `CUT-004` | `power_cut`, torn | after the cut, no block contains parts of two writes |
| `CUT-005` | `power_cut`, misdirected | no block contains a write that belongs elsewhere |
| `CUT-006` | `power_cut`, unreadable | every block can be read |
| `CUT-007` | `power_cut`, zeroed | no block is zeroed |
| `CUT-008` | `power_cut`, corrupt | no block contains damaged or foreign data |
| `CUT-009` | `power_cut`, metadata lost | every file and directory that was flushed still exists, in full |
| `LOCK-001` | `lock_broken`, settings | no setting of a host defeats its [locks](locks.md) |
| `LOCK-002` | `lock_broken`, second_refused | another host is refused a lock that a host holds |
| `LOCK-003` | `lock_broken`, same_host | another process of the host neither gets a lock nor frees it by closing |
| `LOCK-004` | `lock_broken`, hand_over | the other host gets a lock after its release, however it was released |
| `LOCK-005` | `lock_broken`, concurrent_updates | no update that was made under the lock is lost or torn |
| `LOCK-006` | `lock_broken`, under_load | under full load, the lock is kept, and no write or verification fails |
| `LOCK-007` | `lock_broken`, host_lost | a lost host's lock is taken over for good, with all acknowledged writes |
| `LOCK-008` | `lock_broken`, cut_off | the same, and a host that was cut off no longer writes to any file |
| `LOCK-009` | `lock_broken`, server_failover | a failover of the file server keeps the lock and all writes, and ends |
| `LOCK-010` | `lock_broken`, lock_count | many locks can be held at once |
| `LOCK-011` | `lock_undecided` | every step of the test of locks has an outcome |
| `LOCK-012` | `lock_not_covered` | every step of the test of locks that the profile requires was carried out |
| `LOCK-013` | `lock_broken`, pod_deleted | the other pod gets the lock of a pod that was deleted by force |

These tests check them: `test_a_tester_that_ends_early_names_its_criterion`, `test_power_cuts_name_their_criteria`,
`test_each_kind_of_damage_has_a_criterion_of_its_own`, `test_locks_name_their_criteria`.
"""

KIND_LIMITS_HEAD = """
## Limits on locks

These limits judge [tests of locks](locks.md). A default applies to every profile that does not limit the metric. The
same id names a limit on the same metric in every profile, so that one waiver fits all profiles.
[Figures without a limit](locks.md#figures-without-a-limit) are only reported.
"""

QUANTITIES = {metrics.DURATION: "duration", metrics.RATE: "rate"}
"""What the column `unit` contains for kinds of figures whose limits can be written in any of several units."""

METRICS_HEAD = """# Metrics

A [profile](writing_profiles.md#limits) can limit these figures. *takes* says whether the limit is a `max` (or `below`)
or a `min`. *judged* says which rows a limit applies to:

* *each*: the row of each queue manager, and the row of all queue managers together;
* *all*: only the row of all queue managers together;
* *highest*: only that row, at the highest load point at which all other limits are kept. Such a limit has no
  `load_point`;
* *run*: the value of the whole run, from run.csv;
* *target*, *capacity*: one value for the volume ([headroom](writing_profiles.md#headroom), [capacity](capacity.md));
* *kind*: a figure of another kind of run, such as a [test of locks](locks.md). Measurements ignore such limits.

A limit on a metric of *run*, *target*, *capacity* or *kind* cannot have a `stream`, a size or a `load_point`.
[writing_profiles.md](writing_profiles.md#metrics) describes other percentiles.
"""

NEXT_STEPS_HEAD = """<!-- `make reference` writes the rest: change plugins/plugin_utils/_report/causes/advice.py. -->

## Next steps
"""
"""What follows the text that is written by hand. All generated sections come after it."""

NEXT_STEPS = {
    "A limit was broken": ("", advice.SYMPTOMS),
    "The host was disturbed": ("Each disturbance has its own next step.", advice.DISTURBANCES),
    "Other causes": ("", advice.OTHERS),
    "Locks": ("These are the causes of a [test of locks](locks.md).", {**LOCK_CAUSES, **OF_METRICS}),
}
"""The generated sections of the page about causes, each with the text before its table, and its advice."""

SETTINGS_HEAD = """<!-- `make reference` writes the rest: change roles/workspace/files/settings.yml. -->

## The checks
"""
"""What follows the text that is written by hand, as on the page about causes."""

REPORT_JSON_HEAD = """# Keys of run.json and report.json

[files.md](files.md) describes the other files of a run. [report.schema.json](report.schema.json) is the JSON Schema
(2020-12) of report.json.
"""

REPORT_JSON = {
    "": ("report.json", "The first keys of the file:"),
    "run": ("run.json", "report.json contains the same data under the key `run`."),
    "fleet": (
        "The verdict on the fleet",
        "verdict.json contains these keys except the last three. report.json contains them under the key `fleet`.",
    ),
    "cause": ("A cause", "Each element of `causes` in report.json describes one cause ([causes.md](causes.md))."),
    "host": (
        "A host",
        "Each element of `hosts` in report.json describes one volume of a host. Characters that cannot be printed are\n"
        "escaped, and values that are nested in record.json are text.",
    ),
    "limit": (
        "A limit of a host",
        "Each element of `limits` of a host describes one limit. A judgement in record.json also has these keys.",
    ),
    "worst": (
        "A row and its evidence",
        "The object `worst` of a limit. A judgement in record.json contains these keys directly.",
    ),
    "estimates": (
        "Estimates",
        "Estimates are never a verdict. `log_bytes_per_s`, `commits`, `distances` and `round_trips` exist in reports "
        "of up\nto 40 volumes, if a line could be fitted.",
    ),
    "observation": (
        "An observation of a live queue manager",
        "record.json also contains this object. `null` means that a figure is not known.",
    ),
    "durability": ("Power cuts", "record.json also contains this object. `null` means that a figure is not known."),
    "locks": ("Locks", "record.json also contains this object."),
}
"""The definitions of the schema whose keys are described, with titles and introductions. "" is the file itself."""


def pages() -> dict[Path, str]:
    """Return the text of each generated page by its path."""
    made = {
        "playbooks.md": playbooks_page(),
        "variables.md": variables_page(),
        "limit_ids.md": limits_page(),
        "metrics.md": metrics_page(),
        "causes.md": causes_page(),
        "settings.md": settings_page(),
        "report_json.md": report_json_page(),
        "logdisk.schema.json": document_schema(),
    }
    return {PROJECT / "docs" / name: text for name, text in made.items()}


def settings_page() -> str:
    """Return the page about settings: the text that is written by hand, and the table of the catalogue."""
    written = (PROJECT / "docs/settings.md").read_text(encoding="utf-8").partition(SETTINGS_HEAD)[0]
    rows = ["| id | setting | expected | if it is wrong | source |", "| --- | --- | --- | --- | --- |"]
    for each in catalogue().values():
        severity = ", ".join(f"{kind}: {verdict}" for kind, verdict in each.severity.items())
        consequence = f"{severity}. {each.consequence}"
        cells = (f"`{each.id}`", each.title, each.expected, consequence, each.source)
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return f"{written}{SETTINGS_HEAD}\n" + "\n".join(rows) + "\n"


def document_schema() -> str:
    """Return the schema of the document that `logdisk --json` prints."""
    done = subprocess.run([PROJECT / "src/build/logdisk", "--columns"], check=True, capture_output=True, text=True)
    tables: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        tables.setdefault(row["table"].removesuffix(".csv"), {})[row["name"]] = row["unit"]
    run = _object(tables.pop("run"))
    rows = {name: {"type": "array", "items": _object(columns)} for name, columns in tables.items()}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The document that logdisk --json prints",
        "description": "docs/columns.md explains the columns and keys.",
        "type": "object",
        "properties": {"schema": {"const": 1}, "run": run, **rows},
        "required": ["schema", "run"],
        "additionalProperties": False,
    }
    return json.dumps(schema, indent=1) + "\n"


def _object(columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema of a row, from the units of its columns. The names of numbered keys end in _n."""
    known = {name: _member(name, unit) for name, unit in columns.items() if not name.endswith("_n")}
    numbered = {name: _member(name, unit) for name, unit in columns.items() if name.endswith("_n")}
    return {
        "type": "object",
        "properties": known,
        "patternProperties": {f"^{name.removesuffix('n')}[0-9]+$": member for name, member in numbered.items()},
        "additionalProperties": False,
    }


def _member(name: str, unit: str) -> dict[str, Any]:
    if unit == "text" or name.startswith("option_"):
        return {"type": "string"}
    if unit == "0/1":
        return {"type": ["boolean", "null"]}
    return {"type": ["number", "null"], "description": unit}


def limits_page() -> str:
    folder = PROJECT / "roles/gate/files/profiles"
    profiles = [load_profile(path.stem, str(folder)) for path in sorted(folder.glob("*.yml"))]
    of_bases = {limit.id for profile in profiles if not profile.derived_from for limit in profile.limits}
    shipped = [
        (profile.name, limit)
        for profile in profiles
        for limit in profile.limits
        if not (profile.derived_from and limit.id in of_bases)
    ]
    hard = {limit.id: ("every one", limit) for name, limit in shipped if limit.hard}
    rows = []
    for name, limit in [*((f"`{name}`", limit) for name, limit in shipped if not limit.hard), *hard.values()]:
        where = f", {limit.rows_text}" if limit.rows_text else ""
        rows.append(f"| `{limit.id}` | {name} | `{limit.text}`{where} | {limit.source} |")
    table = ["| id | profile | limit | source |", "| --- | --- | --- | --- |", *rows, ""]
    return "\n".join([GENERATED.format(source="the profile"), LIMITS_HEAD, *table]) + CRITERIA + kind_limits(profiles)


def kind_limits(profiles: list[Profile]) -> str:
    """Return the section about the limits of kinds of runs without tables: the defaults, and those of the profiles."""
    default = load_profile({"name": "default", "limits": [HARD_LIMITS[0]]})
    values = {"default": default, **{f"`{each.name}`": each for each in profiles}}
    shown = {
        title: {limit.id: limit for limit in each.kind_limits}
        for title, each in values.items()
        if each is default or any(not limit.is_default for limit in each.kind_limits)
    }
    head = [
        f"| id | limit on | source of the default | {' | '.join(shown)} |",
        f"| --- | --- | --- |{' --- |' * len(shown)}",
    ]
    rows = []
    for limit in default.kind_limits:
        texts = (each[limit.id].text.removeprefix(f"{limit.metric.name} ") for each in shown.values())
        rows.append(f"| `{limit.id}` | `{limit.metric.name}` | {limit.source} | {' | '.join(texts)} |")
    return "\n".join([KIND_LIMITS_HEAD, *head, *rows, ""])


def metrics_page() -> str:
    rows = [
        f"| `{each.name}` | {QUANTITIES.get(each.kind, each.kind.unit)} "
        f"| {each.bound} | {each.scope} | {each.description} |"
        for each in metrics.all_metrics().values()
    ]
    table = ["| metric | unit | takes | judged | meaning |", "| --- | --- | --- | --- | --- |", *rows, ""]
    return "\n".join([GENERATED.format(source="plugins/plugin_utils/_judge/metrics.py"), METRICS_HEAD, *table])


def causes_page() -> str:
    written = (PROJECT / "docs/causes.md").read_text(encoding="utf-8").partition(NEXT_STEPS_HEAD)[0]
    parts = [written + NEXT_STEPS_HEAD]
    for title, (introduction, advices) in NEXT_STEPS.items():
        rows = [
            f"| {each.seen} | {linked(each.next_step) or 'the message says it'} | {', '.join(each.who) or '-'} |"
            for each in advices.values()
        ]
        table = ["| what was seen | next step | talk to |", "| --- | --- | --- |", *rows, ""]
        parts.append("\n".join([f"### {title}", "", *([introduction, ""] if introduction else []), *table]))
    return "\n".join(parts)


def report_json_page() -> str:
    schema = json.loads((PROJECT / "docs/report.schema.json").read_text(encoding="utf-8"))
    parts = [GENERATED.format(source="docs/report.schema.json"), REPORT_JSON_HEAD]
    for name, (title, introduction) in REPORT_JSON.items():
        keys: dict[str, list[str]] = {}
        for key, shape in (schema["$defs"][name] if name else schema)["properties"].items():
            keys.setdefault(shape["description"], []).append(f"`{key}`")
        rows = [f"| {', '.join(described)} | {linked(meaning)} |" for meaning, described in keys.items()]
        table = ["| key | meaning |", "| --- | --- |", *rows, ""]
        parts.append("\n".join([f"## {title}", "", introduction, "", *table]))
    return "\n".join(parts)


def playbooks_page() -> str:
    headers = {path.stem: header(path) for path in sorted((PROJECT / "playbooks").glob("*.yml"))}
    rows = [f"| [{name}](#{name}) | {linked(purpose(lines))} |" for name, lines in headers.items()]
    table = "\n".join(["| playbook | purpose |", "| --- | --- |", *rows])
    sections = [f"## {name}\n\n{section(lines)}" for name, lines in headers.items()]
    return "\n".join(
        [
            GENERATED.format(source="the comment at the top of the playbook"),
            PLAYBOOKS_HEAD,
            table,
            "",
            "\n".join(sections),
        ]
    )


def header(path: Path) -> list[str]:
    """Return the comment that begins a playbook."""
    found = re.match(r"---\n((?:#.*\n)+)", path.read_text(encoding="utf-8"))
    if not found:
        raise SystemExit(f"write_reference: {path.name} does not begin with a comment that explains what it is for")
    return [line[2:] for line in found[1].splitlines()]


def purpose(lines: list[str]) -> str:
    """Return the first sentence of a comment."""
    return re.split(r"(?<=\.) ", " ".join(lines))[0]


def section(lines: list[str]) -> str:
    """Return the text of the section about a playbook. Indented lines are commands."""
    text = [linked(line) for line in lines if not line.startswith("  ")]
    indented = [line[2:] for line in lines if line.startswith("  ")]
    commands = [f"  {line}" if line.startswith("  ") else f"$ {line}" for line in indented]
    return "\n".join([*text, *(["", "```console", *commands, "```"] if commands else []), ""])


def linked(text: str) -> str:
    """Return a text in which the names of pages are links."""
    return re.sub(r"docs/([a-z_]+\.md)(#[a-z-]+)?", r"[\1](\1\2)", text)


def variables_page() -> str:
    elsewhere = set_by_tasks()
    parts = [
        GENERATED.format(source="the role's meta/argument_specs.yml"),
        VARIABLES_HEAD.format(run_wide=", ".join(f"`{name}`" for name in sorted(names_of(RUN)))),
    ]
    for role, (title, *documents) in ROLES.items():
        known = {name: spec for name, spec in options(role).items() if name not in elsewhere}
        split = {name: purpose_and_details(spec) for name, spec in known.items()}
        rows = [
            f"| {f'[`{name}`](#{name})' if details else f'`{name}`'} | {known[name].get('type', 'str')} "
            f"| {default(known[name])} | {short.replace('|', chr(92) + '|')} |"
            for name, (short, details) in split.items()
        ]
        sections = [line for name, (short, details) in split.items() if details for line in (f"### {name}", *details)]
        about = [f"See {', '.join(f'[{page}]({page})' for page in documents)}."] if documents else []
        table = "\n".join(["| variable | type | default | purpose |", "| --- | --- | --- | --- |", *rows])
        parts.append("\n\n".join([f"## {title}", *about, table, *sections, ""]))
    return "\n".join(parts).rstrip() + "\n"


def options(role: str) -> dict[str, Any]:
    """Return the specs of a role's options, with the first description of each. Required options are left out, because
    tasks pass them."""
    found: dict[str, Any] = {}
    for entry in yaml.safe_load((PROJECT / "roles" / role / "meta/argument_specs.yml").read_text(encoding="utf-8"))[
        "argument_specs"
    ].values():
        for name, spec in entry.get("options", {}).items():
            if not spec.get("required"):
                found.setdefault(name, spec)
    return found


def set_by_tasks() -> set[str]:
    """Return the names of the variables that only playbooks set, and never users."""
    texts = (path.read_text(encoding="utf-8") for path in playbook_files())
    return {name for text in texts for name in re.findall(r"^ +(\w+): ", text, re.MULTILINE)}


def default(spec: dict[str, Any]) -> str:
    value = spec.get("default")
    if value in (None, ""):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def purpose_and_details(spec: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the text about a variable in its table, and the paragraphs and lists of its section. A description that is
    short has no section. Otherwise, its first sentence is in the table."""
    paragraphs = list(words(spec["description"]))
    if "choices" in spec and not all(f"`{choice}`" in " ".join(paragraphs) for choice in spec["choices"]):
        paragraphs.append(f"One of {', '.join(f'`{choice}`' for choice in spec['choices'])}.")
    keys = [f"- `{name}`: {' '.join(words(each['description']))}" for name, each in spec.get("options", {}).items()]
    if not keys and len(" ".join(paragraphs).split()) <= MOST_WORDS_IN_A_CELL:
        return " ".join(paragraphs), []
    first, *rest = re.split(r"(?<=\.) (?=[A-Z`*])", paragraphs[0], maxsplit=1)
    listed = ["\n".join(wrapped(key, "  ") for key in keys)] if keys else []
    return first, [*(wrapped(text) for text in [*rest, *paragraphs[1:]]), *listed]


def wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def words(description: str | list[str]) -> Iterator[str]:
    """Return the paragraphs of a description, with Markdown instead of Ansible's markup."""
    for paragraph in [description] if isinstance(description, str) else description:
        text = re.sub(r"\bB\(([^)]*)\)", r"**\1**", linked(paragraph))
        text = re.sub(
            r"\b[PO]\(mqops\.logdisk\.(\w+)#role(?::\w+:(\w+))?\)", lambda found: f"`{found[2] or found[1]}`", text
        )
        yield " ".join(
            re.sub(r"\b[CVOEM]\(((?:[^()\\]|\\.)*)\)", lambda found: f"`{found[1].replace(chr(92), '')}`", text).split()
        )


if __name__ == "__main__":
    for page, content in pages().items():
        page.write_text(content, encoding="utf-8")
