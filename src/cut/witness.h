// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The lines from `logdisk --acknowledge` that a witness stored: the line `ready`, and then, in any order and any number
// of times, `ack QUEUE_MANAGER COUNT` and `tick NANOSECONDS`, and `end REASON` at most once. Counts never decrease, so
// only the last one of each queue manager is needed. The run wrote from the first tick to the last. Anything else is
// refused, because a disk must not be judged by text that is only partly understood.
#pragma once

#include "cut/mark.h"

#define WITNESS_LINE_BYTES 1024
#define WITNESS_REASON_BYTES 32

struct witness {
    struct mark mark;
    uint64_t lines;
    bool ready;
    uint64_t counts_max;                // of one queue manager
    uint64_t counts[OPTIONS_QUEUE_MANAGERS_MAX + 1];        // by queue manager, from 1
    uint64_t ticks, first_tick_ns, last_tick_ns;
    char reason[WITNESS_REASON_BYTES];  // why the run ended; empty: it was cut off
};

// Takes the next line, including its line feed; false, with the reason in failure, if the line is wrong.
bool witness_take(struct witness *witness, const char *line, struct failure *failure);

// Call it after the last line. Returns false if nothing can be concluded from the lines.
bool witness_complete(const struct witness *witness, struct failure *failure);

// Returns how long the run wrote; 0: unknown.
uint64_t witness_writing_ns(const struct witness *witness);

// Reads the lines from a file. A last line without a line feed is incomplete, and is ignored.
bool witness_read(struct witness *witness, FILE *file, struct failure *failure);
