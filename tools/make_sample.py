# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the sample report, docs/sample.html, and the pictures of it in README.md, with headless Chromium.

make sample
"""

from __future__ import annotations

import base64
import html
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import sample_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render, summary
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.terminal import fit, verdict_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import CHROMIUM, Browser

PROJECT = Path(__file__).resolve().parents[1]
SAMPLE = PROJECT / "docs/sample.html"
IMAGES = PROJECT / "docs/images"
MAX_SAMPLE_BYTES = 300_000
MAX_PICTURE_BYTES = 150_000
FAILED = "mq04"
WIDTH, HEIGHT = 1100, 760
COLUMNS = 110
LINK_TO_FILE = re.compile(r'<a href="(?!#|https?:)[^"]*"[^>]*>(.*?)</a>')
"""A link to a file of the run directory, which is not part of the sample."""
SHOW = """
(async () => {
  const part = document.querySelector(%s);
  part.open = true;
  for (let turn = 0; turn < 3; turn += 1) {
    part.scrollIntoView();
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  }
})()
"""
"""Parts are laid out when they are scrolled to, which moves them."""
COLOURS = {"fail": "#ff7b72", "inconclusive": "#d2a8ff", "pass": "#7ee787"}
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><title>Terminal</title>
<style>body {{ margin: 0; background: #161b22; color: #e6edf3 }}
pre {{ display: inline-block; margin: 0; padding: 16px 20px; font: 13px/1.45 "DejaVu Sans Mono", monospace }}</style>
<pre>{lines}</pre>
"""


def main() -> None:
    if not CHROMIUM:
        sys.exit("make_sample: Chromium is not installed")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        directory = sample_run.make(Path(temporary))
        page = Path(render(directory)["index.html"]).read_text(encoding="utf-8")
        SAMPLE.write_text(LINK_TO_FILE.sub(r"\1", page), encoding="utf-8")
        text = summary(directory).replace(f"{temporary}/", "reports/")
        screen = Path(temporary, "screen.html")
        screen.write_text(TERMINAL.format(lines="".join(coloured(text))), encoding="utf-8")
        with Browser() as browser:
            browser.open(screen, WIDTH, HEIGHT)
            browser.picture(IMAGES / "terminal.png", "pre")
            browser.open(SAMPLE, WIDTH, HEIGHT)
            photograph(browser, IMAGES / "report.png", "body")
            photograph(browser, IMAGES / "host.png", f'[data-host="{FAILED}"]')
    check(SAMPLE, MAX_SAMPLE_BYTES)
    for name in ("terminal", "report", "host"):
        check(IMAGES / f"{name}.png", MAX_PICTURE_BYTES)


def photograph(browser: Browser, path: Path, selector: str) -> None:
    """Write a picture of the window, scrolled to an element, which is opened if it can be."""
    browser.run(SHOW % json.dumps(selector))
    path.write_bytes(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))


def coloured(text: str) -> Iterator[str]:
    """Yield the lines of a summary in the colours of a terminal, as HTML."""
    yield "$ ansible-playbook -i hosts.yml mqops.logdisk.certify\n...\n"
    for line in fit(text, COLUMNS).splitlines():
        colour = COLOURS.get(verdict_of(line), "inherit")
        yield f'<span style="color: {colour}">{html.escape(line)}</span>\n'


def check(path: Path, most: int) -> None:
    """Print the size of a file. Exits if the file is too large."""
    size = path.stat().st_size
    print(f"{path.relative_to(PROJECT)}: {size:,} bytes")
    if size > most:
        sys.exit(f"make_sample: at most {most:,} bytes are allowed")


if __name__ == "__main__":
    main()
