# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sources of the figures of a live queue manager. This folder has one module for each source, with a class
``Source(options)``.

``check()`` checks whether the source can be used, and returns facts. ``samples(end_monotonic)`` is a generator that
yields a text, or None if there is nothing new, at least once per second and never after the end. Both raise
SourceError.

Private to this collection; it may change at any time.
"""


class SourceError(Exception):
    """A source cannot be used. The message is a sentence that says why, and what to do."""
