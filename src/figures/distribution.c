// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "figures/distribution.h"

#include <math.h>
#include <string.h>

#define PPM UINT64_C(1000000)

uint64_t distribution_lower_ns(unsigned bucket) {
    if (bucket < 256) {
        return bucket;
    }
    unsigned shift = bucket / 128 - 1;
    return (uint64_t)(bucket % 128 + 128) << shift;
}

uint64_t distribution_upper_ns(unsigned bucket) {
    return bucket + 1 < DISTRIBUTION_BUCKETS ? distribution_lower_ns(bucket + 1) - 1 : DISTRIBUTION_MAX_NS;
}

struct bucket_range distribution_range(const struct distribution *distribution) {
    return (struct bucket_range){distribution_bucket(distribution->min_ns), distribution_bucket(distribution->max_ns)};
}

void distribution_clear(struct distribution *distribution) {
    if (distribution->count > 0) {
        struct bucket_range range = distribution_range(distribution);
        memset(&distribution->buckets[range.first], 0, (range.last - range.first + 1) * sizeof distribution->buckets[0]);
    }
    distribution->count = 0;
    distribution->sum_ns = 0;
    distribution->sum_squares = 0;
    distribution->min_ns = UINT64_MAX;
    distribution->min_ordinal = 0;
    distribution->max_ns = 0;
    distribution->max_ordinal = 0;
}

void distribution_add_sum(struct distribution *distribution, uint128 ns) {
    uint128 sum_ns = distribution->sum_ns + ns;
    distribution->sum_ns = sum_ns < DISTRIBUTION_SUM_MAX_NS ? (uint64_t)sum_ns : DISTRIBUTION_SUM_MAX_NS;
}

void distribution_merge(struct distribution *into, const struct distribution *from) {
    if (from->count == 0) {
        return;
    }
    struct bucket_range range = distribution_range(from);
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        into->buckets[bucket] += from->buckets[bucket];
    }
    if (from->min_ns < into->min_ns) {
        into->min_ns = from->min_ns;
        into->min_ordinal = from->min_ordinal;
    }
    if (from->max_ns > into->max_ns || into->count == 0) {
        into->max_ns = from->max_ns;
        into->max_ordinal = from->max_ordinal;
    }
    into->count += from->count;
    distribution_add_sum(into, from->sum_ns);
    into->sum_squares += from->sum_squares;
}

double distribution_mean_ns(const struct distribution *distribution) {
    return (double)distribution->sum_ns / (double)distribution->count;
}

// With the mean split into its whole part m and the rest r/n, the sum of (x-m)^2 is an integer below 2^128, so nothing
// is lost if the deviation is tiny beside the mean.
double distribution_deviation_ns(const struct distribution *distribution) {
    uint64_t whole = distribution->sum_ns / distribution->count;
    uint64_t rest = distribution->sum_ns % distribution->count;
    uint128 around_whole = distribution->sum_squares - (uint128)whole * ((uint128)distribution->sum_ns + rest);
    double fraction = (double)rest / (double)distribution->count;
    double variance = (double)around_whole / (double)distribution->count - fraction * fraction;
    return variance > 0 ? sqrt(variance) : 0;
}

double distribution_time_weighted_mean_ns(const struct distribution *distribution) {
    return distribution->sum_ns > 0 ? (double)distribution->sum_squares / (double)distribution->sum_ns : 0;
}

static bool is_supported(uint64_t count, uint64_t quantile_ppm) {
    return count >= (PPM + (PPM - quantile_ppm) - 1) / (PPM - quantile_ppm);
}

// The upper bound of a bucket, but no more than the maximum. The last bucket has no other bound.
static uint64_t bound_ns(const struct distribution *distribution, unsigned bucket) {
    uint64_t upper_ns = distribution_upper_ns(bucket);
    return upper_ns < DISTRIBUTION_MAX_NS && upper_ns < distribution->max_ns ? upper_ns : distribution->max_ns;
}

// ceil(count x ppm / 10^6), without overflow for any count.
static uint64_t rank_of(uint64_t count, uint64_t quantile_ppm) {
    uint64_t rank = count / PPM * quantile_ppm + (count % PPM * quantile_ppm + PPM - 1) / PPM;
    return rank > 0 ? rank : 1;
}

bool distribution_percentile_ns(const struct distribution *distribution, uint64_t quantile_ppm, uint64_t *ns) {
    if (!is_supported(distribution->count, quantile_ppm)) {
        return false;
    }
    struct bucket_range range = distribution_range(distribution);
    uint64_t rank = rank_of(distribution->count, quantile_ppm);
    unsigned bucket = range.first;
    for (uint64_t seen = distribution->buckets[bucket]; seen < rank && bucket < range.last;) {
        seen += distribution->buckets[++bucket];
    }
    *ns = bound_ns(distribution, bucket);
    return true;
}

static double bucket_time_ns(const struct distribution *distribution, unsigned bucket) {
    double middle_ns = ((double)distribution_lower_ns(bucket) + (double)distribution_upper_ns(bucket)) / 2;
    return (double)distribution->buckets[bucket] * middle_ns;
}

struct distribution_over distribution_over(const struct distribution *distribution, uint64_t threshold_ns) {
    struct distribution_over over = {0};
    double sum_ns = 0;
    if (distribution->count == 0 || distribution->max_ns <= threshold_ns) {
        return over;
    }
    unsigned last = distribution_bucket(distribution->max_ns);
    for (unsigned bucket = distribution_bucket(threshold_ns + 1); bucket <= last; bucket++) {
        over.count += distribution->buckets[bucket];
        sum_ns += bucket_time_ns(distribution, bucket);
    }
    over.sum_ns = (uint64_t)sum_ns;
    return over;
}

bool distribution_time_weighted_percentile_ns(const struct distribution *distribution, uint64_t quantile_ppm,
                                              uint64_t *ns) {
    if (!is_supported(distribution->count, quantile_ppm)) {
        return false;
    }
    struct bucket_range range = distribution_range(distribution);
    double total_ns = 0;
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        total_ns += bucket_time_ns(distribution, bucket);
    }
    double wanted_ns = total_ns * (double)quantile_ppm / (double)PPM;
    unsigned bucket = range.first;
    for (double seen_ns = bucket_time_ns(distribution, bucket); seen_ns < wanted_ns && bucket < range.last;) {
        seen_ns += bucket_time_ns(distribution, ++bucket);
    }
    *ns = bound_ns(distribution, bucket);
    return true;
}
