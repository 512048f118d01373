// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "figures/timeline.h"

#include "base/clock.h"

struct cut timeline_first(const struct timeline *timeline) {
    return (struct cut){.end_ns = timeline->start_ns};
}

struct cut timeline_next(const struct timeline *timeline, const struct cut *cut) {
    struct cut next = {.index = cut->index + 1, .second = cut->second, .batch = cut->batch};
    if (cut->index == 0 || cut->ends_second) {
        next.second++;
    }
    if (cut->index == 0 || cut->ends_batch) {
        next.batch++;
    }
    uint64_t second_end_ns = timeline->start_ns + next.second * NS_PER_S;
    uint64_t batch_end_ns = timeline->start_ns + timeline->duration_ns * next.batch / TIMELINE_BATCHES;
    bool batch_can_end = next.batch < TIMELINE_BATCHES;
    next.end_ns = batch_can_end && batch_end_ns < second_end_ns ? batch_end_ns : second_end_ns;
    next.ends_second = next.end_ns == second_end_ns;
    next.ends_batch = batch_can_end && next.end_ns == batch_end_ns;
    return next;
}
