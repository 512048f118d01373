# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Next steps, and people who can help, by symptom. `make reference` writes a part of docs/causes.md from this table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..._judge.disturbance import FOREIGN_IO, FREEZE, IO_LIMIT, PROCESSORS, QUOTA, RUN_QUEUE, STEAL
from ..._run.findings import (
    BASELINE,
    ELSEWHERE,
    ENDED_EARLY,
    FAILED_OPERATION,
    HUNG,
    INTERRUPTED,
    LIMIT,
    LOAD_TARGET,
    NO_FIGURES,
    OTHER_MOUNT,
    QUALIFICATION,
    SETTING,
    SKIPPED,
    THROTTLED,
    UNUSABLE_TABLES,
    Finding,
)
from ..._run.settings import catalogue
from ..._run.verdicts import FAIL, MISSING, UNREACHABLE

STORAGE, SYSTEM, VIRTUAL, MQ = "storage", "operating system", "virtualization or cloud", "MQ"
"""The people to talk to."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The symptom as a part of a sentence, the next step, and who else can help.

    ``hosts_are`` describes hosts with the symptom, for symptoms of hosts that break several limits. ``consequence`` is
    what follows for a queue manager, and ``of_streams`` for other users of the storage if that differs; they are empty
    if it depends on the figures.
    """

    seen: str
    next_step: str
    who: tuple[str, ...]
    hosts_are: str = ""
    consequence: str = ""
    of_streams: str = ""

    @property
    def text(self) -> str:
        """The next step, with the people who can help."""
        return together([self])


def together(advices: Sequence[Advice]) -> str:
    """Return the next steps of several pieces of advice, without duplicates, and all the people who can help."""
    who = list(dict.fromkeys(name for advice in advices for name in advice.who))
    steps = " ".join(dict.fromkeys(advice.next_step for advice in advices))
    return f"{steps} {talk_to(*who)}" if who else steps


def talk_to(*who: str) -> str:
    """Return the sentence that names the people to talk to."""
    return f"(Talk to: {', '.join(who)}.)"


UNDECIDED = "Nothing is proven: this storage may meet the limit or break it."
UNKNOWN = "Nothing is known about this storage."

SYMPTOMS = {
    "disturbed": Advice(
        "the host was disturbed",
        "Measure again without the disturbance: give the virtual machine its own processors, and "
        "keep other work off the disk.",
        (VIRTUAL, SYSTEM),
        "disturbed, so the storage may not be the reason",
    ),
    "throttled": Advice(
        "a limit of the volume or of the instance was reached",
        "Raise the limit that is named, or choose an instance with more bandwidth.",
        (VIRTUAL,),
        "held back by a limit of the volume or of the instance",
    ),
    "plateau": Advice(
        "the rate fell to a steady lower level",
        "Find the allowance that ran out (burst credits) or the write cache that filled up. A busy queue manager gets "
        "no more than this lower rate.",
        (STORAGE, VIRTUAL),
        "slower after a while, and then steady at the lower rate",
    ),
    "periodic": Advice(
        "slow writes occurred at regular intervals",
        "Look for what runs at this interval: snapshots, replication, cache flushes, scheduled jobs.",
        (STORAGE, SYSTEM),
        "slow at regular intervals",
    ),
    "first_pass": Advice(
        "the first pass over the files was slow",
        "If the storage allocates or initializes space at the first write (thin provisioning, restored snapshots), "
        "write the whole volume once.",
        (STORAGE, VIRTUAL),
        "slow in the first pass over the files",
    ),
    "some_slow": Advice(
        "some of the writes were several times slower than the rest",
        "Compare the latency and the errors of the volume's paths, one at a time. If it is striped or "
        "mirrored, compare its members.",
        (STORAGE, SYSTEM),
        "several times slower in some of the writes",
    ),
    "tail": Advice(
        "most writes were fast, and a few very slow",
        "Find out what else used the storage during the slowest writes (their times are in stalls.csv.gz): "
        "backups, snapshots, other hosts.",
        (STORAGE,),
        "fast in most writes, and very slow in a few",
    ),
    "steady": Advice(
        "the latency was high throughout",
        "Ask for the latency that the storage itself reports for this volume. If it is lower, look at the paths and "
        "the network between the host and the storage.",
        (STORAGE,),
        "slow throughout",
    ),
    "low_rate": Advice(
        "the rate was low throughout",
        "Compare this rate with the bandwidth that was ordered for the volume and its paths, and find out how much of "
        "it other hosts use.",
        (STORAGE,),
        "low in throughput",
    ),
    "class": Advice(
        "slower than most volumes of its class",
        "Compare firmware, paths and settings with those of a volume of the same class that passes.",
        (STORAGE, SYSTEM),
    ),
}
"""Symptoms of hosts that do not meet a limit. The symptoms that explain most come first."""

