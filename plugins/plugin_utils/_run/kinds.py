# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of runs: their names and simple properties. All other code asks the kind of a run or record, and does not
check its name.

Everything else that only one kind needs is in its folder in ``_kinds``, above all layers. The modules of that folder
(the facets of the kind) are found by their names, like plugins, when they are used, so that judging a run does not
import the code that shows it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import lock_steps
from .shapes import Items, Keys, Maybe, Run

PACKAGE = f"{__package__.rpartition('.')[0]}._kinds"
"""The package with a folder for each kind."""


def _facet(name: str) -> cached_property[Any]:
    """Return a property with a facet of a kind, which is imported when it is used."""

    def load(kind: Kind) -> Any:
        module = f"{kind.folder}.{name}" if name in kind.facets else "facets"
        return getattr(importlib.import_module(f"{PACKAGE}.{module}"), name.capitalize())()

    return cached_property(load)


@dataclass(frozen=True, eq=False, kw_only=True)
class Kind:
    """A kind of run. Simple facts are fields; ``criteria``, ``english``, ``opening``, ``memory`` and ``view`` are
    imported when they are used (see ``_kinds/facets.py``). The defaults are those of a kind that neither tests storage
    nor is stored in the history."""

    name: str = ""
    """The value of ``kind`` in run.json and in the records of the run. Empty for a record that only states why there is
    no result."""

    data_key: str = ""
    """The key of record.json for data that only records of this kind have; empty if there is no such data."""

    profile_key: str = ""
    """The key of a profile's section about runs of this kind; empty if there is none. ``criteria`` reads it."""

    in_progress: str = "running"
    """What a run of this kind does until it is judged, in one or two words."""

    is_polled: bool = False
    """Whether the hosts of such a run are polled in rounds. Otherwise, its page is not updated until its end."""

    plan_fact: str = ""
    """The fact that holds the plan of a host: the volumes and the values of the options, or the problem with them."""

    variables: tuple[str, ...] = ("",)
    """Prefixes of the variables that concern runs of this kind. Their values are recorded in run.json."""

    agreed_on: tuple[str, ...] = ("gate_",)
    """Prefixes of the variables on whose values all hosts of a run must agree."""

    tests_storage: bool = False
    """Whether runs of this kind measure storage. Only runs that do are compared with a baseline, sliced and merged."""

    certifies: bool = False
    """Whether ``memory`` can make a certificate from a record of a run of this kind."""

    is_remembered: bool = False
    """Whether runs of this kind are stored in the history."""

    may_need_history: bool = True
    """Whether a run of this kind, if its results belong in the history, is refused when there is no history, unless
    gate_history_required is false. Otherwise, there is only a warning."""

    needs_verdict: bool = True
    """Whether a record without a verdict is an error."""

    without_verdict: str = ""
    """The replacement for a verdict on a host that was not judged, such as "observed". Only kinds that do not always
    judge have such a word."""

    has_results: bool = True
    """Whether the tables in the records of the run describe steps: run.csv, results.csv and the tables that belong to
    them."""

    is_live: bool = False
    """Whether a run of this kind watches a load that comes from other programs. The figures of such a run cannot be
    compared with those of similar volumes, and they cannot be repeated."""

    stored: str = "certificates"
    """What a run of this kind stores in the history, as a phrase for messages."""

    compared_with: str = "certificates"
    """What the hosts of a run are compared with before they are judged, as a phrase for messages."""

    playbook: str = ""
    """The name of the playbook that makes such a run again, for problems that only such a run clears."""

    again: str = ""
    """What that playbook does, as the imperative of a sentence: "certify again"."""

    why_untested: str = ""
    """Why a run of this kind cannot be merged, as the continuation of "The run ... ". Empty for a kind that tests
    storage."""

    why_left_out: str = ""
    """The same reason for runs that were found automatically, as the continuation of "Left out, because "."""

    why_not_collected: str = ""
    """Why nothing can be collected from hosts later, as the continuation of a sentence that begins with the path of the
    run. Empty if something can be collected."""

    ended_early: str = "the tester ended before it had measured everything"
    """The beginning of the sentence that is used if the tester or observer ends early."""

    if_interrupted: str = ""
    """What happens on the hosts if the command ends, and the beginning of the remedy: "the observations of run {} end
    by themselves. To remove them at once".

    Empty if the run continues and is collected later.
    """

    facets: tuple[str, ...] = ()
    """The modules among criteria.py, english.py, opening.py, memory.py and view.py that the kind's folder contains. For
    the others, the defaults in facets.py are used."""

    folder: str = ""
    """The folder of the kind in ``_kinds``."""

    data_shape: Any = dict
    """The shape (see ``_run/shapes.py``) of the data under ``data_key``."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    """The variables of a certification that have other names in a run of this kind, in messages."""

    criteria = _facet("criteria")
    """What a profile can specify about a run of this kind."""

    english = _facet("english")
    """The sentences about the findings of a run of this kind."""

    opening = _facet("opening")
    """What a run of this kind expects from the hosts when it is opened."""

    memory = _facet("memory")
    """What a run of this kind reads from the history, and what it stores there."""

    view = _facet("view")
    """What a run of this kind adds to reports."""

    def in_its_terms(self, message: str) -> str:
        """Return a message about the variables of a certification, reworded for the variables of a run of this kind."""
        for name, renamed in self.renamed.items():
            message = message.replace(name, renamed)
        return message


_CUT = Keys({"rows": Items(dict), "outcome": str, "reason": str, "number": int})
_LOSS = Keys(dict.fromkeys(("loss", "cause", "consequence", "next_step"), str))
_CUTS = Keys({"cuts": Items(_CUT), "losses": Items(_LOSS), "tests": str, "claim": str, "cut_count": int})
_COMPARED = Keys({"caveats": Maybe(Items(str)), "others": Maybe(Items(dict))})
_OBSERVED = Keys(
    {
        **dict.fromkeys(("intervals", "maxima"), Maybe(Items(dict))),
        **dict.fromkeys(("facts", "utilisation"), Maybe(dict)),
        "certificate": Maybe(_COMPARED),
    }
)

DEFAULT: Kind = Kind(
    folder="measurement",
    name="measurement",
    facets=("opening", "memory", "view"),
    in_progress="measuring",
    is_polled=True,
    plan_fact="sweep_plan",
    agreed_on=("gate_", "sweep_"),
    tests_storage=True,
    certifies=True,
    is_remembered=True,
    playbook="certify",
    again="certify again",
    compared_with="baseline",
)
"""The measurement: the tester writes as MQ's logger does, or as a workload describes, and a profile judges the
storage."""

OBSERVATION = Kind(
    folder="observation",
    name="observation",
    facets=("criteria", "opening", "memory", "view"),
    data_key="observation",
    profile_key="observations",
    in_progress="observing",
    is_polled=True,
    plan_fact="observe_plan",
    variables=("gate_", "observe_"),
    is_remembered=True,
    may_need_history=False,
    stored="observations",
    needs_verdict=False,
    without_verdict="observed",
    is_live=True,
    why_untested="observed live queue managers and tested no storage",
    why_left_out="observations test no storage",
    why_not_collected="is an observation: if its controller is lost, hosts keep no results, so observe again.",
    ended_early="the observation ended early",
    if_interrupted="the observations of run {} end on their hosts by themselves, and remove their files. To "
    "remove them at once",
    data_shape=_OBSERVED,
)
"""The observation: a live queue manager is observed, and its write latency is compared with the certificate of its
volume. It writes nothing and certifies nothing."""

POWER_CUT = Kind(
    folder="power_cut",
    name="durability",
    facets=("criteria", "english", "memory", "view"),
    data_key="durability",
    profile_key="durability",
    in_progress="cutting power",
    plan_fact="power_cut_plan",
    agreed_on=("gate_", "cut_"),
    variables=("gate_", "cut_", "workspace_", "tester_", "sweep_state_dir"),
    is_remembered=True,
    has_results=False,
    playbook="power_cut",
    again="cut the power again",
    stored="power cuts",
    why_untested="cut the power and measured no latency",
    why_left_out="power cuts measure no latency",
    why_not_collected="is a run of power cuts, which cannot be collected: remove its files with "
    "playbooks/cleanup.yml, and cut again.",
    if_interrupted="the testers of run {} end, and their files stay on the hosts. The cuts that were checked are in "
    "the run's records. To remove the files",
    data_shape=_CUTS,
    renamed={
        "sweep_block_sizes": "cut_block_size",
        "sweep_file_size": "cut_file_size",
        "sweep_files": "cut_files",
        "sweep_queue_managers": "cut_queue_managers",
    },
)
"""The power cut: the user's command cuts the power of a host that is writing, and each acknowledged write must still be
there afterwards."""

LOCKS = Kind(
    folder="locks",
    name="locks",
    facets=("criteria", "english", "opening", "memory", "view"),
    data_key="locks",
    profile_key="locks",
    in_progress="testing locks",
    plan_fact="locks_plan",
    variables=("gate_", "locks_", "workspace_", "tester_", "sweep_state_dir"),
    is_remembered=True,
    has_results=False,
    playbook="locks",
    again="test the locks again",
    stored="results of locks",
    why_untested="tested locks and measured no latency",
    why_left_out="a test of locks measures no latency",
    why_not_collected="is a test of locks, which cannot be collected: remove its files with "
    "playbooks/cleanup.yml, and test again.",
    ended_early="the test of locks ended early",
    if_interrupted="the testers of run {} end on their hosts by themselves, and so do their locks and packet "
    "filters. To remove the files",
    data_shape=lock_steps.SHAPE,
)
"""The test of locks: whether two hosts that share a directory exclude each other, and how soon one of them takes
over when the other one is lost. Its certificates apply to two hosts and a directory."""

CHECK_MODE: Kind = Kind(
    folder="preflight",
    name="preflight",
    facets=("view",),
    without_verdict="not measured",
    why_untested="was made in check mode and measured nothing",
    why_left_out="preflights measure nothing",
)
"""The preflight: any run in check mode. Hosts are inspected, nothing is measured, and there is no verdict."""

KINDS: dict[str, Kind] = {kind.name: kind for kind in (DEFAULT, OBSERVATION, POWER_CUT, LOCKS)}
"""The kinds that a run can be opened for, by the names in run.json."""

_OF_RECORDS = {**KINDS, CHECK_MODE.name: CHECK_MODE}
_NONE = Kind()

DATA_KEYS = tuple(kind.data_key for kind in KINDS.values() if kind.data_key)
"""The keys of record.json and report.json for data that only records of one kind have."""

OF_PROFILES = {kind.profile_key: kind for kind in KINDS.values() if kind.profile_key}
"""The kinds for which a profile may have a section, by the key of the section."""

UNJUDGED = tuple(kind.without_verdict for kind in (CHECK_MODE, *KINDS.values()) if kind.without_verdict)
"""The words that may replace a verdict."""


def kind_of(run: Run) -> Kind:
    """Return the kind of a run: in check mode, a preflight."""
    return CHECK_MODE if (run.get("controller") or {}).get("check_mode") else opened_for(run)


def opened_for(run: Run) -> Kind:
    """Return the kind that a run was opened for, even if it was only a preflight."""
    return KINDS.get(str(run.get("kind")), DEFAULT)


def kind_named(name: str) -> Kind:
    """Return the kind of a record, by its name. A record that only states why there is no result, such as the record of
    an error, has a kind without a name."""
    return _OF_RECORDS.get(name, _NONE)


def by_data_key(name: str, data: Any) -> dict[str, Any]:
    """Return the data that only records of one kind have, under the key of that kind. The keys of the other kinds hold
    None."""
    return {key: data if key == kind_named(name).data_key else None for key in DATA_KEYS}
