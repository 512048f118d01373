// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --trace: the operations of the measured time, one by one. They are recorded in memory that is allocated before the
// first file is created, and written after each step. If there are more than fit, those that ended first are kept.
#pragma once

#include "workload/workload.h"

struct traced {
    // instants of CLOCK_MONOTONIC; in a closed loop, an operation is due as soon as it may start
    uint64_t due_ns, start_ns, latency_ns;
    uint64_t offset_bytes;                      // the offset in the place, counted across its files
    uint32_t bytes;
    uint16_t worker;
    uint8_t stream;                             // from 0
    bool reads;
};

_Static_assert(sizeof(struct traced) == 40, "the manual says so");

struct trace {
    const char *path;                   // NULL: not requested
    int fd;
    struct traced *operations;
    uint64_t room;                      // how many more operations can be kept
    _Atomic uint64_t used;              // entries of this step; operations beyond room are not kept
    uint64_t dropped;                   // operations not kept, in all steps so far
    int error;                          // errno of a failed write to the file; 0: none
    // Concerning the current step:
    const struct workload *workload;
    uint32_t step, load_point;
    uint64_t start_ns;                  // start of the measured time
};

static inline void trace_add(struct trace *trace, const struct traced *operation) {
    uint64_t at = atomic_fetch_add_explicit(&trace->used, 1, memory_order_relaxed);
    if (at < trace->room) {
        trace->operations[at] = *operation;
    }
}

// Creates the file and allocates the memory. If path is NULL, does nothing and returns true.
bool trace_open(struct trace *trace, const char *path, uint64_t operations, struct failure *failure);
// Runs in a thread, because disks may hang. Writes the operations of the step, and clears them.
void trace_write(void *trace);
// Removes the file of a run that was refused.
void trace_discard(struct trace *trace);
