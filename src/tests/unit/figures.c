// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Distributions and stalls, compared with exact results from the same samples.
#include "figures/distribution.h"
#include "figures/evidence.h"
#include "figures/recorder.h"
#include "workload/payload.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 50000

void test_distribution_buckets(void) {
    CHECK(distribution_bucket(0) == 0 && distribution_bucket(255) == 255 && distribution_bucket(256) == 256);
    CHECK(distribution_bucket(DISTRIBUTION_MAX_NS) == DISTRIBUTION_BUCKETS - 1);
    CHECK(distribution_bucket(UINT64_MAX) == DISTRIBUTION_BUCKETS - 1);
    CHECK(distribution_upper_ns(DISTRIBUTION_BUCKETS - 1) == DISTRIBUTION_MAX_NS);
    CHECK(DISTRIBUTION_MAX_NS > UINT64_C(3600000000000));
    for (unsigned bucket = 0; bucket < DISTRIBUTION_BUCKETS; bucket++) {
        uint64_t lower = distribution_lower_ns(bucket), upper = distribution_upper_ns(bucket);
        CHECK(lower <= upper && distribution_bucket(lower) == bucket && distribution_bucket(upper) == bucket);
        CHECK((double)(upper - lower) <= 0.01 * (double)lower);
        CHECK(bucket == 0 || distribution_upper_ns(bucket - 1) + 1 == lower);
    }
}

void test_equal_operations(void) {
    static struct distribution one_by_one, at_once;
    distribution_clear(&one_by_one);
    distribution_clear(&at_once);
    for (uint64_t group = 0, ordinal = 1; group < 5; group++) {
        uint64_t ns = (group * 7919 + 13) % 5000;
        distribution_add_equal(&at_once, ns, ordinal, group + 1);
        for (uint64_t i = 0; i <= group; i++) {
            distribution_add(&one_by_one, ns, ordinal++);
        }
    }
    CHECK(memcmp(&one_by_one, &at_once, sizeof at_once) == 0);
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
    static struct distribution distribution;
    static const uint64_t quantiles_ppm[] = {500000, 900000, 990000, 999000, 999900, 999990};
    uint64_t state = 7 + shape;
    distribution_clear(&distribution);
    for (size_t i = 0; i < count; i++) {
        samples[i] = sample(shape, &state);
        distribution_add(&distribution, samples[i], i + 1);
    }
    qsort(samples, count, sizeof samples[0], ascending);
    for (size_t i = 0; i < sizeof quantiles_ppm / sizeof quantiles_ppm[0]; i++) {
        size_t rank = (size_t)ceil((double)count * (double)quantiles_ppm[i] / 1e6 - 1e-9);
        uint64_t exact = samples[(rank > 0 ? rank : 1) - 1];
        uint64_t told = 0;
        if (distribution_percentile_ns(&distribution, BY_COUNT, quantiles_ppm[i], &told)) {
            CHECK(told >= exact && (double)(told - exact) <= 0.01 * (double)exact);
        }
    }
    CHECK(distribution.min_ns == samples[0] && distribution.max_ns == samples[count - 1]);
}

void test_percentiles_against_sorting(void) {
    static const size_t counts[] = {1, 2, 3, 99, 100, 101, 1000, SAMPLES};
    for (int shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            check_percentiles((enum shape)shape, counts[i]);
        }
    }
}

// The counts above a threshold agree exactly with the percentiles, and are never too small.
static void check_over(enum shape shape) {
    static struct distribution distribution;
    static const uint64_t quantiles_ppm[] = {500000, 900000, 990000, 999000};
    uint64_t state = 7 + shape;
    distribution_clear(&distribution);
    for (size_t i = 0; i < SAMPLES; i++) {
        distribution_add(&distribution, sample(shape, &state), i + 1);
    }
    for (size_t i = 0; i < sizeof quantiles_ppm / sizeof quantiles_ppm[0]; i++) {
        uint64_t told = 0, allowed = SAMPLES - SAMPLES * quantiles_ppm[i] / 1000000;
        CHECK(distribution_percentile_ns(&distribution, BY_COUNT, quantiles_ppm[i], &told));
        CHECK(distribution_over(&distribution, told).count <= allowed);
        CHECK(distribution_over(&distribution, told - 1).count > allowed);
    }
    CHECK(distribution_over(&distribution, distribution.max_ns).count == 0);
    CHECK(distribution_over(&distribution, distribution.min_ns - 1).count == SAMPLES);
    double sum_ns = (double)distribution_over(&distribution, 0).sum_ns;
    CHECK(fabs(sum_ns - (double)distribution.sum_ns) <= 0.005 * (double)distribution.sum_ns);
}

