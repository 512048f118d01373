// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The ten longest operations of a step, longest first: when, where, how long. The threshold tells in one comparison
// whether an operation belongs among them.
#ifndef LOGDISK_STALLS_H
#define LOGDISK_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    uint64_t threshold_ns;          // an operation must be longer to be kept
    size_t count;
    struct stall longest[STALLS_KEPT];
};

void stalls_insert(struct stalls *stalls, const struct stall *stall);

#endif
