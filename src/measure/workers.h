// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// All workers of a run. They and all memory that the greatest load point takes are created once, before the first file;
// the threads wait at the start of each step.
#ifndef LOGDISK_WORKERS_H
#define LOGDISK_WORKERS_H

#include "base/failure.h"
#include "base/options.h"
#include "measure/worker.h"
#include "workload/test_files.h"
#include "workload/workload.h"

#include <stdbool.h>
#include <stdint.h>

struct workers {
    const struct workload *workload;
    uint64_t alignment_bytes;
    struct step_plan plan;              // of the step that runs
    struct stream_step streams[WORKLOAD_STREAMS_MAX];
    uint32_t count;                     // of threads, which wait: all streams at the greatest load point
    struct worker *worker;              // those of each stream one after the other
    uint32_t active_count;              // workers of the step, of all streams
    struct worker **active;
};

// For a workspace that knows its alignment. False: not enough memory or threads, or a processor of --cpu that cannot be
// used; failure says which.
bool workers_create(struct workers *workers, const struct workspace *workspace, const struct options *options,
                    struct failure *failure);

// Prepares a step; the caller then sets the instants of workers->plan and starts it.
void workers_prepare_step(struct workers *workers, const struct result_key *key);
void workers_start_step(struct workers *workers);

// Ends the threads. None of them may be abandoned.
void workers_end(struct workers *workers);

#endif
