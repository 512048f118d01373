// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The cuts of a step. Whole seconds and the 30 equal batches of the measured time are cut out of one time line, so
// that every stretch between two cuts (a "slot") belongs to exactly one second and one batch. Cut 0 is the warm-up,
// which ends when the measured time begins; after the measured time only seconds cut, and batch 30 continues.
// Pure arithmetic; all instants are nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include "base/clock.h"

#define TIMELINE_BATCHES 30
#define TIMELINE_ROUNDS 5
#define TIMELINE_BATCHES_A_ROUND (TIMELINE_BATCHES / TIMELINE_ROUNDS)

struct timeline {
    uint64_t start_ns;          // of the measured time: the end of the warm-up
    uint64_t duration_ns;
};

struct cut {
    uint32_t index;             // 0 is the warm-up
    uint32_t second, batch;     // from 1; 0 in the warm-up
    uint64_t end_ns;            // the first instant that no longer belongs to the slot
    bool ends_second, ends_batch;
};

static inline struct cut timeline_first(const struct timeline *timeline) {
    return (struct cut){.end_ns = timeline->start_ns};
}

static inline struct cut timeline_next(const struct timeline *timeline, const struct cut *cut) {
    struct cut next = {.index = cut->index + 1,
                       .second = cut->second + (cut->index == 0 || cut->ends_second),
                       .batch = cut->batch + (cut->index == 0 || cut->ends_batch)};
    uint64_t second_end_ns = timeline->start_ns + next.second * NS_PER_S;
    uint64_t batch_end_ns = timeline->start_ns + timeline->duration_ns * next.batch / TIMELINE_BATCHES;
    bool batch_can_end = next.batch < TIMELINE_BATCHES;
    next.end_ns = batch_can_end && batch_end_ns < second_end_ns ? batch_end_ns : second_end_ns;
    next.ends_second = next.end_ns == second_end_ns;
    next.ends_batch = batch_can_end && next.end_ns == batch_end_ns;
    return next;
}
