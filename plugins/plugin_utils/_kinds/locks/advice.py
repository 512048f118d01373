# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The consequences of findings about locks for a multi-instance queue manager, what to change, and whom to ask. `make
reference` writes a part of docs/causes.md from this table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._report.causes.advice import MQ, STORAGE, SYSTEM, VIRTUAL, Advice, on_setting, together
from ..._run.findings import SETTING
from ..._run.lock_steps import LATE_WRITES, LOCKED, SAME_HOST, SERVER_FAILOVER, UNLOCKED
from .criteria import LOCK_BROKEN, LOCK_NOT_COVERED, LOCK_UNDECIDED

_TWO_ACTIVE = (
    "Two instances of the queue manager can be active at once. Both write to the same log and the same queues: "
    "messages are lost or delivered twice, and the log is damaged."
)
_AGAIN = "Then test the locks again."

LOCK_CAUSES: Mapping[str, Advice] = {
    "granted": Advice(
        "the lock was given to two hosts",
        "Mount the directory on both hosts with NFS version 4 (vers=4.1 or 4.2, hard, without nolock and "
        "local_lock), and make sure that the file server uses one lock table for all its clients, shared by all its "
        "nodes. If the hosts are clones and were renamed after they had mounted the directory, mount it again on both: "
        f"until then, the file server mistakes them for one client. {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence=_TWO_ACTIVE,
    ),
    "same_host": Advice(
        "the lock was given to two processes of one host",
        "Put no queue manager there: the file system has no usable locks. Use a file system listed in IBM's testing "
        "statement for multi-instance queue managers.",
        (SYSTEM, STORAGE),
        consequence=f"Even on one host, locks exclude nobody. {_TWO_ACTIVE}",
    ),
    "refused_by_error": Advice(
        "a lock failed with an error",
        "Find out why locks fail there: rpc.statd or a firewall for NFS version 3, the number of locks that the file "
        f"server allows (ENOLCK), or a file system without locks (ENOSYS, EOPNOTSUPP). {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence="A standby instance that gets an error instead of a refusal ends, so nothing takes over.",
    ),
    "not_released": Advice(
        "a released lock was still held",
        f"Find out on the file server who holds the lock. Ask its vendor why a released lock is still held. {_AGAIN}",
        (STORAGE,),
        consequence="The standby instance never becomes active, not even at a planned switch with endmqm -s.",
    ),
    "updates": Advice(
        "acknowledged writes were lost or torn",
        "Put no queue manager there. Mount with NFS version 4 and without caching that outlives a lock, and ask the "
        f"vendor of the file server about lost writes. {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence=(
            "An instance that takes over does not see everything that the former one wrote: it starts from an old "
            "log, so messages are lost, or it finds damaged records and does not start."
        ),
    ),
    "write_error": Advice(
        "a write or a verification failed",
        "Mount with hard instead of soft, and look in the system log of the host and of the file server for errors at "
        f"that time. {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence=(
            "The active instance ends as soon as it cannot write its log or verify its locks, and applications lose "
            "their connections."
        ),
    ),
    "never_taken_over": Advice(
        "the lock of a lost host was not released",
        "Use NFS version 4: version 3 has no leases, so locks of a lost host stay until somebody clears them. On the "
        f"file server, check the lease, and what releases the locks of a lost client. {_AGAIN}",
        (STORAGE,),
        consequence=(
            "The standby instance never becomes active: the queue manager is down until somebody clears the lock on "
            "the file server."
        ),
    ),
    "late_write": Advice(
        "a host that had lost its lock could still write",
        "Put no queue manager there. Ask the vendor of the file server whether it refuses writes from a client "
        f"whose lease has expired. Mount with vers=4.1 or 4.2 and hard, and set nfs.recover_lost_locks=N. {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence=(
            "A former active instance that comes back writes into the log of the instance that took over. The log is "
            "damaged: recovery stops there, and committed messages are lost."
        ),
    ),
    "late_write_without_lock": Advice(
        "a host that had lost its lock could still write to a file that it had not locked",
        "Ask IBM Support whether your queue manager locks the files of its log. If it does not, or if they cannot say, "
        "use a file server that refuses every write from a client whose lease has expired. The kernel's nfsd and "
        f"nfs-ganesha refuse only those to locked files. {_AGAIN}",
        (MQ, STORAGE),
        consequence=(
            "Writes to the locked log were refused. But IBM documents locks for master, active and standby only: if "
            "the files of the log are not locked, a former active instance that comes back can overwrite what the "
            "instance that took over has written."
        ),
    ),
    "failover": Advice(
        "the file server forgot the lock when it failed over",
        "Let both nodes of the file server share their lock state and use the same server scope, and give clients a "
        f"grace period in which they reclaim their locks. {_AGAIN}",
        (STORAGE,),
        consequence=(
            "At a failover of the file server, the standby instance can become active beside the active one. "
            f"{_TWO_ACTIVE}"
        ),
    ),
    "failover_error": Advice(
        "the holder could not go on after the failover of the file server",
        "Let both nodes of the file server use the same server scope and share the record of their clients, and give "
        "clients a grace period in which they reclaim their locks. Look in the system log of the host for locks that "
        f"it lost. {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence=(
            "The active instance ends when the file server fails over, although its host is well, and applications "
            "lose their connections until the standby instance has taken over."
        ),
    ),
    "pause_not_ended": Advice(
        "writes did not continue after the failover of the file server",
        "Find out why the host does not reach the file server after a failover: its address, its port, its server "
        f"scope, and the record of its clients on both nodes. {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence=(
            "At a failover of the file server, the active instance ends because it can neither write its log nor "
            "verify its locks. The standby instance cannot start either, until somebody restores the file server."
        ),
    ),
    "acknowledged_lost": Advice(
        "the file server lost writes that it had acknowledged",
        "Put no queue manager there. Let the file server write to stable storage before it answers (export with sync "
        "instead of async, and a protected write cache), and ask its vendor why a takeover or a failover undoes "
        f"writes. {_AGAIN}",
        (STORAGE,),
        consequence=(
            "The log lacks the latest records, although the queue manager was told that they were written: committed "
            "messages are lost or delivered twice, or the queue manager does not start."
        ),
    ),
    "lost_at_return": Advice(
        "a host that came back got the lock of the new holder",
        "Put no queue manager there. Ask the vendor of the file server why it frees the locks of other hosts when a "
        f"host mounts again. {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence=(
            "When the failed host is started again, its instance becomes active beside the one that took over. "
            f"{_TWO_ACTIVE}"
        ),
    ),
    "lost_at_close": Advice(
        "a lock was lost when another process closed the file",
        "Put no queue manager there. Use another client for the file system, such as NFS version 4 of the kernel: this "
        f"one releases the locks of a process when another process closes the same file. {_AGAIN}",
        (SYSTEM, STORAGE),
        consequence=(
            "Any program that reads a file of the queue manager, such as a backup, takes the lock from the active "
            f"instance. {_TWO_ACTIVE}"
        ),
    ),
    "not_shared": Advice(
        "the directory is not shared",
        "Mount the same export of the same file server on both hosts, and without caching that hides the writes of the "
        f"other host. {_AGAIN}",
        (SYSTEM, STORAGE),
        consequence="The standby instance sees another directory: it cannot take over, or it starts with other data.",
    ),
    "other_path": Advice(
        "the hosts use different directories of one file system",
        f"Set workspace_path of both hosts to one directory of the shared file system. {_AGAIN}",
        (SYSTEM,),
        consequence=(
            "Nothing is known about the locks. A standby instance with another path to the data of its queue manager "
            "does not find it."
        ),
    ),
    "not_permitted": Advice(
        "the tester may not open the directory",
        "Give the user of the tester access to the directory on both hosts, for example by making mqm its group, or "
        f"set workspace_path to a directory to which the user has access. {_AGAIN}",
        (SYSTEM, STORAGE),
        consequence=(
            "Nothing is known about the locks. If the user mqm has no access either, the standby instance cannot start."
        ),
    ),
    "seen_again": Advice(
        "the lost host was back before the takeover",
        "Use a cut command that keeps the host off for longer than the lease, such as 'chassis power off' with a later "
        "'chassis power on' instead of 'chassis power cycle'. "
        f"{_AGAIN}",
        (SYSTEM, VIRTUAL),
        consequence=(
            "Nothing is known about a host that does not come back: its lock may stay for much longer, and with it the "
            "queue manager stays down."
        ),
    ),
    "no_failover_seen": Advice(
        "nothing shows that the file server failed over",
        f"Check what locks_server_command does, and that the directory is on the file server that it names. {_AGAIN}",
        (STORAGE,),
        consequence="Nothing is known about the locks at a failover of the file server.",
    ),
    "same_machine": Advice(
        "two names refer to one machine",
        f"Name two machines in the inventory. {_AGAIN}",
        (),
        consequence="Nothing is known about the locks of two hosts.",
    ),
    "one_kernel": Advice(
        "two hosts share one kernel",
        f"Test two hosts with kernels of their own, such as containers on two nodes. {_AGAIN}",
        (VIRTUAL,),
        consequence="Nothing is known about the locks of two machines, because only one kernel took part.",
    ),
    "not_covered": Advice(
        "a required step was not carried out",
        "Set the missing options, or judge by a profile that does not require the step.",
        (),
        consequence="The result of this step is not known, so the pair is not certified.",
    ),
    "undecided": Advice(
        "a step decides nothing",
        "Correct the named problem, and test the locks again.",
        (SYSTEM,),
        consequence="Nothing is proven: the locks may or may not work.",
    ),
}
"""The advice on each kind of finding."""

OF_METRICS: Mapping[str, Advice] = {
    "lock_count": Advice(
        "a host cannot hold enough locks",
        f"Raise the limit of the file server, or spread the queue managers over more file systems. {_AGAIN}",
        (STORAGE,),
        consequence="A queue manager that cannot lock its files does not start (ENOLCK).",
    ),
    "lock_takeover": Advice(
        "the takeover took too long",
        "Ask for a shorter lease on the file server, but not below 10 s, and note that the lease applies to all its "
        f"clients. {_AGAIN}",
        (STORAGE, MQ),
        consequence=(
            "The queue manager is unavailable for this time, and then for as long as the standby instance needs to "
            "replay the log."
        ),
    ),
    "lock_verification": Advice(
        "a verification of the lock took too long",
        "Find out what delays small operations while the log is written: a link, a queue of the client, or a limit "
        "of the file server. Ask IBM Support before you change FileLockHeartBeatLen.",
        (STORAGE, SYSTEM),
        consequence=(
            "An active instance that cannot verify its locks within 20 s ends (AMQ7280), although neither it nor its "
            "host failed."
        ),
    ),
    "lock_verification_at_failover": Advice(
        "a verification of the lock took too long at a failover",
        "Shorten the failover and the grace period of the file server, which may not answer questions about locks "
        "until they are over. They apply to all its clients. Ask IBM Support before you change FileLockHeartBeatLen. "
        f"If neither is possible, end the queue manager before a planned failover. {_AGAIN}",
        (STORAGE, MQ),
        consequence=(
            "The active instance cannot verify its locks within 20 s and ends (AMQ7280) when the file server fails "
            "over, although its host is well. The standby instance has to wait for the end of the grace period as well."
        ),
    ),
    "lock_write_pause": Advice(
        "the writes paused for too long under load",
        "Find out what stalls writes while the log is written at full speed: a link, a queue of the client, a "
        f"snapshot, or a limit of the file server. {_AGAIN}",
        (STORAGE, SYSTEM),
        consequence=(
            "Nothing is committed during such a pause, and the queue manager ends if its log makes no progress for too "
            "long."
        ),
    ),
    "lock_write_pause_at_failover": Advice(
        "the writes paused for too long at a failover",
        "Shorten the failover of the file server: how soon the other node notices the failure, and how soon it serves "
        f"the file system and its address. {_AGAIN}",
        (STORAGE,),
        consequence=(
            "Nothing is committed during a failover of the file server. After 20 s, the active instance ends, because "
            "it cannot verify its locks either, and the standby instance cannot take over before the file server "
            "answers again."
        ),
    ),
    "lock_hand_over": Advice(
        "a released lock was passed on late",
        f"Look on the file server and in the network for what delays lock requests. {_AGAIN}",
        (STORAGE,),
        consequence="A planned switch to the standby instance takes at least this much longer.",
    ),
    "lock_notification": Advice(
        "a waiting process was notified late",
        "Use a release of IBM MQ with APAR IT43349, and look for a firewall between the file server and the host that "
        f"drops notifications about locks. {_AGAIN}",
        (STORAGE, SYSTEM, MQ),
        consequence="A standby instance that waits for the lock becomes active later than it could.",
    ),
}
"""The advice on limits that are not met, by metric."""

_OF_CODES = {
    "updates_lost": "updates",
    "torn": "updates",
    "write_lost": "updates",
    "verification_error": "write_error",
    "late_write_landed": "late_write",
    "not_fenced": "late_write",
    "lock_lost_at_failover": "failover",
    "lock_lost_after_failover": "failover",
}
"""The keys of the advice for codes that differ from them."""

_OPEN = ("seen_again", "not_permitted", "other_path", "no_failover_seen")
"""The codes of steps that decide nothing for which there is advice of their own."""


def key_of(finding: Mapping[str, Any]) -> str:
    """Return the key of the advice on a finding about locks."""
    kind, code, step = finding["kind"], str(finding.get("code")), finding.get("step")
    figures = finding.get("figures") or {}
    if kind == LOCK_NOT_COVERED:
        return "not_covered"
    if kind == LOCK_BROKEN:
        if code == SETTING:
            return str(finding.get("limit_id"))
        if code == "granted" and step in (SAME_HOST, SERVER_FAILOVER):
            return "same_host" if step == SAME_HOST else "failover"
        if code in ("write_error", "verification_error") and step == SERVER_FAILOVER:
            return "failover_error"
        if figures.get("log") == UNLOCKED and not figures.get(LATE_WRITES[LOCKED]):
            return "late_write_without_lock"
        return _OF_CODES.get(code, code)
    return code if kind == LOCK_UNDECIDED and code in _OPEN else "undecided"


def advice_on_locks(found: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the consequences of the given findings about locks, and the next steps."""
    keys = dict.fromkeys(key_of(finding) for finding in found)
    advices = [LOCK_CAUSES.get(key) or on_setting(key) or LOCK_CAUSES["undecided"] for key in keys]
    return " ".join(dict.fromkeys(advice.consequence for advice in advices)), together(advices)
