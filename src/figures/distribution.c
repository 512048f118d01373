// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures/distribution.h"

#include <math.h>

#define PPM UINT64_C(1000000)

uint64_t distribution_lower_ns(unsigned bucket) {
    if (bucket < 256) {
        return bucket;
    }
    unsigned shift = bucket / 128 - 1;
    return (uint64_t)(bucket % 128 + 128) << shift;
}

uint64_t distribution_upper_ns(unsigned bucket) {
    return distribution_lower_ns(bucket + 1) - 1;
}

struct bucket_range distribution_range(const struct distribution *distribution) {
    return (struct bucket_range){distribution_bucket(distribution->min_ns), distribution_bucket(distribution->max_ns)};
}

void distribution_clear(struct distribution *distribution) {
    if (distribution == NULL) {
        return;
    }
    if (distribution->count > 0) {
        struct bucket_range range = distribution_range(distribution);
        memset(&distribution->buckets[range.first], 0,
               (range.last - range.first + 1) * sizeof distribution->buckets[0]);
    }
    memset(distribution, 0, offsetof(struct distribution, buckets));
    distribution->min_ns = UINT64_MAX;
}

void distribution_add_sum(struct distribution *distribution, uint128 ns) {
    uint128 sum_ns = distribution->sum_ns + ns;
    distribution->sum_ns = sum_ns < DISTRIBUTION_SUM_MAX_NS ? (uint64_t)sum_ns : DISTRIBUTION_SUM_MAX_NS;
}

void distribution_merge(struct distribution *into, const struct distribution *from) {
    if (into == NULL || from->count == 0) {
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
    into->bytes += from->bytes;
    into->response_sum_ns += from->response_sum_ns;
    distribution_add_sum(into, from->sum_ns);
    into->sum_squares += from->sum_squares;
}

double distribution_mean_ns(const struct distribution *distribution) {
    return (double)distribution->sum_ns / (double)distribution->count;
}

// The mean is split into its whole part m and the rest r/n. The sum of (x-m)^2 is then an integer below 2^128, so no
// precision is lost if the deviation is tiny compared with the mean.
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

// Returns the number of operations in a bucket, or twice the time that they took (doubled to be a whole number).
static uint128 bucket_weight(const struct distribution *distribution, unsigned bucket, enum weight weight) {
    uint64_t each = weight == BY_TIME ? distribution_lower_ns(bucket) + distribution_upper_ns(bucket) : 1;
    return (uint128)distribution->buckets[bucket] * each;
}

bool distribution_percentile_ns(const struct distribution *distribution, enum weight weight, uint64_t quantile_ppm,
                                uint64_t *ns) {
    if ((uint128)distribution->count * (PPM - quantile_ppm) < PPM) {
        return false;
    }
    struct bucket_range range = distribution_range(distribution);
    uint128 total = 0, seen = 0;
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        total += bucket_weight(distribution, bucket, weight);
    }
    unsigned bucket = range.first;
    while (bucket < range.last && (seen += bucket_weight(distribution, bucket, weight)) * PPM < total * quantile_ppm) {
        bucket++;
    }
    *ns = bucket < range.last ? distribution_upper_ns(bucket) : distribution->max_ns;
    return true;
}

struct distribution_over distribution_over(const struct distribution *distribution, uint64_t threshold_ns) {
    struct distribution_over over = {0};
    uint128 twice_sum_ns = 0;
    if (distribution->count == 0 || distribution->max_ns <= threshold_ns) {
        return over;
    }
    unsigned last = distribution_bucket(distribution->max_ns);
    for (unsigned bucket = distribution_bucket(threshold_ns + 1); bucket <= last; bucket++) {
        over.count += distribution->buckets[bucket];
        twice_sum_ns += bucket_weight(distribution, bucket, BY_TIME);
    }
    over.sum_ns = (uint64_t)(twice_sum_ns / 2);
    return over;
}
