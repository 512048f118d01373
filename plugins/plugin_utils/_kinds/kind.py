# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The properties of a kind of run. The defaults are those of a kind that neither tests storage nor is stored in the
history."""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .facets import Criteria, English, Memory, Opening, View


class Kind:
    """A kind of run. Simple facts are attributes here; ``criteria``, ``english``, ``opening``, ``memory`` and ``view``
    are imported when they are used."""

    name = ""
    """The value of ``kind`` in run.json and in the records of the run. Empty for a record that only states why there is
    no result."""

    data_key = ""
    """The key of record.json for data that only records of this kind have; empty if there is no such data."""

    profile_key = ""
    """The key of a profile's section about runs of this kind; empty if there is none. ``criteria`` reads it."""

    plan_fact = ""
    """The fact that holds the plan of a host: the volumes and the values of the options, or the problem with them."""

    variables: tuple[str, ...] = ("",)
    """Prefixes of the variables that concern runs of this kind. Their values are recorded in run.json."""

    agreed_on: tuple[str, ...] = ("gate_",)
    """Prefixes of the variables on whose values all hosts of a run must agree."""

    tests_storage = False
    """Whether runs of this kind measure storage. Only runs that do are compared with a baseline, sliced and merged."""

    certifies = False
    """Whether ``memory`` can make a certificate from a record of a run of this kind."""

    is_remembered = False
    """Whether runs of this kind are stored in the history."""

    may_need_history = True
    """Whether a run of this kind, if its results belong in the history, is refused when there is no history, unless
    gate_history_required is false. Otherwise, there is only a warning."""

    needs_verdict = True
    """Whether a record without a verdict is an error."""

    without_verdict = ""
    """The replacement for a verdict on a host that was not judged, such as "observed". Only kinds that do not always
    judge have such a word."""

    has_results = True
    """Whether the tables in the records of the run describe steps: run.csv, results.csv and the tables that belong to
    them."""

    is_live = False
    """Whether a run of this kind watches a load that comes from other programs. The figures of such a run cannot be
    compared with those of similar volumes, and they cannot be repeated."""

    stored = "certificates"
    """What a run of this kind stores in the history, as a phrase for messages."""

    compared_with = "certificates"
    """What the hosts of a run are compared with before they are judged, as a phrase for messages."""

    why_untested = ""
    """Why a run of this kind cannot be merged, as the continuation of "The run ... ". Empty for a kind that tests
    storage."""

    why_left_out = ""
    """The same reason for runs that were found automatically, as the continuation of "Left out, because "."""

    why_not_collected = ""
    """Why nothing can be collected from hosts later, as the continuation of a sentence that begins with the path of the
    run. Empty if something can be collected."""

    ended_early = "the tester ended before it had measured everything"
    """The beginning of the sentence that is used if the tester or observer ends early."""

    if_interrupted = ""
    """What happens on the hosts if the command ends, and the beginning of the remedy: "the observations of run {} end
    by themselves. To remove them at once".

    Empty if the run continues and is collected later.
    """

    facets: tuple[str, ...] = ()
    """The modules among criteria.py, english.py, opening.py, memory.py and view.py that the kind's folder contains. For
    the others, the defaults in facets.py are used."""

    @cached_property
    def data_shape(self) -> Any:
        """The shape (see ``_run/shapes.py``) of the data under ``data_key``."""
        return dict

    @cached_property
    def criteria(self) -> Criteria:
        """What a profile can specify about a run of this kind."""
        return self._facet("criteria")

    @cached_property
    def english(self) -> English:
        """The sentences about the findings of a run of this kind."""
        return self._facet("english")

    @cached_property
    def opening(self) -> Opening:
        """What a run of this kind expects from the hosts when it is opened."""
        return self._facet("opening")

    @cached_property
    def memory(self) -> Memory:
        """What a run of this kind reads from the history, and what it stores there."""
        return self._facet("memory")

    @cached_property
    def view(self) -> View:
        """What a run of this kind adds to reports."""
        return self._facet("view")

    def _facet(self, name: str) -> Any:
        """Return the facet with this name, imported on demand, so that judging a run does not import the code that
        shows it."""
        module = f"{type(self).__module__}.{name}" if name in self.facets else f"{__package__}.facets"
        return getattr(importlib.import_module(module), name.capitalize())()

    def in_its_terms(self, message: str) -> str:
        """Return a message about the variables of a certification, reworded for the variables of a run of this kind."""
        return message
