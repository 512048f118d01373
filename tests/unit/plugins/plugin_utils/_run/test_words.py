# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import days_text


@pytest.mark.parametrize(("days", "told"), [(2, "2 days left"), (0, "today"), (-1, "1 day ago")])
def test_days_are_counted_from_the_day_of_the_report(days, told):
    assert days_text(days) == told
