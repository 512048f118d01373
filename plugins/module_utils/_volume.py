# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about the volume below a path that does not have to exist.

Private to this collection; it may change at any time.
"""

from . import _mounts, _places, _volume_identity


def facts_of(path):
    """Return the facts that identify the volume below ``path``, in the same form as for a certified volume."""
    existing, mount = _places.nearest_existing(path), _mounts.mount_of(path)
    facts = dict(
        (key, mount.get(key))
        for key in ("mount_point", "mount_source", "mount_options", "filesystem_type", "device_number")
    )
    facts.update(
        _volume_identity.facts(existing, facts["device_number"], facts["mount_source"]), **_mounts.space(existing)
    )
    return facts