void test_over(void) {
    static struct distribution distribution;
    check_over(CONSTANT);
    check_over(BIMODAL);
    check_over(HEAVY_TAILED);
    distribution_clear(&distribution);
    CHECK(distribution_over(&distribution, 0).count == 0);
    // 2 ms lies within a bucket, 1998848 to 2007039; the next bucket ends at 2015231.
    distribution_add(&distribution, 1998847, 1);
    distribution_add(&distribution, 1999000, 2);
    CHECK(distribution_over(&distribution, 2000000).count == 0);
    distribution_add(&distribution, 2000001, 3);
    distribution_add(&distribution, 2015231, 4);
    struct distribution_over over = distribution_over(&distribution, 2000000);
    CHECK(over.count == 3 && over.sum_ns == (2 * (UINT64_C(1998848) + 2007039) + 2007040 + 2015231) / 2);
    CHECK(distribution_over(&distribution, 1998847).count == 3 && distribution_over(&distribution, 1998846).count == 4);
    CHECK(distribution_over(&distribution, 2007039).count == 1 && distribution_over(&distribution, 2015230).count == 1);
}

// A duration above the range of the histogram (73 minutes).
void test_percentiles_of_hours(void) {
    static struct distribution distribution;
    uint64_t ns = 0;
    distribution_clear(&distribution);
    for (uint64_t i = 1; i <= 200; i++) {
        distribution_add(&distribution, DISTRIBUTION_MAX_NS + i, i);
    }
    CHECK(distribution_percentile_ns(&distribution, BY_COUNT, 500000, &ns) && ns >= distribution.min_ns &&
          ns <= distribution.max_ns);
    CHECK(distribution_percentile_ns(&distribution, BY_TIME, 990000, &ns) && ns == DISTRIBUTION_MAX_NS + 200);
}

void test_percentile_support(void) {
    static const struct { uint64_t ppm, least; } cases[] = {
        {500000, 2}, {900000, 10}, {990000, 100}, {999000, 1000}, {999900, 10000}, {999990, 100000}};
    static struct distribution distribution;
    uint64_t ns = 0;
    distribution_clear(&distribution);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        while (distribution.count < cases[i].least) {
            CHECK(!distribution_percentile_ns(&distribution, BY_COUNT, cases[i].ppm, &ns));
            CHECK(!distribution_percentile_ns(&distribution, BY_TIME, cases[i].ppm, &ns));
            distribution_add(&distribution, 7, distribution.count + 1);
        }
        CHECK(distribution_percentile_ns(&distribution, BY_COUNT, cases[i].ppm, &ns) && ns == 7);
    }
}

void test_merging(void) {
    static struct distribution parts[3], all, merged;
    uint64_t state = 99;
    distribution_clear(&all);
    distribution_clear(&merged);
    for (int i = 0; i < 3; i++) {
        distribution_clear(&parts[i]);
    }
    for (uint64_t i = 1; i <= 30000; i++) {
        uint64_t ns = sample(HEAVY_TAILED, &state);
        distribution_add(&all, ns, i);
        distribution_add(&parts[i % 3], ns, i);
    }
    for (int i = 0; i < 3; i++) {
        distribution_merge(&merged, &parts[i]);
    }
    CHECK(memcmp(merged.buckets, all.buckets, sizeof all.buckets) == 0);
    CHECK(merged.count == all.count && merged.sum_ns == all.sum_ns);
    CHECK(merged.sum_squares == all.sum_squares);
    CHECK(merged.min_ns == all.min_ns && merged.max_ns == all.max_ns);
    CHECK(merged.max_ordinal == all.max_ordinal);
    distribution_clear(&merged);
    static const struct distribution empty;
    CHECK(memcmp(merged.buckets, empty.buckets, sizeof empty.buckets) == 0 && merged.count == 0);
    distribution_merge(&merged, &merged);
    CHECK(merged.count == 0 && merged.min_ns == UINT64_MAX);
}

