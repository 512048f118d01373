// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Entry point of --acknowledge, which tells another machine which writes have returned. That machine then knows what
// must be present after a power cut. Lines on standard output:
//
//   ready ...              see cut/mark.h; the files and their names are on the disk
//   ack Q COUNT            COUNT writes of queue manager Q (from 1) have returned, including the warm-up
//   tick MONOTONIC_NS      everything that returned before this instant of CLOCK_MONOTONIC has been acknowledged above
//   end HOW                no more writes: time, signal, deadline, or the name of an error
//
// A count may be late but is never early: a writer stores it after its call has returned, and one thread sends what it
// finds every millisecond. A line may be left out for a slow reader, because counts only grow. Writers never wait.
#pragma once

#include "base/supervisor.h"
#include "cut/marked_files.h"
#include "measure/worker.h"
#include "output/outlet.h"

struct acknowledge {
    struct mark mark;
    struct marked_files marked_files;
    const struct worker *workers;
    uint32_t count;
    uint64_t *sent;                     // the last count sent for each worker
    uint64_t ticked_ns;
    struct outlet outlet;               // used by the thread only
    pthread_t thread;
    _Atomic(const char *) end;          // how the run ended; NULL until then
    atomic_bool drained;                // the thread has nothing left to do
    // valid once drained is true: true if standard output accepts no more; outlet.error says why
    bool gone;
};

// Refuses a standard output from which no other process can read lines.
bool acknowledge_look(struct failure *failure);

// Called before the files are prepared: arranges for them to be marked.
void acknowledge_prepare(struct acknowledge *acknowledge, struct workspace *workspace);

// Prints the line `ready`, and starts the thread. Returns false if there is not enough memory, or if the thread cannot
// be created.
bool acknowledge_start(struct acknowledge *acknowledge, const struct workers *workers);

// Call it when every worker has finished or is abandoned.
void acknowledge_end(struct acknowledge *acknowledge, const char *how);

// For supervisor_await: true if the line `end` was written, or if standard output accepts no more text.
bool acknowledge_is_drained(void *acknowledge);

// Waits until the line `end` is written. Returns false, with a complaint, if it could not be written because the reader
// is too slow or has disappeared.
bool acknowledge_close(struct acknowledge *acknowledge, struct supervisor *supervisor, uint64_t patience_ns);
