// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A log-linear histogram of nanoseconds in fixed memory: exact below 256 ns, then 128 buckets an octave, so that a
// bucket's bounds lie within 1/128 (0.79 %) of each other, up to 2^42 ns (73 minutes); what is longer counts in the
// last bucket. Who needs exact extremes keeps them beside it (statistics.h).
#ifndef LOGDISK_HISTOGRAM_H
#define LOGDISK_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS 4608
#define HISTOGRAM_MAX_NS ((UINT64_C(1) << 42) - 1)

struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_bucket(uint64_t ns) {
    if (ns > HISTOGRAM_MAX_NS) {
        ns = HISTOGRAM_MAX_NS;
    }
    unsigned shift = 56 - (unsigned)__builtin_clzll(ns | 128);
    return (shift << 7) + (unsigned)(ns >> shift);
}

// The smallest and the greatest value that a bucket counts, both inclusive.
uint64_t histogram_lower_ns(unsigned bucket);
uint64_t histogram_upper_ns(unsigned bucket);

// Buckets first..last (inclusive) are those that may be occupied: what the exact minimum and maximum say.
struct bucket_range {
    unsigned first, last;
};

// The nearest-rank percentile as its bucket's upper bound; quantile_ppm in millionths (990000 is p99); count is the sum
// of all counts and not 0. The caller cuts the answer to the exact maximum.
uint64_t histogram_percentile_ns(const struct histogram *histogram, struct bucket_range range, uint64_t count,
                                 uint64_t quantile_ppm);

// The same with each value weighted by itself: what a random instant spent in writing sees.
uint64_t histogram_time_weighted_percentile_ns(const struct histogram *histogram, struct bucket_range range,
                                               uint64_t quantile_ppm);

// True where at least one of count values is expected to lie above that quantile; else the claim has no support.
bool percentile_supported(uint64_t count, uint64_t quantile_ppm);

void histogram_merge(struct histogram *into, const struct histogram *from, struct bucket_range range);
void histogram_clear(struct histogram *histogram, struct bucket_range range);

#endif
