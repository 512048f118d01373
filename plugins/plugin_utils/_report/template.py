# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The templates in this folder, prepared for rendering: HTML with automatic escaping, and Markdown with a filter that
escapes."""

from __future__ import annotations

import base64
import hashlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from typing import Any

import jinja2
from markupsafe import Markup

from .._run.kinds import PACKAGE as KINDS

_MARKDOWN_SPECIAL = re.compile(r"([\\`*\[\]<|~&$@#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=/)|^>|^[+-](?=[ -]|$))")
_CSS_SPECIAL = re.compile(r"[^A-Za-z0-9 .,:_-]")
_LONGEST_FOOTER = 80
_MARKDOWN_DOTS = re.compile(r"(?i)(\bwww(?=\.)|^[0-9]+(?=[.)](?: |$)))")


def render_template(name: str, **variables: Any) -> Iterator[str]:
    """Yield a template's text in pieces of many lines."""
    stream = _ENVIRONMENT.get_template(name).stream(**variables)
    stream.enable_buffering(200)
    return iter(stream)


def render_part(name: str, **variables: Any) -> Markup:
    """Return a template's text as safe markup, to be put into a page."""
    return Markup(_ENVIRONMENT.get_template(name).render(**variables))


def render_page(
    name: str,
    styles: Iterable[str],
    footer: str,
    scripts: Iterable[str] = ("page.js", "closer.js"),
    **variables: Any,
) -> Iterator[str]:
    """Yield the text of a self-contained page, whose template extends page/frame.html.j2; ``styles`` are added to
    page/page.css, and ``scripts`` are its scripts. ``footer`` is printed at the bottom of each sheet, beside the page
    number."""
    style = "".join(read_resource(f"page/{style}") for style in ("page.css", *styles))
    script = "".join(read_resource(f"page/{each}") for each in scripts)
    digest = "sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return render_template(
        name,
        style=style,
        footer=Markup(css_string(footer[:_LONGEST_FOOTER])),
        script=script,
        script_digest=digest,
        **variables,
    )


def read_resource(name: str) -> str:
    """Return the text of a file in the folder of the templates or, if its name begins with kinds/, in the folder of a
    kind of run."""
    of_kind = name.startswith("kinds/")
    content = (
        pkgutil.get_data(KINDS, name.removeprefix("kinds/"))
        if of_kind
        else pkgutil.get_data(__package__, f"templates/{name}")
    )
    if content is None:
        raise FileNotFoundError(name)
    return content.decode("utf-8")


def markdown(text: Any) -> str:
    """Return a string in a form that Markdown shows unchanged, on one line. Nothing in it is interpreted as markup, as
    a link, as HTML, or as the end of a cell."""
    line = " ".join(str(text).split())
    return _MARKDOWN_DOTS.sub(r"\1\\", _MARKDOWN_SPECIAL.sub(r"\\\1", line))


def css_string(text: str) -> str:
    """Return text as a CSS string that is safe inside a style element: every special character is escaped."""
    return '"' + _CSS_SPECIAL.sub(lambda found: f"\\{ord(found[0]):x} ", text) + '"'


def _make_environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read_resource),
        autoescape=lambda name: bool(name) and name.endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["markdown"] = markdown
    return environment


_ENVIRONMENT = _make_environment()
