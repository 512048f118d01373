# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Labels of charts in a browser: none covers another one or a line."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.browser import needs_a_browser

COLLISIONS = """
(() => {
  const found = [];
  const within = (box, p) => p.x > box.x + 1 && p.x < box.x + box.width - 1
    && p.y > box.y + 3 && p.y < box.y + box.height - 3;
  const meet = (a, b) => a.x + a.width > b.x + 1 && b.x + b.width > a.x + 1
    && a.y + a.height > b.y + 4 && b.y + b.height > a.y + 4;
  for (const chart of document.querySelectorAll('svg.chart')) {
    const texts = [...chart.querySelectorAll('text')].map(text => [text.textContent, text.getBBox()]);
    texts.forEach(([words, box], number) => {
      for (const [other, next] of texts.slice(number + 1)) { if (meet(box, next)) { found.push([words, other]); } }
      for (const line of chart.querySelectorAll('path.line, path.limit')) {
        const count = 1 + line.getTotalLength() / 2;
        const places = Array.from({ length: count }, (none, at) => line.getPointAtLength(2 * at));
        if (places.some(place => within(box, place))) { found.push([words, line.getAttribute('class')]); }
      }
    });
  }
  return [document.querySelectorAll('svg.chart path.line').length, found];
})()
"""
"""The number of lines, and each label that covers a line or another label, together with that line or label."""


@needs_a_browser
@pytest.mark.parametrize("kind", ["commits", "every_verdict", "observation", "streams"])
def test_no_label_covers_another_one_or_a_line(browser, rendered, kind):
    browser.open(f"{rendered(kind).path}/index.html")
    browser.run("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    browser.run(
        "document.querySelectorAll('details.host').forEach(part => { part.style.contentVisibility = 'visible'; })"
    )
    lines, found = browser.run(COLLISIONS)
    assert lines
    assert found == []
