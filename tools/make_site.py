# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the documentation as a site with a search in build/site: the pages of docs/, and the modules, plugins and
roles as antsibull-docs describes them. Every link and anchor of the site must lead somewhere.

    make site
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PROJECT = Path(__file__).resolve().parents[1]
PAGES = PROJECT / "build/site-pages"
SITE = PROJECT / "build/site"
DESCRIPTIONS = PROJECT / "build/site-modules"
REPOSITORY = "https://example.com/mqops/logdisk/blob/main"
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
OF_ANSIBLE = re.compile(r"undefined label: '(?!ansible_collections\.mqops)")
"""A warning about a reference to Ansible's own documentation, which a build without a network cannot resolve."""


def main() -> None:
    for made in (PAGES, SITE, DESCRIPTIONS):
        shutil.rmtree(made, ignore_errors=True)
    copy_pages()
    describe_modules()
    run("mkdocs", "build", "--strict", "--config-file", PROJECT / ".config/mkdocs.yml")
    if broken := list(broken_links()):
        sys.exit("make_site: broken links:\n" + "\n".join(broken))
    print(f"{SITE}/index.html")


def run(module: str, *arguments: str | Path, **settings: str) -> str:
    """Run a module of this environment and return what it writes to standard error."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, "PATH": path, "NO_MKDOCS_2_WARNING": "1", **settings},
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{done.stderr}make_site: {module} ended with status {done.returncode}")
    return done.stderr


def copy_pages() -> None:
    """Copy README.md, CHANGELOG.md and docs/, so that the site has the layout of the checkout. Links to other files of
    the checkout lead to the repository."""
    shutil.copytree(PROJECT / "docs", PAGES / "docs")
    for name in ("README.md", "CHANGELOG.md", "LICENSE"):
        shutil.copy(PROJECT / name, PAGES / name)
    for page in PAGES.rglob("*.md"):
        in_checkout = PROJECT / page.relative_to(PAGES)

        def target(found: re.Match[str], page: Path = page, in_checkout: Path = in_checkout) -> str:
            if (page.parent / found[1]).is_file():
                return found[1]
            return f"{REPOSITORY}/{(in_checkout.parent / found[1]).resolve().relative_to(PROJECT)}"

        page.write_text(LINK.sub(target, page.read_text(encoding="utf-8")), encoding="utf-8")


def describe_modules() -> None:
    """Write the pages of modules, plugins and roles to modules/ of the pages."""
    DESCRIPTIONS.mkdir(parents=True)
    run(
        *("antsibull_docs.cli.antsibull_docs", "collection", "--use-current", "--fail-on-error", "--squash-hierarchy"),
        *("--no-add-antsibull-docs-version", "--dest-dir", DESCRIPTIONS, "mqops.logdisk"),
        ANSIBLE_COLLECTIONS_PATH=str(PROJECT / "collections"),
    )
    warnings = run(
        *("sphinx", "--quiet", "-C", "-D", "extensions=sphinx_antsibull_ext", "-D", "project=mqops.logdisk"),
        *("-D", "html_copy_source=0", "-D", "html_show_sourcelink=0", DESCRIPTIONS, PAGES / "modules"),
    )
    own = [line for line in warnings.splitlines() if not OF_ANSIBLE.search(line)]
    if own:
        sys.exit("\n".join([*own, "make_site: the descriptions of modules have mistakes"]))


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.anchors = {"", "__comments"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := known.get(name))}
        self.links += [value for name in ("href", "src") if (value := known.get(name))]


def broken_links() -> Iterator[str]:
    """Yield the links within the site that lead nowhere."""
    pages = {path: Page(path) for path in SITE.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else {unquote(parts.fragment)}
            if not target.is_file() or unquote(parts.fragment) not in anchors:
                yield f"{path.relative_to(SITE)}: {link}"


if __name__ == "__main__":
    main()
