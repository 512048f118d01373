// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The figures of one row: one operation of one worker of a stream in one step, or of all its workers together. It
// points to the distributions. The screen, the tables and mqldt's table are printed from it.
#pragma once

#include "measure/worker.h"

struct result {
    struct result_key key;
    uint64_t start_epoch_ns;            // start of the measured time
    uint64_t elapsed_ns;
    uint64_t bytes;
    double bytes_per_s, operations_per_s;               // 0 if nothing was measured
    bool has_intervals;                 // false if not even one whole second was measured
    uint64_t interval_bytes_max, interval_bytes_min;
    // bytes per second of a single worker in a second, as mqldt reports it
    uint64_t worker_second_max, worker_second_min;
    const struct distribution *latency, *flush, *response, *sizes;      // all except latency may be NULL
    uint64_t record_bytes;              // bytes of log records in the writes of those sizes
    double messages_per_s;              // messages in completed commits; NAN if there are no commits
    // the share of its time that the logger writes or waits for an acknowledgement; in the row of all workers, the mean
    // of all
    double utilisation_share;
                                        // loggers; NAN: there are no commits
    uint64_t max_ns, max_ordinal;       // ordinal 0 if there is none
    bool max_in_flight;                 // the maximum is the age of an operation that had not ended
    uint32_t min_worker, max_worker;
    double ring_passes;                 // NAN if the pattern has no passes
    // 0 operations: no first pass ended in the measured time
    uint64_t first_pass_operations, first_pass_sum_ns;
    uint64_t operations_not_started;        // open loop: were due in the measured time; their waits are in response
    uint64_t later_operations, later_sum_ns;                // after the first pass, for workers that completed it
    uint64_t start_skew_ns;             // from the planned start to the first write; for all workers, the latest
    bool has_rounds;                    // true if all five rounds ended and took at least 60 s
    double round_spread_share, round_slope_share, late_to_early_ratio;
    bool steady;
    bool counts_over, over_counted;     // whether over.csv counts these operations, and if so, all of them
};

struct result_key result_key_of(const struct stream_step *stream, enum operation operation);

struct result result_of_worker(const struct worker *worker, enum operation operation);

// All streams of --stream together, in workers->whole: stream and operation `all`. The result is valid until the next
// step. It has response figures only if every stream has an open loop.
struct result result_of_workload(const struct workers *workers);

// All workers of a stream together (stream->all). The result is valid until the next step.
struct result result_of_all(const struct stream_step *stream, enum operation operation);
