# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides which hosts fail because of problems of the whole fleet. AWX can relaunch a job on the hosts that failed. If
only one host failed because of such a problem, the relaunched job would leave out the others and could succeed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CONTROLLER = "localhost"


def blamed(play_hosts: Sequence[str]) -> list[str]:
    """Return the hosts that fail because of problems of the fleet: the controller or, if a limit excludes it from the
    play, every host of the play."""
    return [CONTROLLER] if CONTROLLER in play_hosts else list(play_hosts)


def with_fleet(failures: Mapping[str, str], fleet_problems: Sequence[str], play_hosts: Sequence[str]) -> dict[str, str]:
    """Return the message with which each host fails: its own message and, for hosts that fail because of the fleet,
    also the fleet's problems."""
    if not fleet_problems:
        return dict(failures)
    return {
        **failures,
        **{
            host: " | ".join([*fleet_problems, *([failures[host]] if host in failures else [])])
            for host in blamed(play_hosts)
        },
    }
