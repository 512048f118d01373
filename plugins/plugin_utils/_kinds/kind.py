# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The properties of a kind of run. The defaults are for a kind that neither tests storage nor is stored in the
history."""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.criteria import Criteria
    from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.memory import Memory
    from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.opening import Opening
    from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.view import View


class Kind:
    """A kind of run. Simple facts are attributes here; ``criteria``, ``opening``, ``memory`` and ``view`` are imported
    when they are used."""

    name = ""
    """``kind`` in run.json and in the records that came of the run. Empty for a record that only states why there is
    no result."""

    own_key = ""
    """The key of record.json that holds what only records of this kind have,
    empty if they have nothing of their own."""

    profile_key = ""
    """The key of a profile's section about such runs, empty if there is none. ``criteria`` reads it."""

    plan_fact = ""
    """The fact that holds the plan for a host: its volumes, the values of its options,
    or the problem with them."""

    variables: tuple[str, ...] = ("",)
    """Prefixes of the variables that concern such a run. Their values are recorded in run.json."""

    agreed_on: tuple[str, ...] = ("gate_",)
    """Prefixes of the variables on whose values all hosts of a run must agree."""

    tests_storage = False
    """Whether it measures storage. Only such runs are compared with a baseline, sliced and merged."""

    certifies = False
    """Whether a record of it can become a certificate: the one that ``memory`` makes."""

    is_remembered = False
    """Whether the history remembers such runs, so that one may be required."""

    needs_verdict = True
    """Whether a record without a verdict is an error."""

    without_verdict = ""
    """The replacement for a verdict on a host that was not judged, such as "observed". Only a kind that judges
    nothing, or not always, has such a word."""

    judged_by_profile = False
    """Whether the limits of a profile judge its records."""

    has_results = True
    """Whether the tables of its records are those of steps: run.csv and results.csv with what belongs to them."""

    is_live = False
    """Whether it watches a load that comes from other programs. Its figures cannot be compared with those of similar
    volumes, and cannot be repeated."""

    stored = "certificates"
    """The data that such a run stores in the history."""

    held_against = "certificates"
    """The data that its hosts are compared with before they are judged."""

    why_untested = ""
    """Why such a run cannot be merged: what follows "The run ... ". Empty for a kind that tests storage."""

    why_left_out = ""
    """The reason if runs were found automatically instead of being named: what follows "Left out, because "."""

    why_not_collected = ""
    """Why hosts have nothing that could be collected later, as the rest of a sentence that begins with the path of the
    run. Empty if they have."""

    ended_early = "the tester ended before it had measured everything"
    """The beginning of the sentence if the tester or observer ends early."""

    if_interrupted = ""
    """What happens on the hosts if the command ends, and the beginning of the remedy: "the observations of run {} end
    by themselves. To remove them at once".

    Empty if the run continues and is collected later.
    """

    facets: tuple[str, ...] = ()
    """Which of criteria.py, opening.py, memory.py and view.py its folder has.
    The others are those beside this module, with the defaults."""

    @cached_property
    def own_shape(self) -> Any:
        """The shape (see ``_run/shapes.py``) of what ``own_key`` holds."""
        return dict

    @cached_property
    def criteria(self) -> Criteria:
        """What a profile can specify about it."""
        return self._facet("criteria")

    @cached_property
    def opening(self) -> Opening:
        """What it expects from the hosts when a run is opened."""
        return self._facet("opening")

    @cached_property
    def memory(self) -> Memory:
        """What it reads from the history, and what it stores there."""
        return self._facet("memory")

    @cached_property
    def view(self) -> View:
        """What it adds to reports."""
        return self._facet("view")

    def _facet(self, name: str) -> Any:
        """Return the facet with this name, imported on demand, so that judging a run does not import the code that
        shows it."""
        package = type(self).__module__ if name in self.facets else __package__
        return getattr(importlib.import_module(f"{package}.{name}"), name.capitalize())()

    def in_its_terms(self, message: str) -> str:
        """Return a message about the variables of a certification, reworded for the variables of such a run."""
        return message
