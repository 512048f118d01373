// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A series of durations in full: exact figures and the histogram beside them.
#ifndef LOGDISK_SERIES_H
#define LOGDISK_SERIES_H

#include "figures/histogram.h"
#include "figures/statistics.h"

struct series {
    struct statistics statistics;
    struct histogram histogram;
};

static inline void series_add(struct series *series, uint64_t ns, uint64_t write) {
    statistics_add(&series->statistics, ns, write);
    series->histogram.counts[histogram_bucket(ns)]++;
}

void series_merge(struct series *into, const struct series *from);
// Clears only what is occupied; a series of zeros (calloc) has to be cleared once before its first use.
void series_clear(struct series *series);

// False where the count cannot support that percentile.
bool series_percentile_ns(const struct series *series, uint64_t quantile_ppm, uint64_t *ns);
bool series_time_weighted_percentile_ns(const struct series *series, uint64_t quantile_ppm, uint64_t *ns);

#endif
