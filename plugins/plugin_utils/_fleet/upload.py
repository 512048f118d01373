# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends the archive of a run directory to a file server: a single PUT over TLS."""

from __future__ import annotations

import http.client
import os
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from .._run.table_reader import printable

TOKEN_VARIABLE = "LOGDISK_UPLOAD_TOKEN"
_URL = re.compile(r"https://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?(/[!\"$->@-~]*)?\Z")
TIMEOUT_S = 120
"""The time limit for each step: connecting, sending everything, and waiting for the answer."""


class UploadError(OSError):
    """The archive was not uploaded. The message is one sentence without a full stop."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token is only for the named server, so redirects are not followed."""

    def redirect_request(self, *_: Any) -> None:
        return None


def check_url(text: str) -> str:
    """Return the URL that gate_upload_url contains, or empty if there is none. Raises UploadError, whose message does
    not show the URL because it may contain a secret."""
    url = text.strip()
    if url and not _URL.match(url):
        raise UploadError(
            "gate_upload_url must look like https://host/path and must not contain a user, a password or a query, "
            f"because every report shows it: set {TOKEN_VARIABLE} in the environment"
        )
    return url


def target(url: str, run_id: str) -> str:
    """Return the URL of the archive of a run: the configured URL or, if it ends with a slash, a separate file below
    it."""
    return f"{url}{urllib.parse.quote(run_id)}.tar.gz" if url.endswith("/") else url


def upload(url: str, archive: bytes) -> None:
    """Send an archive. Raises UploadError."""
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    headers = {"Content-Type": "application/gzip", **({"Authorization": f"Bearer {token}"} if token else {})}
    try:
        opener = urllib.request.build_opener(
            _NoRedirect, urllib.request.HTTPSHandler(context=ssl.create_default_context())
        )
        with opener.open(urllib.request.Request(url, archive, headers, method="PUT"), timeout=TIMEOUT_S):
            pass
    except urllib.error.HTTPError as error:
        hint = ": redirects are not followed, so name the address that it leads to" if 300 <= error.code < 400 else ""
        raise UploadError(f"{url} answered {error.code} {printable(str(error.reason))[:100]}{hint}") from None
    except urllib.error.URLError as error:
        raise UploadError(f"{url} cannot be reached: {error.reason}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        # A ValueError would show a header with the token in it.
        what = (
            f"{TOKEN_VARIABLE} contains characters that no header can have"
            if isinstance(error, ValueError)
            else str(error) or type(error).__name__
        )
        raise UploadError(f"{url}: {what}") from None
