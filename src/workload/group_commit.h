// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The commits of many applications of one queue manager, and how its logger gathers them. This is pure arithmetic: the
// caller supplies the instants of the writes. docs/commit.md explains the model.
//
// Every application repeats the same cycle: it commits, waits until the write that holds the last byte of its commit
// has ended, and thinks. All think for the same time, so they commit in the order in which they were released, and
// those that were released together are one group: a count. The groups form a ring, from the one that has waited
// longest to those that are still thinking. A write creates one group, however many thousand applications it releases.
//
// The logger has one write outstanding. When it is free, it takes the bytes that wait, at most a buffer full, from a
// stream of bytes. A commit may need several writes. An application that was released by one write returns just after
// the next write has begun, unless no bytes wait. If none wait, the next commit is written as soon as it comes.
#pragma once

#include "workload/workload.h"

struct commit_group {
    uint64_t since_ns;                  // when these applications commit
    uint64_t count;                     // how many applications
};

struct group_commit {
    // Constant while a step runs:
    struct commit_terms terms;
    uint64_t message_bytes, record_bytes;       // bytes of a commit's messages, and of its records in the log
    struct commit_group *groups;        // a ring; an application is in exactly one of them
    uint32_t room;                      // of the ring
    // What changes:
    uint32_t first, used;
    uint64_t front_bytes;               // bytes of the first commit that completed writes hold
    uint64_t tail_bytes;  // bytes in the page that the last write left partial, if the next one rewrites it
    uint64_t taken_bytes;               // bytes taken by the write in flight
};

// False if there is no memory for that many applications.
bool group_commit_open(struct group_commit *commits, const struct commit_terms *terms, uint64_t applications);

// Half of the applications commit at the start, and the other half just after the first write has begun.
void group_commit_start(struct group_commit *commits, uint64_t applications, uint64_t message_bytes, uint64_t begin_ns);

// Gathers the commits of the next write, for a logger that is free from that instant. Returns when the write begins:
// at that instant, or when the next application commits.
uint64_t group_commit_gather(struct group_commit *commits, uint64_t free_ns);

// Bytes of the write that was gathered: whole pages.
uint64_t group_commit_write_bytes(const struct group_commit *commits);

// The write begins in the next file, so no page before it is rewritten. For a write that was gathered.
void group_commit_next_file(struct group_commit *commits);

// The write has ended. Returns how far the place of the next write moved.
uint64_t group_commit_advance(struct group_commit *commits);

// The number of commits whose last byte was in the write. Take all of them, in as many calls as necessary, and then
// return their applications.
uint64_t group_commit_done(struct group_commit *commits);
// Takes at most that many commits, all of one instant, from the front. At least that many commits must be waiting.
struct commit_group group_commit_take(struct group_commit *commits, uint64_t most);
void group_commit_return(struct group_commit *commits, uint64_t count, uint64_t released_ns);

// The start of the commit that has waited longest.
uint64_t group_commit_oldest_ns(const struct group_commit *commits);
