# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the files of a certification in its run directory. Each format is read by independent code that shares nothing
with the collection."""

import csv
import gzip
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path

VERDICTS = ("pass", "warn", "fail", "inconclusive", "error", "missing", "unreachable")


@dataclass(frozen=True)
class Certification:
    path: Path

    # The records and tables, from which all formats are made

    @cached_property
    def run(self) -> dict:
        return json.loads((self.path / "run.json").read_text())

    @cached_property
    def _places(self) -> list[tuple[Path, dict]]:
        """Return the folder and the record of each volume. Records of large runs are compressed."""
        return [(path.parent, json.loads(read_text(path))) for path in self.path.glob("hosts/*/*/record.json*")]

    @cached_property
    def records(self) -> dict[str, dict]:
        """The record of each host, by the name of the host."""
        return {record["host"]: record for folder, record in self._places}

    @cached_property
    def verdict(self) -> dict:
        return json.loads((self.path / "verdict.json").read_text())

    def table(self, host: str, name: str = "results.csv") -> list[dict[str, str]]:
        """Return a table as the tester wrote it on the host. Long ones are compressed."""
        (folder,) = [folder for folder, record in self._places if record["host"] == host]
        compressed = folder / f"{name}.gz"
        return read_csv(compressed if compressed.exists() else folder / name)

    # The formats

    @cached_property
    def report(self) -> dict:
        return json.loads((self.path / "report.json").read_text())

    @cached_property
    def results(self) -> list[dict[str, str]]:
        return read_csv(self.path / "results.csv")

    @cached_property
    def suites(self) -> dict[str, ElementTree.Element]:
        return {
            suite.get("name", ""): suite
            for suite in ElementTree.parse(self.path / "junit.xml").getroot().iter("testsuite")
        }

    @cached_property
    def html(self) -> "Page":
        page = Page()
        page.feed((self.path / "index.html").read_text())
        return page

    @cached_property
    def markdown(self) -> str:
        return (self.path / "report.md").read_text()

    # The verdict of every host in each format

    def verdicts(self) -> dict[str, dict[str, str]]:
        """Return the verdict of each host, by format and then by host."""
        return {
            "record.json": {name: record["verdict"] for name, record in self.records.items()},
            "verdict.json": {entry["host"]: entry["verdict"] for entry in self.verdict["hosts"]},
            "report.json": {entry["host"]: entry["verdict"] for entry in self.report["hosts"]},
            "results.csv": {row["host"]: row["host_verdict"] for row in self.results},
            "junit.xml": {name: junit_verdict(suite) for name, suite in self.suites.items()},
            "report.md": dict(
                re.findall(rf"^\| (\S+) \| ({'|'.join(VERDICTS)}) \| (?:yes|no) \|", self.markdown, re.MULTILINE)
            ),
            "index.html": self.html.verdicts,
        }


def read_text(path: Path) -> str:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="") as file:
        return file.read()


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read_text(path), newline="")))


def junit_verdict(suite: ElementTree.Element) -> str:
    """Return the result of a suite as a system that knows only JUnit determines it: the result of the worst case. The
    counts of the suite are checked as well."""
    found = defaultdict(list)
    for case in suite.iter("testcase"):
        for result in case:
            if result.tag in ("failure", "error", "skipped"):
                found[result.tag].append(result.get("type", ""))
    counts = [suite.get(name) for name in ("failures", "errors", "skipped")]
    assert counts == [str(len(found[tag])) for tag in ("failure", "error", "skipped")], "a suite counts its own cases"
    for verdict in ("fail", "error", "unreachable", "missing", "inconclusive"):
        if verdict in found["failure"] + found["error"]:
            return verdict
    return "pass"


def summary_verdicts(screen: str, hosts: Iterable[str]) -> dict[str, str]:
    """Return the first verdict of each host that the summary on the screen names, either among the causes or in the
    line about a single host."""
    causes = re.findall(rf"^  ({'|'.join(VERDICTS)}) +(.+)$", screen, re.MULTILINE)
    causes += [
        (verdict, host)
        for host, verdict in re.findall(rf"^  result   (\S+): ({'|'.join(VERDICTS)})$", screen, re.MULTILINE)
    ]
    found: dict[str, str] = {}
    for verdict, text in causes:
        for host in hosts:
            if re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w.-])", text):
                found.setdefault(host, verdict)
    return found


def summaries(screen: str) -> list[str]:
    """Return the first line of each summary on the screen."""
    return re.findall(
        r"^(?:(?:PASS|WARN|FAIL|INCONCLUSIVE|ERROR|MISSING|UNREACHABLE|READY|NOT READY|USAGE|INTERNAL)\b).*$",
        screen,
        re.MULTILINE,
    )


class Page(HTMLParser):
    """The text of the page, the verdict in the section of each host, and everything that the page would load from
    elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.loads: list[str] = []
        self.verdicts: dict[str, str] = {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        if tag == "details" and known.get("data-host"):
            self.verdicts[known["data-host"] or ""] = known.get("data-verdict") or ""
        self.loads += [value for name, value in attributes if name in ("src", "srcset") and value]
        if tag == "link":
            self.loads.append(known.get("href") or "")

    def handle_data(self, data: str) -> None:
        self.text += data