DISTURBANCES = {
    STEAL: Advice(
        "the hypervisor took processor time",
        "Give the virtual machine its own processors, or move it to a host that is not "
        "overcommitted, and measure again.",
        (VIRTUAL,),
    ),
    QUOTA: Advice(
        "a processor quota stopped the tester",
        "Raise or remove the quota (cpu.max, CPUQuota, limits.cpu of the pod), or test with the quota "
        "that MQ has, and measure again.",
        (SYSTEM, VIRTUAL),
    ),
    RUN_QUEUE: Advice(
        "the tester waited for a processor",
        "Stop other work on the host, or give it more processors, and measure again.",
        (SYSTEM,),
    ),
    PROCESSORS: Advice(
        "processes waited for a processor",
        "Stop other work on the host, or give it more processors, and measure again.",
        (SYSTEM,),
    ),
    FOREIGN_IO: Advice(
        "other processes used the disk",
        "Find out which processes read from the disk or write to it, keep them off it, and measure again.",
        (SYSTEM,),
    ),
    FREEZE: Advice(
        "the tester was frozen",
        "Measure again while the virtual machine is neither migrated nor paused, and no snapshot is taken.",
        (VIRTUAL,),
    ),
    IO_LIMIT: Advice(
        "a limit on the I/O of a control group held the tester back",
        "Raise or remove the limit that is named (blkio.throttle.* or io.max, set by IOWriteIOPSMax, "
        "IOWriteBandwidthMax or a container), or start the tester outside this control group, and measure again.",
        (SYSTEM,),
    ),
}
"""The advice for a disturbed host, by kind of disturbance; the entry in SYMPTOMS is for records that do not contain the
kind."""

