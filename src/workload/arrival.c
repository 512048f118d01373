// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/workload.h"

#include <math.h>

const char *const arrival_names[] = {"closed", "even", "exponential", NULL};

uint64_t schedule_due_ns(const struct schedule *schedule, uint64_t n) {
    return schedule->origin_ns + (uint64_t)((uint128)n * NS_PER_S_IN_MICRO / schedule->rate_micro_per_s);
}

uint64_t schedule_due_before(const struct schedule *schedule, uint64_t instant_ns) {
    if (instant_ns <= schedule->origin_ns) {
        return 0;
    }
    uint128 scaled = (uint128)(instant_ns - schedule->origin_ns) * schedule->rate_micro_per_s;
    return (uint64_t)((scaled + NS_PER_S_IN_MICRO - 1) / NS_PER_S_IN_MICRO);
}

// Returns the sum of floor((factor * i + offset) / divisor) over i from 0 to count - 1, exactly, with as many steps as
// Euclid's algorithm needs for factor and divisor.
static uint128 sum_of_floors(uint128 count, uint128 factor, uint128 offset, uint128 divisor) {
    uint128 sum = 0;
    while (count > 0) {
        sum += count * (count - 1) / 2 * (factor / divisor) + count * (offset / divisor);
        factor %= divisor;
        offset %= divisor;
        uint128 reached = factor * count + offset;
        count = reached / divisor;
        offset = reached % divisor;
        uint128 swapped = factor;
        factor = divisor;
        divisor = swapped;              // 0 only if count is 0 as well
    }
    return sum;
}

// Returns how many of the operations from first to end - 1 have been due for at least the given time.
static uint64_t waiting_at_least(const struct schedule *schedule, uint64_t first, uint64_t end, uint64_t instant_ns,
                                 uint64_t wait_ns) {
    uint64_t before = wait_ns <= instant_ns ? schedule_due_before(schedule, instant_ns - wait_ns + 1) : 0;
    return before <= first ? 0 : (before < end ? before : end) - first;
}

void schedule_add_waits(const struct schedule *schedule, uint64_t first, uint64_t count, uint64_t instant_ns,
                        struct distribution *response) {
    if (count == 0) {
        return;
    }
    uint64_t longest_ns = instant_ns - schedule_due_ns(schedule, first);
    uint64_t shortest_ns = instant_ns - schedule_due_ns(schedule, first + count - 1);
    if (response->count == 0 || longest_ns > response->max_ns) {
        response->max_ns = longest_ns;
        response->max_ordinal = first + 1;
    }
    if (shortest_ns < response->min_ns) {
        response->min_ns = shortest_ns;
        response->min_ordinal = first + count;
    }
    response->count += count;
    distribution_add_sum(response, (uint128)(instant_ns - schedule->origin_ns) * count -
                                       sum_of_floors(count, NS_PER_S_IN_MICRO, (uint128)first * NS_PER_S_IN_MICRO,
                                                     schedule->rate_micro_per_s));
    uint64_t longer = 0;  // operations in longer buckets, which come first
    for (unsigned bucket = distribution_bucket(longest_ns) + 1; bucket-- > distribution_bucket(shortest_ns);) {
        uint64_t reached = waiting_at_least(schedule, first, first + count, instant_ns, distribution_lower_ns(bucket));
        response->buckets[bucket] += reached - longer;
        longer = reached;
    }
}

// Returns the gap between an operation, which is due at the given time after the origin, and the next one. It depends
// only on this time, so `next` is the whole state. The gap is never 0, so no two operations are due at the same time.
static uint64_t gap_ns(const struct arrival_plan *plan, uint64_t due_ns) {
    uint64_t state = plan->seed ^ due_ns;
    double uniform = ((double)(splitmix64(&state) >> 11) + 0.5) * 0x1p-53;
    double gap = -log(uniform) * (double)NS_PER_S_IN_MICRO / (double)plan->schedule.rate_micro_per_s;
    return gap < 1 ? 1 : (uint64_t)(gap + 0.5);
}

void arrival_start(struct arrival_plan *plan, enum arrival_process process, struct schedule schedule, uint64_t seed) {
    plan->process = process;
    plan->schedule = schedule;
    plan->seed = splitmix64(&seed);
    atomic_store(&plan->next, process == ARRIVAL_EXPONENTIAL ? gap_ns(plan, 0) : 0);
}

bool arrival_take(struct arrival_plan *plan, uint64_t before_ns, uint64_t *due_ns) {
    uint64_t next = atomic_load(&plan->next), after;
    do {
        bool even = plan->process == ARRIVAL_EVEN;
        *due_ns = even ? schedule_due_ns(&plan->schedule, next) : plan->schedule.origin_ns + next;
        if (*due_ns >= before_ns) {
            return false;
        }
        after = even ? next + 1 : next + gap_ns(plan, next);
    } while (!atomic_compare_exchange_weak(&plan->next, &next, after));
    return true;
}
