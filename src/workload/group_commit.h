// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The commits of many applications of one queue manager, and how its logger gathers them. This is pure arithmetic: the
// caller supplies the times of the writes. docs/commit.md explains the model.
//
// Every application repeats the same cycle: it commits, waits until the write that holds the last byte of its commit
// has ended, and thinks. All think for the same time, so they commit in the order in which their previous commits
// completed. Applications whose commits completed together form a group, which is stored as a count. The groups form a
// ring, from the one that has waited longest to those that are still thinking. A write creates only one group, even if
// it completes the commits of thousands of applications.
//
// The logger has one write outstanding. When it is free, it takes the bytes that are waiting, but at most a full
// buffer, from a stream of bytes. A commit may need several writes. An application whose commit was completed by one
// write continues just after the next write has begun. If no bytes are waiting, no write begins, and the next commit is
// written as soon as it is issued.
#pragma once

#include "workload/workload.h"

struct commit_group {
    uint64_t since_ns;                  // when these applications commit
    uint64_t count;                     // number of applications
};

struct group_commit {
    // Constant while a step runs:
    struct commit_terms terms;
    uint64_t message_bytes, record_bytes;       // bytes of a commit's messages, and of its records in the log
    struct commit_group *groups;        // a ring; an application is in exactly one of them
    uint32_t room;                      // size of the ring
    // Changing during a step:
    uint32_t first, used;
    uint64_t front_bytes;               // bytes of the first commit in writes that have completed
    uint64_t tail_bytes;  // bytes in the page that the last write left partial, if the next one rewrites it
    uint64_t taken_bytes;               // bytes taken by the write in flight
};

// Returns false if there is not enough memory for the given number of applications.
bool group_commit_open(struct group_commit *commits, const struct commit_terms *terms, uint64_t applications);

// Half of the applications commit at the start, and the other half just after the first write has begun.
void group_commit_start(struct group_commit *commits, uint64_t applications, uint64_t message_bytes, uint64_t begin_ns);

// Gathers the commits of the next write, for a logger that becomes free at the given time. Returns when the write
// begins, which is at that time or when the next application commits.
uint64_t group_commit_gather(struct group_commit *commits, uint64_t free_ns);

// Returns the size of the gathered write, in whole pages of bytes.
uint64_t group_commit_write_bytes(const struct group_commit *commits);

// Call this after a write was gathered, if it will begin in the next file. Then no page before it is rewritten.
void group_commit_next_file(struct group_commit *commits);

// Call this when the write has ended. Returns how far the position of the next write has moved.
uint64_t group_commit_advance(struct group_commit *commits);

// Returns the number of commits whose last byte was in the write. Take all of these commits, in as many calls as
// necessary, and then return their applications.
uint64_t group_commit_done(struct group_commit *commits);
// Takes commits that were issued at the same time from the front, up to the given number. At least that many commits
// must be waiting.
struct commit_group group_commit_take(struct group_commit *commits, uint64_t most);
void group_commit_return(struct group_commit *commits, uint64_t count, uint64_t released_ns);

// When the commit that has waited longest was issued.
uint64_t group_commit_oldest_ns(const struct group_commit *commits);
