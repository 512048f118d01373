# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Student's t distribution, compared with printed values and with scipy."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics import student_t
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats


def test_student_t():
    quantiles = [student_t.quantile(*arguments) for arguments in ((0.95, 29), (0.95, 4), (0.99, 7), (0.95, 3))]
    assert [f"{value:.12f}" for value in quantiles] == [
        "1.699127026533",
        "2.131846786327",
        "2.997951566869",
        "2.353363434802",
    ]
    assert f"{student_t.upper_tail(2, 5):.12f}" == "0.050969739415"


def test_student_t_is_that_of_scipy():
    for degrees in (0.7, 1, 2.5, 3, 29, 100, 1e4):
        for t in (-30, -1, 0, 0.001, 1, 2, 30):
            assert student_t.upper_tail(t, degrees) == pytest.approx(stats.t.sf(t, degrees), rel=1e-9, abs=1e-15)
        for probability in (0.025, 0.5, 0.95, 0.999, 1 - 0.05 / 28):
            assert student_t.quantile(probability, degrees) == pytest.approx(
                stats.t.ppf(probability, degrees), rel=1e-8, abs=1e-12
            )


@given(st.floats(0.1, 1e4), st.floats(0.1, 1e4), st.floats(0, 1))
def test_incomplete_beta_is_that_of_scipy(a, b, x):
    # The logarithms of gamma functions of 1e4 are near 1e5, so their difference is only accurate to about 1e-11.
    assert student_t.incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), abs=1e-10)
