// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A distribution of durations in fixed memory. Count, sum, sum of squares (128 bits, so never rounded) and extremes are
// exact; each extreme is stored with the ordinal (from 1) of its operation, the earliest if there are several.
// Percentiles come from a log-linear histogram: exact below 256 ns, then 128 buckets per octave, so that the bounds of
// a bucket are within 1/128 (0.79 %) of each other, up to 2^42 ns (73 minutes). Anything longer counts in the last
// bucket. A distribution also records the sizes of writes, with bytes instead of nanoseconds.
#pragma once

#include "base/standard.h"

__extension__ typedef unsigned __int128 uint128;

#define DISTRIBUTION_BUCKETS 4608
#define DISTRIBUTION_MAX_NS ((UINT64_C(1) << 42) - 1)
#define DISTRIBUTION_SUM_MAX_NS ((uint64_t)INT64_MAX)   // 292 years; only operations that never started exceed it

struct distribution {
    uint64_t count;
    uint64_t sum_ns;
    uint128 sum_squares;
    uint64_t min_ns, min_ordinal;   // if count is 0, min_ns is UINT64_MAX and the others are undefined
    uint64_t max_ns, max_ordinal;
    uint64_t bytes;                 // bytes moved; maintained by the caller
    uint64_t response_sum_ns;       // for operations that were due at a rate; maintained by the caller
    uint64_t buckets[DISTRIBUTION_BUCKETS];
};

// The first and the last bucket that may be occupied, both inclusive.
struct bucket_range {
    unsigned first, last;
};

static inline unsigned distribution_bucket(uint64_t ns) {
    if (ns > DISTRIBUTION_MAX_NS) {
        ns = DISTRIBUTION_MAX_NS;
    }
    unsigned shift = 56 - (unsigned)__builtin_clzll(ns | 128);
    return (shift << 7) + (unsigned)(ns >> shift);
}

// The smallest and the greatest duration that a bucket counts, both inclusive.
uint64_t distribution_lower_ns(unsigned bucket);
uint64_t distribution_upper_ns(unsigned bucket);

static inline void distribution_add(struct distribution *distribution, uint64_t ns, uint64_t ordinal) {
    distribution->count++;
    distribution->sum_ns += ns;
    distribution->sum_squares += (uint128)ns * ns;
    if (__builtin_expect(ns < distribution->min_ns, 0)) {
        distribution->min_ns = ns;
        distribution->min_ordinal = ordinal;
    }
    if (__builtin_expect(ns > distribution->max_ns || distribution->max_ordinal == 0, 0)) {
        distribution->max_ns = ns;
        distribution->max_ordinal = ordinal;
    }
    distribution->buckets[distribution_bucket(ns)]++;
}

// Adds the given number of operations of one duration. `ordinal` is that of the first one.
static inline void distribution_add_equal(struct distribution *distribution, uint64_t ns, uint64_t ordinal,
                                          uint64_t count) {
    distribution_add(distribution, ns, ordinal);
    distribution->count += count - 1;
    distribution->sum_ns += ns * (count - 1);
    distribution->sum_squares += (uint128)ns * ns * (count - 1);
    distribution->buckets[distribution_bucket(ns)] += count - 1;
}

// Both functions visit only the occupied buckets, and do nothing for NULL. A distribution whose memory is all zeros
// (calloc) must be cleared before its first use.
void distribution_clear(struct distribution *distribution);
void distribution_merge(struct distribution *into, const struct distribution *from);

// Adds to the sum, which stops at DISTRIBUTION_SUM_MAX_NS.
void distribution_add_sum(struct distribution *distribution, uint128 ns);

// The following four functions require a count above 0.
double distribution_mean_ns(const struct distribution *distribution);
double distribution_deviation_ns(const struct distribution *distribution);      // population deviation (divided by n)
double distribution_time_weighted_mean_ns(const struct distribution *distribution);     // sum of squares / sum
struct bucket_range distribution_range(const struct distribution *distribution);

// Counts the durations above a threshold, which must be below DISTRIBUTION_MAX_NS. All operations in buckets whose
// upper bound is above the threshold are counted, but none if the maximum is not above it. Therefore, the share of
// durations above the threshold exceeds 1 - q exactly if the percentile q is above it. The sum of these durations is
// computed from the middles of their buckets.
struct distribution_over {
    uint64_t count, sum_ns;
};
struct distribution_over distribution_over(const struct distribution *distribution, uint64_t threshold_ns);

// The nearest-rank percentile; quantile_ppm is in millionths (990000 is p99). False if the count is too small, which
// means that less than one value would be expected above the percentile. BY_TIME weights each duration by itself. The
// result is what an application sees at a random instant.
enum weight { BY_COUNT, BY_TIME };
bool distribution_percentile_ns(const struct distribution *distribution, enum weight weight, uint64_t quantile_ppm,
                                uint64_t *ns);
