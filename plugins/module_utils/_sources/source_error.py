# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the figures of a live queue manager come from: one module per source in this folder,
each with a class ``Source(options)``.

``check()`` checks in the foreground whether the source can be used, and returns facts. ``samples(end_monotonic)`` is a
generator that yields a text, or None if there is nothing new, at least once per second and never after the end. Both
raise SourceError.

Private to this collection; it may change at any time.
"""


class SourceError(Exception):
    """Why a source cannot be used; the message is a sentence that says what to do."""