// 999 writes of 1 ms and one of 1 s: at a random instant, the long write is in progress half of the time.
void test_time_weighted(void) {
    static struct distribution distribution;
    uint64_t ns = 0;
    distribution_clear(&distribution);
    for (uint64_t i = 1; i <= 999; i++) {
        distribution_add(&distribution, 1000000, i);
    }
    distribution_add(&distribution, 1001000000, 1000);
    CHECK(distribution_percentile_ns(&distribution, BY_COUNT, 990000, &ns) && ns >= 1000000 && ns < 1010000);
    CHECK(distribution_percentile_ns(&distribution, BY_TIME, 990000, &ns) && ns == 1001000000);
    CHECK(distribution_percentile_ns(&distribution, BY_TIME, 500000, &ns));
    double mean = distribution_time_weighted_mean_ns(&distribution);
    CHECK(fabs(mean - (999 * 1e12 + 1001000000.0 * 1001000000.0) / (999e6 + 1001e6)) < 1);
}

void test_distribution_exact(void) {
    static struct distribution figures;
    distribution_clear(&figures);
    CHECK(figures.count == 0 && figures.min_ns == UINT64_MAX);
    distribution_add(&figures, 0, 1);
    CHECK(figures.max_ns == 0 && figures.max_ordinal == 1 && figures.min_ns == 0 && figures.min_ordinal == 1);
    distribution_add(&figures, 135300, 2);
    distribution_add(&figures, 135300, 3);
    CHECK(figures.sum_ns == 270600 && figures.max_ordinal == 2 && figures.min_ordinal == 1);
    CHECK(distribution_mean_ns(&figures) == 90200);
    distribution_clear(&figures);
    for (uint64_t i = 1; i <= 1000000; i++) {
        distribution_add(&figures, 135300 + i % 3, i);
    }
    CHECK(figures.sum_ns == UINT64_C(135300) * 1000000 + 333333 + 2 * UINT64_C(333333) + 1);
    CHECK(figures.min_ordinal == 3 && figures.max_ordinal == 2);
}

void test_distribution_deviation(void) {
    static struct distribution figures;
    distribution_clear(&figures);
    static const uint64_t samples[] = {2, 4, 4, 4, 5, 5, 7, 9};
    for (uint64_t i = 0; i < 8; i++) {
        distribution_add(&figures, samples[i], i + 1);
    }
    CHECK(fabs(distribution_deviation_ns(&figures) - 2) < 1e-12);
    // Durations of an hour plus or minus a nanosecond: a naive sum of squares in doubles would lose the difference.
    distribution_clear(&figures);
    for (uint64_t i = 1; i <= 1000; i++) {
        distribution_add(&figures, UINT64_C(3600000000000) + i % 2, i);
    }
    CHECK(fabs(distribution_deviation_ns(&figures) - 0.5) < 1e-9);
    distribution_clear(&figures);
    distribution_add(&figures, 42, 1);
    CHECK(distribution_deviation_ns(&figures) == 0);
}

void test_stalls(void) {
    struct stalls stalls = {0};
    for (uint64_t i = 1; i <= 100; i++) {
        struct stall stall = {.latency_ns = i * 37 % 101, .ordinal = i};
        stalls_insert(&stalls, &stall);
    }
    CHECK(stalls.count == STALLS_KEPT);
    for (size_t i = 0; i < STALLS_KEPT; i++) {
        CHECK(stalls.longest[i].latency_ns == 100 - i);
    }
    stalls_insert(&stalls, &(struct stall){.latency_ns = 5});
    CHECK(stalls.count == STALLS_KEPT && stalls.longest[STALLS_KEPT - 1].latency_ns == 91);
}

static bool is_near(double value, double expected) {
    return fabs(value - expected) <= 1e-9 * fabs(expected);
}

// The 99th percentile of one writer whose shortest write took 200 us. The expected values were computed with exact
// fractions and the same rule.
static const struct evidence_claim p99 = {.part = 1, .whole = 100, .writers = 1, .fastest_ns = 200000};

// Returns the evidence of a step with these seconds. block_s 0: the smallest over all blocks.
static double evidence_of(const struct evidence_claim *claim, const struct evidence_second *seconds, size_t count,
                          size_t planned_s, size_t block_s, size_t first_s) {
    static struct evidence_second running[300];
    memcpy(running, seconds, count * sizeof *seconds);
    evidence_add_up(running, count);
    const struct evidence_step step = {running, count, planned_s, 2500};
    return block_s > 0 ? evidence_of_blocks(claim, &step, block_s, first_s) : evidence_against(claim, &step);
}

