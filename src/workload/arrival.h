// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// When operations are due. Closed loop: the next one after the one before has ended, and a pause. Open loop: operation
// n (from 0, warm-up included) is due at origin + n / rate, rounded down to a nanosecond. That plan is arithmetic, so
// the operations that a stall kept from starting can be counted after the step without a loop over them.
#pragma once

#include "figures/distribution.h"

#define NS_PER_S_IN_MICRO UINT64_C(1000000000000000)

// Of a stream.
struct arrival {
    uint64_t pause_ns;                  // closed loop: after each operation
    uint64_t rate_micro_per_s;          // open loop if above 0: operations per second of each worker, in millionths
};

// The plan of one worker.
struct schedule {
    uint64_t origin_ns;                 // when operation 0 is due
    uint64_t rate_micro_per_s;          // 0: closed loop; the functions below are for an open loop
};

uint64_t schedule_due_ns(const struct schedule *schedule, uint64_t n);

// How many operations are due before that instant.
uint64_t schedule_due_before(const struct schedule *schedule, uint64_t instant_ns);

// Adds how long operations first to first + count - 1 have been due at that instant, which is not before any of them:
// their response time is at least that. The sum of squares leaves them out: no figure of a response is made of it.
void schedule_add_waits(const struct schedule *schedule, uint64_t first, uint64_t count, uint64_t instant_ns,
                        struct distribution *response);