OTHERS = {
    "open": Advice(
        "the figures decide nothing",
        "Set sweep_duration to the stated number of seconds, if there is one. Storage at its limit has no"
        " reserve: ask for a faster class.",
        (STORAGE,),
    ),
    "too_few": Advice(
        "too few writes",
        "Measure longer: do not set sweep_duration, so that the profile decides.",
        (),
    ),
    "nothing": Advice(
        "the run measured nothing to which the limit applies",
        "Include what the limit applies to in sweep_block_sizes and sweep_queue_managers or, in a commit "
        "run, in sweep_message_sizes and sweep_apps. A commit run needs its own profile, because it has "
        "no block sizes.",
        (),
    ),
    "no_stream": Advice(
        "the run measured nothing to which the limit applies",
        "Measure a workload with the stream and the operation that the limit names (sweep_workload), or "
        "judge this workload by a profile that is made for it.",
        (),
    ),
    "pace": Advice(
        "operations were due faster than they were completed",
        "Try a lower load, or ask for storage that completes more operations per second. If its latency "
        "is low nevertheless, give the stream more workers.",
        (STORAGE,),
    ),
    "capacity": Advice(
        "the volume carries too little load",
        "Find out from the capacity section of the report which criterion is broken first, and ask for "
        "storage that is faster in this respect.",
        (STORAGE,),
    ),
    "headroom": Advice(
        "the volume carries less than required",
        "Ask for storage with a lower latency, or with more bandwidth if the messages are large. If more "
        "clients commit at the same time, they share writes.",
        (
            STORAGE,
            MQ,
        ),
    ),
    "no_target": Advice(
        "it is not known which rate the volume must carry",
        "Set sweep_target to the operations per second that the volume must carry. If no load met the "
        "other limits, solve that problem first.",
        (),
    ),
    "no_headroom": Advice(
        "it is not known how much the volume carries",
        "Set sweep_target, and sweep block sizes from 4 KiB up to the log buffer. docs/estimates.md "
        "explains when estimates are valid.",
        (),
    ),
    "waived": Advice(
        "a waiver excuses the limit",
        "Remove the cause before the waiver expires.",
        (
            STORAGE,
            MQ,
        ),
    ),
    "io_error": Advice(
        "a write failed",
        "Put no recovery log there. Look in the system log of the host for errors of this device, and "
        "replace the device or path that they name.",
        (
            STORAGE,
            SYSTEM,
        ),
        consequence="A queue manager cannot commit a persistent message that it cannot write to its log.",
        of_streams="Programs that use this storage cannot rely on it: a read or a write failed.",
    ),
    "hung": Advice(
        "a write did not return",
        "Put no recovery log there. Look in the system log of the host for timeouts and lost paths at that time.",
        (
            STORAGE,
            SYSTEM,
        ),
        consequence="As long as such a write lasts, a queue manager acknowledges no persistent message.",
        of_streams="As long as such an operation lasts, everything that depends on it is blocked.",
    ),
    "ended_early": Advice(
        "the tester was stopped",
        "Measure again, and let the run finish.",
        (),
        consequence="Only a part of the run was measured, so nothing is decided.",
    ),
    "left_open": Advice(
        "the sweep was told to end early, and a limit was broken",
        "Correct what broke the limit, and measure again. To measure every step all the same, set "
        "sweep_end_early: none.",
        (),
        consequence="Limits on steps that were not measured to their end are undecided.",
    ),
    "throttled": Advice(
        "steps ended early although the volume was throttled",
        "Measure again with sweep_end_early: fail, for as long as the volume has to sustain its load.",
        (),
        consequence="It is not known how long writes take after the volume has used up its allowance.",
    ),
    "other_mount": Advice(
        "another mount point was measured than before",
        "Mount the file system, and measure again. If it has moved, name its new mount point in "
        "workspace_expect_mount.",
        (SYSTEM,),
        consequence="It is not known whether the file system of the queue managers was measured, or the disk below it.",
    ),
    "no_figures": Advice(
        "the source does not provide the figures",
        "Observe with a source that provides the figures, see docs/observe.md.",
        (),
        consequence="The duration of log writes is not known.",
    ),
    "unreachable": Advice(
        "the host cannot be reached",
        "Connect to the host with ssh as Ansible does. When that works, certify these hosts again with --limit.",
        (SYSTEM,),
        consequence=UNKNOWN,
    ),
    "missing": Advice(
        "the host did not report",
        "Look in Ansible's output for the last task of the host. If its tester was started, "
        "playbooks/collect.yml fetches what it measured.",
        (),
        consequence=UNKNOWN,
    ),
    "collect": Advice(
        "the results could not be used",
        "Run playbooks/collect.yml for this run. If the problem remains, measure the host again.",
        (SYSTEM,),
        consequence=UNKNOWN,
    ),
    "late": Advice(
        "the tester began too late",
        "Certify this host again (playbooks/certify.yml with --limit). If many hosts begin late, let Ansible start "
        "more of them at once (--forks), or leave them more time: set sweep_start_at to some minutes from now.",
        (),
        consequence=UNKNOWN,
    ),
    "ended": Advice(
        "the tester was killed",
        "Find out from the system log of the host whether it was restarted or ran out of memory at that time. Then "
        "certify this host again (playbooks/certify.yml with --limit).",
        (SYSTEM,),
        consequence=UNKNOWN,
    ),
    "unusable": Advice(
        "the tester's tables cannot be used",
        "Certify this host again (playbooks/certify.yml with --limit).",
        (),
        consequence=UNKNOWN,
    ),
    "error": Advice("nothing could be measured", "", (), consequence=UNKNOWN),
    "skipped": Advice(
        "a queue manager's log is not on this host",
        "Nothing, if this is a passive node. Otherwise mount the file system of the log, or correct "
        "LogPath, and measure the host again.",
        (SYSTEM,),
        consequence="This host is not certified for this queue manager.",
    ),
    "worse": Advice(
        "worse than its baseline",
        "Find out what changed since the baseline: firmware, paths, neighbours, settings. "
        "playbooks/status.yml lists the changes that it knows of.",
        (
            STORAGE,
            SYSTEM,
        ),
        consequence="Persistent commits wait longer than when the baseline was made, even if every limit is met.",
        of_streams="Operations take longer than when the baseline was made, even if every limit is met.",
    ),
    "uncompared": Advice(
        "the comparison with the baseline decides nothing",
        "If the message asks for more runs, measure again. If there is no baseline, create one with "
        "gate_baseline_accept: true.",
        (),
        consequence="It is not known whether persistent commits wait longer than they used to.",
        of_streams="It is not known whether operations take longer than they used to.",
    ),
    "unqualified": Advice(
        "the run was too short or too small to certify",
        "Measure again as the profile requires. playbooks/preflight.yml reports in advance whether a run can certify.",
        (),
        consequence="No certificate was issued: the run does not cover what a certificate requires.",
    ),
    "never": Advice(
        "the profile never certifies",
        "",
        (),
        consequence="No certificate was issued.",
    ),
    "leftovers": Advice(
        "something was left behind",
        "Run playbooks/cleanup.yml on these hosts as soon as their disks respond.",
        (SYSTEM,),
        consequence="What was left behind uses space on the file system under test, and no gate passes until it is "
        "removed.",
    ),
}
"""Other possible causes."""

