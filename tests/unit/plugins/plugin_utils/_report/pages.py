# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of a page that a browser sees, and text that harms a page that does not escape it."""

from __future__ import annotations

import html.parser
import re

import html5lib

LONG = "x" * 10_000
HOSTILE = (
    "<script>alert(1)</script>",
    "=cmd()|'/c calc'!A1",
    '"><img src=x onerror=alert(1)>',
    "@SUM(1)",
    "-1+1",
    "[link](http://evil.example)",
    "`x`|**y**",
    "{{ 7*7 }}",
    "{% raw %}",
    "\x1b[31mred",
    "]]>",
    "&lt;",
    "\u202egnp",
    "www.evil.example",
    "</style><b>",
    "' onmouseover='x",
    "a\x00b\x08",
    "+1",
    "\u2028",
    "../../etc/x",
    "=cmd()",
    "a|b\nc",
    "\u200bzero",
    "\u2066db07\u2069",
    "\u3164\ufe0f",
    "\u05d0\u05d1\u05d2",
    LONG,
)
"""Names that a host, a volume, a queue manager, a fact or a message may have."""
HARMLESS_TAGS = set(
    re.findall(
        r"\w+",
        """
    html head meta title style body main header h1 h2 h3 p strong b span ul li section form input label div table
    thead tbody tr th td details summary a figure figcaption svg line text path script article nav bdi desc output g
    fieldset legend select option caption circle rect pre code
""",
    )
)


class Page(html.parser.HTMLParser):
    """The content of index.html as a browser sees it: rows of tables, text, and everything that could load or run."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.attributes, self.texts, self.titles = [], [], [], [], []
        self._cell = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend((tag, name, value) for name, value in attrs)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self._cell = ""
            self.titles.append(dict(attrs).get("title", ""))

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self._cell.strip())
            self._cell = None

    def handle_data(self, data):
        self.texts.append(data)
        if self._cell is not None:
            self._cell += data

    def verdicts(self):
        first = next(index for index, row in enumerate(self.rows) if row[:2] == ["Host", "Verdict"])
        verdicts = {}
        for row in self.rows[first + 1 :]:
            if row[0] in verdicts or not re.match(r"\W \w", row[1]):
                break
            verdicts[row[0]] = row[1].split(" ", 1)[1]
        return verdicts


def empty_columns(path, kind="matrix"):
    """Return the titles of the columns that are empty in all rows of the tables of this class."""
    tables = [each for each in parsed(path).iter("table") if kind in (each.get("class") or "").split()]
    assert tables
    found = []
    for table in tables:
        titles, *rows = [list(row) for row in table.iter("tr")]
        said = [
            ["".join(cell.itertext()).strip(" \u2013") or cell.find(".//*") is not None for cell in row] for row in rows
        ]
        found += [
            "".join(title.itertext())
            for title, column in zip(titles, zip(*said, strict=True), strict=True)
            if not any(column)
        ]
    return found


def parsed(path):
    """Parse a page with a strict HTML5 parser, which raises an exception at the first error."""
    with open(path, encoding="utf-8") as file:
        return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(file.read())
