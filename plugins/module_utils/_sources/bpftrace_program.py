# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of the program that bpftrace loads into the kernel.

Nothing is printed for individual operations. Counts are never cleared, because operations between reading and clearing
would be lost. Keys are never deleted from a map that is printed while in use, because bpftrace ends if it does not find
a key. Each stream has these maps:

``@n<stream>[slot, item]``
    sums. An item below 4608 is a bucket of the tester's histogram (src/figures/distribution.h) and counts operations;
    the others are named below.
``@x<stream>[slot, 0]`` and ``@x<stream>[slot, 1]``
    the maximum, and the distance of the minimum from LONGEST; 0 if there is none. If two processors write an extreme at
    the same time, one value may be lost, but its operation still counts in its bucket.
``@t<stream>[thread, depth]``
    the start times of operations that have not returned. bpftrace prints this map at its end, when nothing changes any
    more.
``@c<stream>[file]``, ``@w<stream>[file]`` and ``@b<stream>[file]``
    how many writes to a log file wait for a flush, how long they took and how many bytes they moved. bpftrace also
    prints these at its end.
``@o<stream>``
    the writes to log files that were not made by one of the watched system calls.

A log write is the operation that makes its caller wait until the data is on the disk. If the file was opened with
O_DSYNC or O_SYNC, or is on a file system that is mounted with sync, the log write is the system call. Otherwise it
consists of the writes to a file since its last flush, together with the next flush: one operation, whose duration is
the sum of these calls, not counting the time between them. MQ opens the files of its log with O_DSYNC.

An operation counts in the slot of the second in which it returned (the second modulo SLOTS), so the kernel itself
decides which second it belongs to. When a second has ended, its slot is read. Everything that was added to the slot
since it was last read belongs to this second, provided that the slot is read before it is used again.

Private to this collection; it may change at any time.
"""

import os
import re

SLOTS = 4
SUM_NS, BYTES, ERRORS = 5000, 5001, 5002
"""Items of ``@n`` that are not buckets."""

LONGEST = 1 << 62
STALL_NS = 10 * 1000 * 1000
"""Operations of this duration are reported individually, at most STALLS_PER_SECOND of them per second."""

STALLS_PER_SECOND = 20
KEYS = 20480
"""The capacity of each map: SLOTS times all items. This limits the memory of the program, no matter how long it
runs."""

WRITES = ("write", "pwrite64", "writev", "pwritev")
WRITE_WITH_FLAGS = "pwritev2"
FLUSHES = ("fsync", "fdatasync")
"""sync_file_range is not included, because it writes no metadata and does not flush the cache of the disk."""

AIO, IO_URING = "aio", "io_uring"
"""The detectable ways of writing to a file without one of these system calls."""

_S_SYNC, _SB_SYNCHRONOUS, _RWF_SYNC = 1, 16, 2 | 4

# bpftrace does not know the type of a variable that is read before it is set.
_BEGIN = """BEGIN
{
  @quota = (uint64)<STALLS>;
  <DEPTHS>
}
"""

# Traces the system calls of all processes on files in the watched directories. Processes are not selected, because a
# queue manager may run in a container, with other process numbers, and can open files at any time. Files without a name
# also have a directory.
_OF_LOG = """$directory = $file->f_path.dentry->d_parent->d_inode;
  $inode = (uint64)$directory->i_ino;
  $device = (uint64)$directory->i_sb->s_dev;"""

_FILE = (
    """$file = (struct file *)*(uint64 *)((uint64)curtask->files->fdt->fd + (uint64)args->fd * 8);
  """
    + _OF_LOG
)

_ENTER_WRITE = """
<ENTERS>
/@base/
{
  <FILE>
  if (<PLACES>) {
    @t<ID>[tid, 0] = nsecs;
    $synchronous = ((uint64)$file->f_flags & <O_DSYNC>) + ((uint64)$file->f_inode->i_flags & <S_SYNC>)
      + ((uint64)$file->f_inode->i_sb->s_flags & <SB_SYNC>);
    if ($synchronous + <BY_CALL> == 0) { @f<ID>[tid] = (uint64)$file->f_inode; }
  }
}
"""

_LOG = """
<EXITS>
/@t<ID>[tid, 0]/
{
  $now = nsecs;
  $from = @t<ID>[tid, 0];
  $file = @f<ID>[tid];
  delete(@t<ID>[tid, 0]);
  delete(@f<ID>[tid]);
  if ($file == 0 || args->ret < 0) {
    <RECORD>
  } else {
    @c<ID>[$file] = @c<ID>[$file] + 1;
    @w<ID>[$file] = @w<ID>[$file] + $now - $from;
    @b<ID>[$file] = @b<ID>[$file] + (uint64)args->ret;
  }
}
<ENTERS_OF_FLUSHES>
/@base/
{
  <FILE>
  $key = (uint64)$file->f_inode;
  if (<PLACES>) {
    if (@c<ID>[$key] > 0) {
      @t<ID>[tid, 0] = nsecs - @w<ID>[$key];
      @m<ID>[tid] = @b<ID>[$key] + 1;
      delete(@c<ID>[$key]);
      delete(@w<ID>[$key]);
      delete(@b<ID>[$key]);
    }
  }
}
<EXITS_OF_FLUSHES>
/@m<ID>[tid]/
{
  $now = nsecs;
  $from = @t<ID>[tid, 0];
  $moved = @m<ID>[tid] - 1;
  delete(@t<ID>[tid, 0]);
  delete(@m<ID>[tid]);
  <RECORD_OF_FLUSH>
}
"""

# Such writes are only counted, because their caller does not wait for them in this call. If several writes are
# submitted together, only the first four are examined.
_UNSEEN = {
    AIO: """
