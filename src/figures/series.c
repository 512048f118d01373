// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "figures/series.h"

void series_merge(struct series *into, const struct series *from) {
    if (from->statistics.count > 0) {
        histogram_merge(&into->histogram, &from->histogram, statistics_range(&from->statistics));
        statistics_merge(&into->statistics, &from->statistics);
    }
}

void series_clear(struct series *series) {
    if (series->statistics.count > 0) {
        histogram_clear(&series->histogram, statistics_range(&series->statistics));
    }
    statistics_clear(&series->statistics);
}

// The last bucket has no upper bound but the maximum.
static uint64_t within(uint64_t upper_ns, const struct statistics *statistics) {
    return upper_ns < HISTOGRAM_MAX_NS && upper_ns < statistics->max_ns ? upper_ns : statistics->max_ns;
}

bool series_percentile_ns(const struct series *series, uint64_t quantile_ppm, uint64_t *ns) {
    const struct statistics *statistics = &series->statistics;
    if (!percentile_supported(statistics->count, quantile_ppm)) {
        return false;
    }
    *ns = within(histogram_percentile_ns(&series->histogram, statistics_range(statistics), statistics->count,
                                         quantile_ppm), statistics);
    return true;
}

bool series_time_weighted_percentile_ns(const struct series *series, uint64_t quantile_ppm, uint64_t *ns) {
    const struct statistics *statistics = &series->statistics;
    if (!percentile_supported(statistics->count, quantile_ppm)) {
        return false;
    }
    *ns = within(histogram_time_weighted_percentile_ns(&series->histogram, statistics_range(statistics), quantile_ppm),
                 statistics);
    return true;
}
