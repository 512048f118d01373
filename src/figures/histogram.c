// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "figures/histogram.h"

#include <string.h>

#define PPM UINT64_C(1000000)

uint64_t histogram_lower_ns(unsigned bucket) {
    if (bucket < 256) {
        return bucket;
    }
    unsigned shift = bucket / 128 - 1;
    return (uint64_t)(bucket % 128 + 128) << shift;
}

uint64_t histogram_upper_ns(unsigned bucket) {
    return bucket + 1 < HISTOGRAM_BUCKETS ? histogram_lower_ns(bucket + 1) - 1 : HISTOGRAM_MAX_NS;
}

// ceil(count x ppm / 10^6), without overflow for any count.
static uint64_t rank_of(uint64_t count, uint64_t quantile_ppm) {
    uint64_t rank = count / PPM * quantile_ppm + (count % PPM * quantile_ppm + PPM - 1) / PPM;
    return rank > 0 ? rank : 1;
}

uint64_t histogram_percentile_ns(const struct histogram *histogram, struct bucket_range range, uint64_t count,
                                 uint64_t quantile_ppm) {
    uint64_t rank = rank_of(count, quantile_ppm);
    uint64_t seen = 0;
    for (unsigned bucket = range.first; bucket < range.last; bucket++) {
        seen += histogram->counts[bucket];
        if (seen >= rank) {
            return histogram_upper_ns(bucket);
        }
    }
    return histogram_upper_ns(range.last);
}

static double bucket_time_ns(const struct histogram *histogram, unsigned bucket) {
    double middle_ns = ((double)histogram_lower_ns(bucket) + (double)histogram_upper_ns(bucket)) / 2;
    return (double)histogram->counts[bucket] * middle_ns;
}

uint64_t histogram_time_weighted_percentile_ns(const struct histogram *histogram, struct bucket_range range,
                                               uint64_t quantile_ppm) {
    double total_ns = 0;
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        total_ns += bucket_time_ns(histogram, bucket);
    }
    double wanted_ns = total_ns * (double)quantile_ppm / (double)PPM;
    double seen_ns = 0;
    for (unsigned bucket = range.first; bucket < range.last; bucket++) {
        seen_ns += bucket_time_ns(histogram, bucket);
        if (histogram->counts[bucket] > 0 && seen_ns >= wanted_ns) {
            return histogram_upper_ns(bucket);
        }
    }
    return histogram_upper_ns(range.last);
}

bool percentile_supported(uint64_t count, uint64_t quantile_ppm) {
    return count >= (PPM + (PPM - quantile_ppm) - 1) / (PPM - quantile_ppm);
}

void histogram_merge(struct histogram *into, const struct histogram *from, struct bucket_range range) {
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        into->counts[bucket] += from->counts[bucket];
    }
}

void histogram_clear(struct histogram *histogram, struct bucket_range range) {
    memset(&histogram->counts[range.first], 0, (range.last - range.first + 1) * sizeof histogram->counts[0]);
}
