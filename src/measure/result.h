// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The figures of one row: one queue manager in one step, or all of them together. A plain record that points to the
// series it was made of; screen, tables and mqldt's table all print from it.
#ifndef LOGDISK_RESULT_H
#define LOGDISK_RESULT_H

#include "figures/recorder.h"
#include "figures/series.h"
#include "figures/stalls.h"
#include "measure/worker.h"

#include <stdbool.h>
#include <stdint.h>

struct result {
    uint32_t step;                      // from 1
    uint64_t block_bytes;
    uint32_t queue_managers;
    uint32_t queue_manager;             // from 1; 0: all together
    uint64_t start_epoch_ns;            // of the measured time
    uint64_t elapsed_ns;
    uint64_t bytes;
    bool has_intervals;                 // false where no whole second was measured
    uint64_t interval_bytes_max, interval_bytes_min;
    const struct series *latency, *flush, *response;    // flush and response may be NULL
    uint32_t min_queue_manager, max_queue_manager;
    bool max_in_flight;                 // the maximum is the age of a write that had not ended: in_flight_max_ns
    uint64_t in_flight_max_ns, in_flight_write;
    double ring_passes;
    uint64_t first_pass_writes, first_pass_sum_ns;      // writes 0: no whole first pass within the measured time
    uint64_t writes_not_started;        // in an open loop: due in the measured time; response has their waiting
    uint64_t later_writes, later_sum_ns;                // after the first pass, of those that ended one
    uint64_t start_skew_ns;             // first write after the planned start; the latest of all
    bool has_rounds;                    // all five, and 60 s at least
    double round_spread_share, round_slope_share, late_to_early_ratio;
    bool steady;
};

// Room for the series of one row.
struct result_room {
    struct series latency, *flush, *response;       // the last two NULL where the run has none
};

// What the row says is good until the room is used again.
struct result result_of_writer(const struct writer *writer, uint32_t step, uint64_t start_epoch_ns,
                               struct result_room *room);

// The writers' together.
struct result result_of_all(const struct writer *writers, uint32_t count, uint32_t step, uint64_t start_epoch_ns,
                            const struct recorder *recorder, struct result_room *room);

// The age of the longest write that is in flight counts where it is above the maximum.
void result_note_in_flight(struct result *result, const struct stall *stall);

uint64_t result_max_ns(const struct result *result);
// Both are 0 where nothing was measured.
double result_bytes_per_s(const struct result *result);
double result_writes_per_s(const struct result *result);

#endif
