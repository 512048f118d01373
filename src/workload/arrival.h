// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The open loop's plan of one queue manager: write n (from 0, warm-up included) is due at origin + n / rate, rounded
// down to a nanosecond. All of it is arithmetic, so that the writes which a stall kept from starting can be told and
// counted after the step, however many they are, without a loop over them.
#ifndef LOGDISK_ARRIVAL_H
#define LOGDISK_ARRIVAL_H

#include "figures/series.h"

#include <stdint.h>

#define NS_A_SECOND_IN_MICRO UINT64_C(1000000000000000)

struct schedule {
    uint64_t origin_ns;                 // when write 0 is due
    uint64_t rate_micro_per_s;          // above 0
};

// How much later than the first queue manager's the intended starts of that one (from 1) lie: they are evenly shifted.
uint64_t schedule_shift_ns(uint64_t rate_micro_per_s, uint32_t queue_managers, uint32_t queue_manager);

uint64_t schedule_due_ns(const struct schedule *schedule, uint64_t n);

// How many writes are due before that instant.
uint64_t schedule_due_before(const struct schedule *schedule, uint64_t instant_ns);

// Enters how long writes first to first + count - 1 have been due at that instant, which is not before any of them: at
// least that is their response time. The sum of squares stays as it is: no figure of a response is made of it.
void schedule_add_waits(const struct schedule *schedule, uint64_t first, uint64_t count, uint64_t instant_ns,
                        struct series *response);

#endif
