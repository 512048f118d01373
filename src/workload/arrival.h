// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// When operations are due. Closed loop: the next one after the one before has ended, and a pause. Open loop: operation
// n (from 0, warm-up included) is due at origin + n / rate, rounded down to a nanosecond. That plan is arithmetic, so
// the operations that a stall kept from starting can be counted after the step without a loop over them.
#ifndef LOGDISK_ARRIVAL_H
#define LOGDISK_ARRIVAL_H

#include "figures/distribution.h"

#include <stdint.h>

#define NS_PER_S_IN_MICRO UINT64_C(1000000000000000)

// Of a stream.
struct arrival {
    uint64_t pause_ns;                  // closed loop: after each operation
    uint64_t rate_micro_per_s;          // open loop if above 0: operations per second of each worker, in millionths
};

// The open loop's plan of one worker.
struct schedule {
    uint64_t origin_ns;                 // when operation 0 is due
    uint64_t rate_micro_per_s;          // above 0
};

// The workers' plans are evenly shifted against each other: by how much that of a worker (from 1) is.
uint64_t schedule_shift_ns(uint64_t rate_micro_per_s, uint32_t workers, uint32_t worker);

uint64_t schedule_due_ns(const struct schedule *schedule, uint64_t n);

// How many operations are due before that instant.
uint64_t schedule_due_before(const struct schedule *schedule, uint64_t instant_ns);

// Adds how long operations first to first + count - 1 have been due at that instant, which is not before any of them:
// their response time is at least that. The sum of squares leaves them out: no figure of a response is made of it.
void schedule_add_waits(const struct schedule *schedule, uint64_t first, uint64_t count, uint64_t instant_ns,
                        struct distribution *response);

// When the next operation of a worker is due.
struct next_arrival {
    uint64_t due_ns;                    // 0: at once
    uint64_t pause_ns, rate_micro_per_s;
    uint64_t interval_ns, interval_rest, rest;          // the rest in 1/rate_micro_per_s of a nanosecond
};

static inline struct next_arrival arrival_start(const struct arrival *arrival, uint64_t origin_ns) {
    struct next_arrival next = {.pause_ns = arrival->pause_ns, .rate_micro_per_s = arrival->rate_micro_per_s};
    if (arrival->rate_micro_per_s > 0) {
        next.interval_ns = NS_PER_S_IN_MICRO / arrival->rate_micro_per_s;
        next.interval_rest = NS_PER_S_IN_MICRO % arrival->rate_micro_per_s;
        next.due_ns = origin_ns;
    }
    return next;
}

static inline void arrival_advance(struct next_arrival *next, uint64_t end_ns) {
    if (next->rate_micro_per_s > 0) {
        next->due_ns += next->interval_ns;
        next->rest += next->interval_rest;
        if (next->rest >= next->rate_micro_per_s) {
            next->rest -= next->rate_micro_per_s;
            next->due_ns++;
        }
    } else if (next->pause_ns > 0) {
        next->due_ns = end_ns + next->pause_ns;
    }
}

#endif