NOTHING_ELSE: Mapping[str, str] = {}

_KEYS = {
    **dict.fromkeys(FAILED_OPERATION, "io_error"),
    HUNG: "hung",
    INTERRUPTED: "ended_early",
    ENDED_EARLY: "left_open",
    THROTTLED: "throttled",
    OTHER_MOUNT: "other_mount",
    NO_FIGURES: "no_figures",
    SKIPPED: "skipped",
    UNUSABLE_TABLES: "unusable",
    BASELINE: "uncompared",
    QUALIFICATION: "unqualified",
}
"""The key of the advice for each kind of finding."""


NEVER_CERTIFIES = "no_confidence"
"""The cause of a qualification that no run with the same profile reaches."""
_BY_STAGE = {"collect": "collect", "start": "late", "ended": "ended"}
"""The key of the advice for hosts that could not be measured, by the stage that failed. Errors at other stages say what
to do."""


def key_of(finding: Finding, stage: str) -> str:
    """Return the key of the advice for a finding that is not about a limit."""
    kind, verdict = finding["kind"], finding["verdict"]
    if kind == BASELINE and verdict == FAIL:
        return "worse"
    if kind in (LIMIT, LOAD_TARGET, ELSEWHERE) and verdict == FAIL:
        return "capacity"
    if kind == QUALIFICATION and finding.get("cause") == NEVER_CERTIFIES:
        return "never"
    key = str(finding.get("limit_id")) if kind == SETTING else _KEYS.get(kind)
    return key or (verdict if verdict in (UNREACHABLE, MISSING) else _BY_STAGE.get(stage, "error"))


def on_setting(setting_id: str) -> Advice | None:
    """Return the advice on a setting that is wrong; None if the catalogue does not have it."""
    setting = catalogue().get(setting_id)
    return setting and Advice(setting.title, setting.next_step, setting.who, consequence=setting.consequence)


def other(key: str, instead: Mapping[str, str] | None = None) -> str:
    """Return the next step for one of the other causes."""
    return (instead or NOTHING_ELSE).get(key) or OTHERS[key].text


def of_key(key: str, of_mq: bool = True, instead: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Return the consequence and the next step for a cause that is not about a limit."""
    setting = on_setting(key)
    if setting:
        return setting.consequence, setting.text
    found, next_step = OTHERS[key], other(key, instead)
    if of_mq:
        return found.consequence, next_step
    return found.of_streams or found.consequence, next_step.replace("no recovery log", "no database")