void test_evidence(void) {
    static struct evidence_second seconds[300];
    for (size_t i = 0; i < 20; i++) {
        seconds[i] = (struct evidence_second){2500, 50};
    }
    CHECK(is_near(exp(evidence_of(&p99, seconds, 20, 20, 1, 0)), 556.072559827));
    CHECK(evidence_of(&p99, seconds, 20, 20, 0, 0) == evidence_of(&p99, seconds, 20, 20, 1, 0));
    CHECK(evidence_of(&p99, seconds, 20, 40, 0, 0) == -INFINITY);   // the rest is quick, so the share is allowed
    for (size_t i = 0; i < 20; i++) {
        seconds[i].over = 25;
    }
    CHECK(evidence_of(&p99, seconds, 20, 20, 0, 0) == -INFINITY);   // as many as the limit allows
    // Clusters of slow seconds: each cluster is only one piece of evidence, and only longer blocks show this.
    for (size_t i = 0; i < 300; i++) {
        bool slow = (i >= 100 && i < 115) || (i >= 180 && i < 195) || (i >= 250 && i < 265);
        seconds[i] = slow ? (struct evidence_second){880, 800} : (struct evidence_second){2500, 0};
    }
    double clustered = evidence_of(&p99, seconds, 300, 300, 8, 3);
    CHECK(is_near(exp(clustered), 41.4825333299));
    CHECK(evidence_of(&p99, seconds, 300, 300, 0, 0) <= clustered);
    CHECK(evidence_of(&p99, seconds, 300, 300, 1, 0) > 2 * evidence_of(&p99, seconds, 300, 300, 0, 0));
}

// All writes of 30 s were slow, and a step of 100 s goes on with quick ones.
void test_evidence_with_a_quick_rest(void) {
    static struct evidence_second seconds[100];
    for (size_t i = 0; i < 100; i++) {
        seconds[i] = i < 30 ? (struct evidence_second){800, 800} : (struct evidence_second){2500, 0};
    }
    for (size_t block_s = 1; block_s <= 4; block_s *= 2) {
        for (size_t first_s = 0; first_s < block_s; first_s++) {
            double whole = evidence_of(&p99, seconds, 100, 100, block_s, first_s);
            CHECK(fabs(evidence_of(&p99, seconds, 30, 100, block_s, first_s) - whole) < 1e-9);
        }
    }
    CHECK(is_near(evidence_of(&p99, seconds, 30, 100, 4, 2), 8.830467425016));
}

void test_evidence_that_a_claim_is_kept(void) {
    static struct evidence_second seconds[139];
    struct evidence_claim claim = p99;
    claim.threshold_ns = 1000000;
    for (size_t i = 0; i < 139; i++) {
        seconds[i] = (struct evidence_second){2500, 0};
    }
    CHECK(is_near(exp(evidence_for(&claim, seconds, 139)), 20.0911554796));
    CHECK(fabs(evidence_for(&claim, seconds, 138) - 2.97666324) < 1e-8);
    seconds[70].over = 25;                                          // as many as the limit allows
    CHECK(evidence_for(&claim, seconds, 139) < log(20.0911554796));
    seconds[70].over = 26;
    CHECK(evidence_for(&claim, seconds, 139) == -INFINITY);
    const struct evidence_claim of_time = {.part = 1, .whole = 100, .writers = 1, .threshold_ns = 1000000};
    for (size_t i = 0; i < 139; i++) {
        seconds[i] = (struct evidence_second){1000000000, 0};
    }
    CHECK(is_near(evidence_for(&of_time, seconds, 1), log(1 + (0.6 + 0.1 + 0.025 + 0.0125) / 99)));
}

void test_evidence_of_time(void) {
    static const uint64_t slow[] = {5, 13, 20, 28, 35, 42, 50, 57};
    const struct evidence_claim claim = {.part = 1, .whole = 100, .writers = 1};
    struct evidence_second seconds[60];
    for (size_t i = 0; i < 60; i++) {
        seconds[i] = (struct evidence_second){1000000000, 0};
    }
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
        seconds[slow[i] - 1].over = 400000000;
    }
    CHECK(is_near(exp(evidence_of(&claim, seconds, 60, 60, 1, 0)), 126.729980466));

    struct evidence_second late[] = {
        {1000000000, 0}, {800000000, 0}, {0, 0}, {0, 0}, {3200000000, 2500000000}};
    static const uint64_t moved[] = {0, 200000000, 1000000000, 1000000000, 300000000};
    evidence_move_back(late, 5, 1);
    for (size_t i = 0; i < 5; i++) {
        CHECK(late[i].total == 1000000000 && late[i].over == moved[i]);
    }
}
