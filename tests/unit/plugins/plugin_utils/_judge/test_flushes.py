# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long a synchronous write takes can be suspicious, but never affects a verdict."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.notes import flush_notes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import measurement
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate


def facts(plain_us, sync_us, cache="write back", **others):
    probe = {"sync_probe_plain_p50_ns": str(plain_us * 1000), "sync_probe_sync_p50_ns": str(sync_us * 1000)}
    return {**probe, "device_write_cache": cache, **others}


# The medians of real disks. For one of them, the kernel assumes "write through" and sends no flushes. Others answer a
# flush immediately, or need time for it.
@pytest.mark.parametrize(
    ("known", "said"),
    [
        (
            facts(59, 61, "write through"),
            (
                "No flush is sent to the device: a synchronous write takes as long as a plain one (61 us "
                "and 59 us), because the kernel"
            ),
        ),
        (facts(59, 61), "No flush seems to be sent to the device, or it costs nothing"),
    ],
)
def test_what_sends_no_flush_is_noted(known, said):
    (note,) = fabricate.told(flush_notes(known))
    assert note.startswith(said) and "Only a power cut shows" in note


@pytest.mark.parametrize(
    "known", [{}, facts(52, 94), facts(60, 125), facts(27, 1063), facts(100, 102, cache=""), facts(0, 0), facts("x", 5)]
)
def test_nothing_is_noted_of_what_flushes_or_is_not_known(known):
    assert flush_notes(known) == []


def test_a_certification_notes_it_keeps_the_facts_and_its_verdict():
    run = {**fabricate.run_data(["h"]), "run_id": "r"}
    probe = facts(59, 61, "write through", sync_probe_ratio="1.034")
    plain, made = (
        measurement(run, "h", "log", {}, {}, fabricate.tables(**keys), fabricate.TODAY) for keys in ({}, probe)
    )
    assert (made.verdict, made.certified) == (plain.verdict, plain.certified)
    assert [note for note in made.notes if note not in plain.notes] == fabricate.told(flush_notes(probe))
    assert made.facts["sync_probe_ratio"] == "1.034"
