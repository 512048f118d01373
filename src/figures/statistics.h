// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Exact figures of a series of durations: count, sum, sum of squares (128 bits, so never rounded), extremes and the
// ordinal (from 1) of the write that had them. Extremes of equal length belong to the earliest write.
#ifndef LOGDISK_STATISTICS_H
#define LOGDISK_STATISTICS_H

#include "figures/histogram.h"

#include <stdint.h>

__extension__ typedef unsigned __int128 uint128;

#define STATISTICS_SUM_MAX_NS ((uint64_t)INT64_MAX)      // 292 years: only writes that never started add up to more

struct statistics {
    uint64_t count;
    uint64_t sum_ns;
    uint128 sum_squares;
    uint64_t min_ns, min_write;     // undefined while count is 0; min_ns is then UINT64_MAX
    uint64_t max_ns, max_write;
};

static inline void statistics_clear(struct statistics *statistics) {
    *statistics = (struct statistics){.min_ns = UINT64_MAX};
}

static inline void statistics_add(struct statistics *statistics, uint64_t ns, uint64_t write) {
    statistics->count++;
    statistics->sum_ns += ns;
    statistics->sum_squares += (uint128)ns * ns;
    if (__builtin_expect(ns < statistics->min_ns, 0)) {
        statistics->min_ns = ns;
        statistics->min_write = write;
    }
    if (__builtin_expect(ns > statistics->max_ns || statistics->max_write == 0, 0)) {
        statistics->max_ns = ns;
        statistics->max_write = write;
    }
}

void statistics_merge(struct statistics *into, const struct statistics *from);

// All of these want a count above 0.
double statistics_mean_ns(const struct statistics *statistics);
double statistics_deviation_ns(const struct statistics *statistics);            // of the population: divided by n
double statistics_time_weighted_mean_ns(const struct statistics *statistics);   // sum of squares / sum
struct bucket_range statistics_range(const struct statistics *statistics);

#endif
