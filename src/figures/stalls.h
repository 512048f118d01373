// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The ten longest operations of a step, longest first: when, where, how long. An operation must be longer than the
// last of them to be kept.
#pragma once

#include "base/standard.h"

#define STALLS_KEPT 10

struct stall {
    uint64_t latency_ns;
    uint64_t start_ns;              // of CLOCK_MONOTONIC
    uint64_t ordinal;               // of the worker in the step, from 1
    uint64_t offset_bytes;
    uint32_t file, worker;
    bool in_flight;                 // latency is the age of an operation that had not ended
};

struct stalls {
    size_t count;
    struct stall longest[STALLS_KEPT];
};

static inline void stalls_insert(struct stalls *stalls, const struct stall *stall) {
    if (stall->latency_ns <= stalls->longest[STALLS_KEPT - 1].latency_ns) {
        return;
    }
    size_t at = stalls->count < STALLS_KEPT ? stalls->count++ : STALLS_KEPT - 1;
    for (; at > 0 && stalls->longest[at - 1].latency_ns < stall->latency_ns; at--) {
        stalls->longest[at] = stalls->longest[at - 1];
    }
    stalls->longest[at] = *stall;
}
