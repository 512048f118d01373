# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A verdict as the page shows it: a coloured badge with the verdict's sign, so that colour is never all that tells verdicts apart."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.figures import MARKS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import NOT_MEASURED
from markupsafe import Markup

CLASSES = {**{verdict: f"v-{verdict}" for verdict in MARKS}, NOT_MEASURED: "v-none", "": "v-none"}
"""The class of each verdict in the page's style."""

SIGNS = {**MARKS, NOT_MEASURED: "\u2013", "": ""}


def badge(verdict: str) -> Markup:
    """Return the badge of a verdict."""
    return Markup('<span class="badge {}">{} {}</span>').format(CLASSES[verdict], SIGNS[verdict], verdict)
