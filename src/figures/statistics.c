// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "figures/statistics.h"

#include <math.h>

void statistics_merge(struct statistics *into, const struct statistics *from) {
    if (from->count == 0) {
        return;
    }
    if (from->min_ns < into->min_ns) {
        into->min_ns = from->min_ns;
        into->min_write = from->min_write;
    }
    if (from->max_ns > into->max_ns || into->count == 0) {
        into->max_ns = from->max_ns;
        into->max_write = from->max_write;
    }
    into->count += from->count;
    uint64_t sum_ns = into->sum_ns + from->sum_ns;
    into->sum_ns = sum_ns < STATISTICS_SUM_MAX_NS ? sum_ns : STATISTICS_SUM_MAX_NS;
    into->sum_squares += from->sum_squares;
}

double statistics_mean_ns(const struct statistics *statistics) {
    return (double)statistics->sum_ns / (double)statistics->count;
}

// With the mean split into its whole part m and the rest r/n, the sum of (x-m)^2 is an integer below 2^128, so nothing
// is lost where the deviation is tiny beside the mean.
double statistics_deviation_ns(const struct statistics *statistics) {
    uint64_t whole = statistics->sum_ns / statistics->count;
    uint64_t rest = statistics->sum_ns % statistics->count;
    uint128 around_whole = statistics->sum_squares - (uint128)whole * ((uint128)statistics->sum_ns + rest);
    double fraction = (double)rest / (double)statistics->count;
    double variance = (double)around_whole / (double)statistics->count - fraction * fraction;
    return variance > 0 ? sqrt(variance) : 0;
}

double statistics_time_weighted_mean_ns(const struct statistics *statistics) {
    return statistics->sum_ns > 0 ? (double)statistics->sum_squares / (double)statistics->sum_ns : 0;
}

struct bucket_range statistics_range(const struct statistics *statistics) {
    return (struct bucket_range){histogram_bucket(statistics->min_ns), histogram_bucket(statistics->max_ns)};
}