tracepoint:syscalls:sys_enter_io_submit
/@base/
{
  $left = (int64)args->nr;
  $next = (uint64)args->iocbpp;
  unroll(4) {
    if ($left > 0) {
      $iocb = *(uint64 *)uptr($next);
      $operation = (uint64)*(uint16 *)uptr($iocb + 16);
      if ($operation == 1 || $operation == 8) {
        $fd = (uint64)*(uint32 *)uptr($iocb + 20);
        $file = (struct file *)*(uint64 *)((uint64)curtask->files->fdt->fd + $fd * 8);
        <OF_LOG>
        if (<PLACES>) { @o<ID> = count(); }
      }
      $left = $left - 1;
      $next = $next + 8;
    }
  }
}
""",
    IO_URING: """
tracepoint:io_uring:io_uring_complete
/@base/
{
  $request = (struct io_kiocb *)args->req;
  $operation = (uint64)$request->opcode;
  if ($operation == 2 || $operation == 5 || $operation == 23) {
    $file = $request->file;
    <OF_LOG>
    if (<PLACES>) { @o<ID> = count(); }
  }
}
""",
}

# A call may be recursive, so there is a start time for each depth. A call that is left with a jump (longjmp) never
# returns. It is recognized because its stack frame is not below that of the next call.
_CALL = """
uprobe:<LIBRARY>:<NAME>
/@base/
{
  $frame = (uint64)reg("sp");
  $depth = @depth<ID>[tid];
  unroll(2) {
    if ($depth > 0) {
      if (@frame<ID>[tid, $depth] <= $frame) {
        delete(@t<ID>[tid, $depth]);
        delete(@frame<ID>[tid, $depth]);
        $depth = $depth - 1;
      }
    }
  }
  $depth = $depth + 1;
  @depth<ID>[tid] = $depth;
  @frame<ID>[tid, $depth] = $frame;
  @t<ID>[tid, $depth] = nsecs;
}
uretprobe:<LIBRARY>:<NAME>
/@depth<ID>[tid]/
{
  $now = nsecs;
  $depth = @depth<ID>[tid];
  $from = @t<ID>[tid, $depth];
  delete(@t<ID>[tid, $depth]);
  delete(@frame<ID>[tid, $depth]);
  if ($depth > 1) { @depth<ID>[tid] = $depth - 1; } else { delete(@depth<ID>[tid]); }
  <RECORD>
}
tracepoint:sched:sched_process_exit
/@depth<ID>[tid]/
{
  delete(@t<ID>[tid, @depth<ID>[tid]]);
  delete(@frame<ID>[tid, @depth<ID>[tid]]);
  delete(@depth<ID>[tid]);
}
"""

_RECORD = """$second = ($now - @base) / 1000000000;
  $ns = $now - $from;
  if ($second < <DURATION>) {
    $slot = $second & 3;
    if (<FAILED>) {
      @n<ID>[$slot, <ERRORS>] = sum((uint64)1);
    } else {
      $counted = $ns;
      if ($counted > 4398046511103) { $counted = 4398046511103; }
      $octave = $counted >> 7;
      $shift = (uint64)0;
      if ($octave >= 4294967296) { $shift = $shift + 32; $octave = $octave >> 32; }
      if ($octave >= 65536) { $shift = $shift + 16; $octave = $octave >> 16; }
      if ($octave >= 256) { $shift = $shift + 8; $octave = $octave >> 8; }
      if ($octave >= 16) { $shift = $shift + 4; $octave = $octave >> 4; }
      if ($octave >= 4) { $shift = $shift + 2; $octave = $octave >> 2; }
      if ($octave >= 2) { $shift = $shift + 1; }
      @n<ID>[$slot, ($shift << 7) + ($counted >> $shift)] = sum((uint64)1);
      @n<ID>[$slot, <SUM_NS>] = sum($ns);
      @n<ID>[$slot, <BYTES>] = sum((uint64)<MOVED>);
      $distance = (uint64)<LONGEST> - $ns;
      if ($ns > @x<ID>[$slot, 0]) { @x<ID>[$slot, 0] = $ns; }
      if ($distance > @x<ID>[$slot, 1]) { @x<ID>[$slot, 1] = $distance; }
      if ($ns > @top<ID>) {
        printf("maximum <ID> %lu %lu %lu\\n", $now, $ns, (uint64)<MOVED>);
        @top<ID> = $ns;
      } else {
        if ($ns >= <STALL_NS>) {
          if (@quota > 0) {
            @quota = @quota - 1;
            printf("stall <ID> %lu %lu %lu\\n", $now, $ns, (uint64)<MOVED>);
          }
        }
      }
    }
  }"""

# This probe comes last, so that all others are attached when the observation begins. A tick checks ten times per second
# whether a second has ended.
_CLOCK = """
interval:ms:100
{
  if (@base == 0) {
    @base = nsecs;
    printf("base %lu\\n", @base);
  } else {
    $second = (nsecs - @base) / 1000000000;
    if ($second > @second) {
      @second = $second;
      @quota = (uint64)<STALLS>;
      if ($second >= <DURATION>) {
        exit();
      } else {
        <PRINTS>
        printf("second %lu %lu\\n", $second, nsecs);
        <FORGETS>
      }
    }
  }
}
END { printf("end %lu\\n", nsecs); }
"""


def log_stream(places, noticed=()):
    """Return the stream for writes to files in the directories ``places``, which are pairs of the kernel's device
    number and the inode.

    ``noticed`` are the other ways to write that can be detected: AIO, IO_URING.
    """
    return dict(places=places, noticed=noticed)


def call_stream(library, name):
    """Return the stream for calls to one function of a library."""
    return dict(library=library, name=name)


def text_of(streams, duration_s):
    """Return the program that watches these streams for the given number of whole seconds."""
    numbers = range(len(streams))
    replacements = dict(
        DEPTHS=" ".join("@depth%d[0] = (uint64)0;" % number for number in numbers),
        STALLS=STALLS_PER_SECOND,
        DURATION=duration_s,
        STALL_NS=STALL_NS,
        LONGEST=LONGEST,
        SUM_NS=SUM_NS,
        BYTES=BYTES,
        ERRORS=ERRORS,
        PRINTS=" ".join("print(@n%d); print(@x%d);" % (number, number) for number in numbers)
        + "".join(" print(@o%d);" % number for number in numbers if streams[number].get("noticed")),
        # The next slot still holds the extremes of its previous use.
        FORGETS=" ".join(
            "@x%d[($second + 1) & 3, 0] = (uint64)0; @x%d[($second + 1) & 3, 1] = (uint64)0;" % (number, number)
            for number in numbers
        ),
    )
    parts = [_BEGIN] + [_stream_text(number, stream) for number, stream in enumerate(streams)] + [_CLOCK]
    return _replaced("".join(parts), replacements)


def _stream_text(number, stream):
    if "places" in stream:
        text, replacements = _log_text(stream), dict(FAILED="args->ret < 0", MOVED="args->ret")
    else:
        text, replacements = _CALL, dict(LIBRARY=stream["library"], NAME=stream["name"], FAILED="0", MOVED="0")
    text = text.replace("<RECORD>", _RECORD).replace("<RECORD_OF_FLUSH>", _RECORD.replace("<MOVED>", "$moved"))
    return _replaced(text, dict(replacements, ID=number))


def _log_text(stream):
    enters = [
        _ENTER_WRITE.replace("<ENTERS>", _points("enter", calls)).replace("<BY_CALL>", by_call)
        for calls, by_call in _CALLS_OF_WRITES
    ]
    unseen = "".join(_UNSEEN[way] for way in stream["noticed"])
    replacements = dict(
        EXITS=_points("exit", WRITES + (WRITE_WITH_FLAGS,)),
        ENTERS_OF_FLUSHES=_points("enter", FLUSHES),
        EXITS_OF_FLUSHES=_points("exit", FLUSHES),
        FILE=_FILE,
        OF_LOG=_OF_LOG,
        PLACES=" || ".join("($device == %d && $inode == %d)" % place for place in stream["places"]),
        O_DSYNC=os.O_DSYNC,
        S_SYNC=_S_SYNC,
        SB_SYNC=_SB_SYNCHRONOUS,
    )
    return _replaced("".join(enters) + _LOG + unseen, replacements)


_CALLS_OF_WRITES = ((WRITES, "0"), ((WRITE_WITH_FLAGS,), "((uint64)args->flags & %d)" % _RWF_SYNC))


def _points(side, calls):
    return ",\n".join("tracepoint:syscalls:sys_%s_%s" % (side, call) for call in calls)


def _replaced(text, replacements):
    return re.sub("<([A-Z_]+)>", lambda found: str(replacements.get(found.group(1), found.group(0))), text)
