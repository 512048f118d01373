// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Histogram, statistics, series and stalls, against exact answers from the same samples.
#include "base/platform.h"

#include "workload/payload.h"
#include "figures/series.h"
#include "figures/stalls.h"
#include "figures/tally.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 50000

void test_histogram_buckets(void) {
    CHECK(histogram_bucket(0) == 0 && histogram_bucket(255) == 255 && histogram_bucket(256) == 256);
    CHECK(histogram_bucket(HISTOGRAM_MAX_NS) == HISTOGRAM_BUCKETS - 1);
    CHECK(histogram_bucket(UINT64_MAX) == HISTOGRAM_BUCKETS - 1);
    CHECK(histogram_upper_ns(HISTOGRAM_BUCKETS - 1) == HISTOGRAM_MAX_NS);
    CHECK(HISTOGRAM_MAX_NS > UINT64_C(3600000000000));
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        uint64_t lower = histogram_lower_ns(bucket), upper = histogram_upper_ns(bucket);
        CHECK(lower <= upper && histogram_bucket(lower) == bucket && histogram_bucket(upper) == bucket);
        CHECK((double)(upper - lower) <= 0.01 * (double)lower);
        CHECK(bucket == 0 || histogram_upper_ns(bucket - 1) + 1 == lower);
    }
}

enum shape { CONSTANT, BIMODAL, HEAVY_TAILED, UNIFORM, TINY, SHAPES };

static uint64_t sample(enum shape shape, uint64_t *state) {
    uint64_t random = splitmix64(state);
    double share = (double)(random >> 11) / 9007199254740992.0;
    switch (shape) {
    case CONSTANT: return 123456;
    case BIMODAL: return share < 0.985 ? 90000 + random % 1000 : 40000000 + random % 100000;
    case HEAVY_TAILED: return (uint64_t)(20000 / pow(1 - share, 0.9));
    case UNIFORM: return random % UINT64_C(4000000000000);
    default: return random % 300;
    }
}

static int ascending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void check_percentiles(enum shape shape, size_t count) {
    static uint64_t samples[SAMPLES];
    static struct series series;
    static const uint64_t quantiles_ppm[] = {500000, 900000, 990000, 999000, 999900, 999990};
    uint64_t state = 7 + shape;
    series_clear(&series);
    for (size_t i = 0; i < count; i++) {
        samples[i] = sample(shape, &state);
        series_add(&series, samples[i], i + 1);
    }
    qsort(samples, count, sizeof samples[0], ascending);
    for (size_t i = 0; i < sizeof quantiles_ppm / sizeof quantiles_ppm[0]; i++) {
        size_t rank = (size_t)ceil((double)count * (double)quantiles_ppm[i] / 1e6 - 1e-9);
        uint64_t exact = samples[(rank > 0 ? rank : 1) - 1];
        uint64_t told = histogram_percentile_ns(&series.histogram, statistics_range(&series.statistics), count,
                                                quantiles_ppm[i]);
        told = told < series.statistics.max_ns ? told : series.statistics.max_ns;
        CHECK(told >= exact && (double)(told - exact) <= 0.01 * (double)exact);
        uint64_t given = 0;
        bool supported = percentile_supported(count, quantiles_ppm[i]);
        CHECK(series_percentile_ns(&series, quantiles_ppm[i], &given) == supported);
        CHECK(given == (supported ? told : 0));
    }
    CHECK(series.statistics.min_ns == samples[0] && series.statistics.max_ns == samples[count - 1]);
}

void test_percentiles_against_sorting(void) {
    static const size_t counts[] = {1, 2, 3, 99, 100, 101, 1000, SAMPLES};
    for (int shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            check_percentiles((enum shape)shape, counts[i]);
        }
    }
}

// Longer than the histogram counts, which is 73 minutes.
void test_percentiles_of_hours(void) {
    static struct series series;
    uint64_t ns = 0;
    series_clear(&series);
    for (uint64_t i = 1; i <= 200; i++) {
        series_add(&series, HISTOGRAM_MAX_NS + i, i);
    }
    CHECK(series_percentile_ns(&series, 500000, &ns) && ns >= series.statistics.min_ns && ns <= series.statistics.max_ns);
    CHECK(series_time_weighted_percentile_ns(&series, 990000, &ns) && ns == HISTOGRAM_MAX_NS + 200);
}

