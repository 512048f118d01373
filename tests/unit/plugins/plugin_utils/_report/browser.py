# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A page in headless Chromium, driven by the Chrome DevTools protocol over a pair of pipes: no driver,
no port and no other dependency."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_a_browser = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")

_CONTRASTS = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const linear = v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map(v => linear(v / 255))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = part => {
    const colour = part ? rgb(getComputedStyle(part).backgroundColor) : [255, 255, 255, 255];
    return colour[3] === 255 ? colour : behind(part.parentElement);
  };
  const worst = {};
  for (const part of document.querySelectorAll('body *')) {
    const own = [...part.childNodes].some(node => node.nodeType === 3 && node.nodeValue.trim());
    if (!own || part.closest('script, title, desc, option') || !part.getClientRects().length) { continue; }
    const style = getComputedStyle(part);
    const a = light(rgb(part.closest('svg') ? style.fill : style.color)), b = light(behind(part));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) * style.opacity;
    const name = part.tagName + '.' + (part.getAttribute('class') || '');
    worst[name] = Math.min(worst[name] || 99, ratio);
  }
  return worst;
})()
"""
"""The lowest contrast between a text and its background, by element and class."""

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)
_QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync")
"""Settings that keep a browser from contacting its vendor's hosts."""
_SECONDS = 60
_DRAWN = """
new Promise(done => {
  const look = () =>
    document.readyState === 'complete' ? requestAnimationFrame(() => setTimeout(done)) : setTimeout(look, 5);
  look();
})
"""


class Browser:
    """Chromium with one page. messages contains the page's console output, including loading problems and
    exceptions."""

    def __init__(self):
        self.messages = []
        self._profile = tempfile.mkdtemp()
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        # The protocol's descriptors are 3 and 4; a shell puts them there, because these numbers may be in use here.
        command = (
            f"exec {CHROMIUM} {' '.join(_FLAGS + _QUIET)} --user-data-dir={self._profile} "
            f"about:blank 3<&{to_read} 4>&{to_write}"
        )
        self._process = subprocess.Popen(
            ["bash", "-c", command], pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._number, self._session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        try:
            self._session = None
            self.call("Browser.close")
        except OSError:
            self._process.kill()
        self._process.wait(_SECONDS)
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, **params):
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path, width=1280, height=900, dark=False, fragment=""):
        """Open a file in a window of this size, and return the number of seconds until it was loaded and drawn."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.call("Page.navigate", url="about:blank")
        start = time.monotonic()
        self.call("Page.navigate", url=f"file://{path}{fragment}")
        self.run(_DRAWN)
        return time.monotonic() - start

    def run(self, expression):
        """Return the value of an expression of JavaScript, awaited if it is a promise."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key, code=None, text=None):
        """Press a key on the keyboard: "Tab", "Enter", " " or a letter."""
        virtual = {"Tab": 9, "Enter": 13, " ": 32}.get(key) or ord(key.upper())
        text = text or {"Tab": None, "Enter": "\r"}.get(key, key)
        known = {"key": key, "code": code or {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": virtual}
        self.call("Input.dispatchKeyEvent", type="keyDown", **known, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def picture(self, path, selector=None):
        """Write a PNG picture of the whole page, or of the part that a selector selects."""
        box = self.run(
            f"(() => {{ const box = document.querySelector({json.dumps(selector or 'html')}).getBoundingClientRect(); "
            "return [box.x + scrollX, box.y + scrollY, box.width, box.height]; })()"
        )
        clip = dict(zip(("x", "y", "width", "height"), box, strict=True), scale=1)
        data = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def printed(self):
        """Return the page as it is printed: a PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])

    def _next(self):
        while b"\0" not in self._buffer:
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise OSError("the browser has ended")
            self._buffer += chunk
        text, dummy, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        if message.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.messages.append(message["params"])
        return message


def width_of(browser, path, width, dark=False):
    """Open a page in a window of this width, and return the width that the page needs."""
    browser.open(path, width=width, dark=dark)
    return browser.run("document.documentElement.scrollWidth")


def pale_texts(browser, path, dark):
    """Open a page, and return the contrasts of texts that are below the 4.5 that WCAG 2 AA requires."""
    browser.open(path, dark=dark)
    browser.run("document.querySelectorAll('details').forEach((part, number) => { part.open = number < 20; })")
    contrasts = browser.run(_CONTRASTS)
    assert len(contrasts) > 15
    return {name: ratio for name, ratio in contrasts.items() if ratio < 4.5}


def touching_labels(browser):
    """Return the labels of pictures in the open page that touch each other."""
    browser.run("document.querySelectorAll('details').forEach((part, number) => { part.open = number < 20; })")
    return browser.run(
        """[...document.querySelectorAll('svg')].flatMap(svg => {
             const boxes = [...svg.querySelectorAll('text')]
               .map(text => [text.textContent, text.getBoundingClientRect()])
               .filter(([words, box]) => box.width);
             return boxes.flatMap(([words, a], place) => boxes.slice(place + 1)
               .filter(([other, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                                       Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
               .map(([other]) => words + ' / ' + other));
           })"""
    )
