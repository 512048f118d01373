# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The preflight: any run in check mode. Hosts are inspected, nothing is measured, and there is no verdict."""

from __future__ import annotations

from ..kind import Kind


class Preflight(Kind):
    """The kind that the run was opened for determines what is inspected."""

    name = "preflight"
    facets = ("view",)
    without_verdict = "not measured"
    why_untested = "was made in check mode and measured nothing"
    why_left_out = "preflights measure nothing"
