# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The derivatives of the logarithm of the gamma function, compared with scipy."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.moderation import (
    digamma,
    inverse_trigamma,
    trigamma,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy import special


@given(st.floats(0.01, 1e6))
def test_they_are_scipys(x):
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12, abs=1e-12)
    assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-12)


@given(st.floats(1e-6, 1e6))
def test_the_inverse_leads_back(value):
    assert special.polygamma(1, inverse_trigamma(value)) == pytest.approx(value, rel=1e-9)


def test_vector_23():
    assert [f"{inverse_trigamma(value):.12f}" for value in (0.1, 1.96)] == ["10.491681821079", "0.888504635902"]
