# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The generated pictures in the documentation are current."""

from __future__ import annotations

from pathlib import Path

import draw_burst

PICTURE = Path(__file__).resolve().parents[2] / "docs/images/burst.svg"


def test_the_picture_of_bursts_is_up_to_date():
    up_to_date = PICTURE.read_text(encoding="utf-8") == "\n".join(draw_burst.picture()) + "\n"
    assert up_to_date, f"draw it again: {draw_burst.__doc__}"  # printing the difference would fill the screen
