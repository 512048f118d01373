# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Moderated variances."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics import moderation
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.moderation import Spread, moderated


def spreads(*variances, degrees=4):
    return [Spread(variance, degrees) for variance in variances]


def test_vector_24():
    given = spreads(1e-5, 1e-4, 1e-4, 4e-4, 1e-3, 1e-2, 2e-4, 5e-5)
    common = moderation._common(given, 8)
    drawn = moderated(given, 8)[5]
    assert (f"{common.degrees:.8f}", f"{common.variance:.8e}", f"{drawn.variance:.11f}") == (
        "1.19320432",
        "9.82916021e-05",
        "0.00772495736",
    )
    assert drawn.degrees == 4 + common.degrees


def test_variances_that_do_not_differ_beyond_chance_become_one():
    drawn = moderated(spreads(1.0, 1.1, 0.9, 1.0), 4)
    assert {round(each.degrees) for each in drawn} == {4 + 4 * 3}
    assert max(each.variance for each in drawn) - min(each.variance for each in drawn) < 0.06


def test_one_without_values_gets_what_all_have_in_common():
    known = spreads(1.0, 1.0, 1.0)
    unknown = moderated([*known, Spread(0.0, 0)], 4)[-1]
    assert (unknown.variance, unknown.degrees) == (1.0, 4 * 3)
    with pytest.raises(ValueError, match="degree of freedom"):
        moderated([Spread(1.0, 0)], 1)


def test_variances_of_zero():
    assert {each.variance for each in moderated(spreads(0.0, 0.0, 0.0), 3)} == {0.0}
    assert moderated(spreads(0.0, 1.0, 1.0, 1.0), 4)[0].variance > 0