void test_percentile_support(void) {
    static const struct { uint64_t ppm, least; } cases[] = {
        {500000, 2}, {900000, 10}, {990000, 100}, {999000, 1000}, {999900, 10000}, {999990, 100000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK(percentile_supported(cases[i].least, cases[i].ppm));
        CHECK(!percentile_supported(cases[i].least - 1, cases[i].ppm));
    }
}

void test_merging(void) {
    static struct series parts[3], all, merged;
    uint64_t state = 99;
    series_clear(&all);
    series_clear(&merged);
    for (int i = 0; i < 3; i++) {
        series_clear(&parts[i]);
    }
    for (uint64_t i = 1; i <= 30000; i++) {
        uint64_t ns = sample(HEAVY_TAILED, &state);
        series_add(&all, ns, i);
        series_add(&parts[i % 3], ns, i);
    }
    for (int i = 0; i < 3; i++) {
        series_merge(&merged, &parts[i]);
    }
    CHECK(memcmp(&merged.histogram, &all.histogram, sizeof all.histogram) == 0);
    CHECK(merged.statistics.count == all.statistics.count && merged.statistics.sum_ns == all.statistics.sum_ns);
    CHECK(merged.statistics.sum_squares == all.statistics.sum_squares);
    CHECK(merged.statistics.min_ns == all.statistics.min_ns && merged.statistics.max_ns == all.statistics.max_ns);
    CHECK(merged.statistics.max_write == all.statistics.max_write);
    series_clear(&merged);
    static const struct histogram empty;
    CHECK(memcmp(&merged.histogram, &empty, sizeof empty) == 0 && merged.statistics.count == 0);
    series_merge(&merged, &merged);
    CHECK(merged.statistics.count == 0 && merged.statistics.min_ns == UINT64_MAX);
}

// A bucket that counts beyond 32 bits loses nothing, by addition, by merging, and by merging what has carried before.
void test_tally(void) {
    static struct tally part, sum;
    static struct series series;
    tally_clear(&part);
    tally_clear(&sum);
    series_clear(&series);
    tally_add(&part, 700, 1);
    part.counts[histogram_bucket(700)] = UINT32_MAX - 1;
    part.statistics.count = UINT32_MAX - 1;
    tally_add(&part, 700, 2);
    CHECK(part.carries == 0);
    tally_add(&part, 700, 3);
    CHECK(part.carries == 1 && part.counts[histogram_bucket(700)] == 0);
    tally_add(&part, 900, 4);
    for (int i = 0; i < 3; i++) {
        tally_merge(&sum, &part);
    }
    sum.counts[histogram_bucket(900)] = UINT32_MAX;
    tally_merge(&sum, &part);
    CHECK(sum.carries == 2);
    tally_add_to(&sum, &series);
    CHECK(series.histogram.counts[histogram_bucket(700)] == UINT64_C(4) << 32);
    CHECK(series.histogram.counts[histogram_bucket(900)] == UINT64_C(1) << 32);
    tally_clear(&sum);
    tally_add_to(&sum, &series);
    CHECK(sum.carries == 0 && series.histogram.counts[histogram_bucket(700)] == UINT64_C(4) << 32);
    for (unsigned bucket = 0; bucket < TALLY_CARRIES + 5; bucket++) {
        tally_carry(&sum, bucket);
    }
    CHECK(sum.carries == TALLY_CARRIES);
}

// 999 writes of 1 ms and one of 1 s: a random instant sees the long one half of the time.
void test_time_weighted(void) {
    static struct series series;
    uint64_t ns = 0;
    series_clear(&series);
    for (uint64_t i = 1; i <= 999; i++) {
        series_add(&series, 1000000, i);
    }
    series_add(&series, 1001000000, 1000);
    CHECK(series_percentile_ns(&series, 990000, &ns) && ns >= 1000000 && ns < 1010000);
    CHECK(series_time_weighted_percentile_ns(&series, 990000, &ns) && ns == 1001000000);
    CHECK(series_time_weighted_percentile_ns(&series, 500000, &ns));
    double mean = statistics_time_weighted_mean_ns(&series.statistics);
    CHECK(fabs(mean - (999 * 1e12 + 1001000000.0 * 1001000000.0) / (999e6 + 1001e6)) < 1);
}

void test_statistics_exact(void) {
    struct statistics figures;
    statistics_clear(&figures);
    CHECK(figures.count == 0 && figures.min_ns == UINT64_MAX);
    statistics_add(&figures, 0, 1);
    CHECK(figures.max_ns == 0 && figures.max_write == 1 && figures.min_ns == 0 && figures.min_write == 1);
    statistics_add(&figures, 135300, 2);
    statistics_add(&figures, 135300, 3);
    CHECK(figures.sum_ns == 270600 && figures.max_write == 2 && figures.min_write == 1);
    CHECK(statistics_mean_ns(&figures) == 90200);
    statistics_clear(&figures);
    for (uint64_t i = 1; i <= 1000000; i++) {
        statistics_add(&figures, 135300 + i % 3, i);
    }
    CHECK(figures.sum_ns == UINT64_C(135300) * 1000000 + 333333 + 2 * UINT64_C(333333) + 1);
    CHECK(figures.min_write == 3 && figures.max_write == 2);
}

void test_statistics_deviation(void) {
    struct statistics figures;
    statistics_clear(&figures);
    static const uint64_t samples[] = {2, 4, 4, 4, 5, 5, 7, 9};
    for (uint64_t i = 0; i < 8; i++) {
        statistics_add(&figures, samples[i], i + 1);
    }
    CHECK(fabs(statistics_deviation_ns(&figures) - 2) < 1e-12);
    // An hour give or take a nanosecond: a naive sum of squares in doubles would lose it.
    statistics_clear(&figures);
    for (uint64_t i = 1; i <= 1000; i++) {
        statistics_add(&figures, UINT64_C(3600000000000) + i % 2, i);
    }
    CHECK(fabs(statistics_deviation_ns(&figures) - 0.5) < 1e-9);
    statistics_clear(&figures);
    statistics_add(&figures, 42, 1);
    CHECK(statistics_deviation_ns(&figures) == 0);
}

void test_stalls(void) {
    struct stalls stalls = {0};
    for (uint64_t i = 1; i <= 100; i++) {
        struct stall stall = {.latency_ns = i * 37 % 101, .write = i};
        if (stall.latency_ns > stalls.threshold_ns) {
            stalls_insert(&stalls, &stall);
        }
    }
    CHECK(stalls.count == STALLS_KEPT);
    for (size_t i = 0; i < STALLS_KEPT; i++) {
        CHECK(stalls.longest[i].latency_ns == 100 - i);
    }
    CHECK(stalls.threshold_ns == 91);
    stalls_insert(&stalls, &(struct stall){.latency_ns = 5});
    CHECK(stalls.count == STALLS_KEPT && stalls.longest[STALLS_KEPT - 1].latency_ns == 91);
}
