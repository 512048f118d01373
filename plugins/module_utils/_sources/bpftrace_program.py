# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of the program that bpftrace loads into the kernel.

Nothing is printed per operation, and no count is ever cleared: a clear between reading and counting would lose operations. Nor is a key ever deleted from a map
that is printed while it is in use: bpftrace ends if a key is gone when it looks it up. Each stream has these maps:

``@n<stream>[slot, item]``
    sums. An item below 4608 is a bucket of the tester's histogram (src/figures/distribution.h) and counts operations; the others are named below.
``@x<stream>[slot, 0]`` and ``@x<stream>[slot, 1]``
    the maximum, and the distance of the minimum from LONGEST; 0 if there is none. Two processors that write one at once may lose it; its bucket is not lost.
``@t<stream>[thread, depth]``
    when the operations began that have not returned. bpftrace prints it when it has ended and nothing changes any more.

An operation counts in the slot of the second in which it returned, that second modulo SLOTS, so the kernel itself decides which second it belongs to. When a
second is over, its slot is read; the difference from what the slot had before is that second, exactly, if it is read before the slot's next turn.

Private to this collection; it may change at any time.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import re

SLOTS = 4
SUM_NS, BYTES, ERRORS = 5000, 5001, 5002
"""Items of ``@n`` that are not buckets."""

LONGEST = 1 << 62
STALL_NS = 10 * 1000 * 1000
"""Operations of this duration are told one by one, at most STALLS_PER_SECOND of them per second."""

STALLS_PER_SECOND = 20
KEYS = 20480
"""What each map must hold: SLOTS times all items. Only that much memory is taken, however long the program runs."""

WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")

# No types are known of what is read before it is set.
_BEGIN = """BEGIN
{
  @quota = (uint64)<STALLS>;
  <DEPTHS>
}
"""

# The system calls of any process to a file whose directory is one of ours: a queue manager may run in a container, with other process numbers, and opens files
# at any time. A nameless file has a directory, too.
_LOG = """
<ENTERS>
/@base/
{
  $file = (struct file *)*(uint64 *)((uint64)curtask->files->fdt->fd + (uint64)args->fd * 8);
  $directory = $file->f_path.dentry->d_parent->d_inode;
  $inode = (uint64)$directory->i_ino;
  $device = (uint64)$directory->i_sb->s_dev;
  if (<PLACES>) { @t<ID>[tid, 0] = nsecs; }
}
<EXITS>
/@t<ID>[tid, 0]/
{
  $now = nsecs;
  $from = @t<ID>[tid, 0];
  delete(@t<ID>[tid, 0]);
  <RECORD>
}
"""

# A call may call itself, so each depth has its start. A call that is left by a jump never returns: its frame of the stack is not below that of the next call.
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
        printf("maximum <ID> %lu %lu %lu %lu\\n", $now, $ns, (uint64)<MOVED>, @top<ID>);
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

# Last, so that everything else is attached when the time begins. A tick looks ten times per second whether a second is over.
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


def log_stream(places):
    """Return the stream of the writes to files in the directories ``places``, pairs of the kernel's device number and the inode."""
    return dict(places=places)


def call_stream(library, name):
    """Return the stream of the calls of a function of a library."""
    return dict(library=library, name=name)


def text_of(streams, duration_s):
    """Return the program that watches these streams for that many whole seconds."""
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
        PRINTS=" ".join("print(@n%d); print(@x%d);" % (number, number) for number in numbers),
        # The slot that comes next holds the extremes of its last turn.
        FORGETS=" ".join("@x%d[($second + 1) & 3, 0] = (uint64)0; @x%d[($second + 1) & 3, 1] = (uint64)0;" % (number, number) for number in numbers),
    )
    parts = [_BEGIN] + [_stream_text(number, stream) for number, stream in enumerate(streams)] + [_CLOCK]
    return _replaced("".join(parts), replacements)


def _stream_text(number, stream):
    if "places" in stream:
        conditions = ["($device == %d && $inode == %d)" % place for place in stream["places"]]
        replacements = dict(
            ENTERS=",\n".join("tracepoint:syscalls:sys_enter_%s" % call for call in WRITES),
            EXITS=",\n".join("tracepoint:syscalls:sys_exit_%s" % call for call in WRITES),
            PLACES=" || ".join(conditions),
            FAILED="args->ret < 0",
            MOVED="args->ret",
        )
        text = _LOG
    else:
        replacements = dict(LIBRARY=stream["library"], NAME=stream["name"], FAILED="0", MOVED="0")
        text = _CALL
    return _replaced(text.replace("<RECORD>", _RECORD), dict(replacements, ID=number))


def _replaced(text, replacements):
    return re.sub("<([A-Z_]+)>", lambda found: str(replacements.get(found.group(1), found.group(0))), text)
