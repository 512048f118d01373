// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Limits that end a step: how they are parsed, which steps they apply to, and after which second they end a step.
#include "measure/early_end.h"
#include "check.h"

#include <stdlib.h>

static struct options options = {.fail_odds = 20, .pass_odds = 20, .files = 4, .file_bytes = 1 << 20};

static bool open_limits(struct early_end *early_end, uint64_t duration_s, const char *const limits[], size_t count) {
    struct failure failure = {0};
    memset(early_end, 0, sizeof *early_end);
    options.duration_s = duration_s;
    options.fail_above.count = count;
    memcpy(options.fail_above.values, limits, count * sizeof *limits);
    return early_end_open(early_end, &options, &failure);
}

static void close_limits(struct early_end *early_end) {
    for (size_t i = 0; i < early_end->count; i++) {
        free(early_end->limits[i].seconds);
    }
    free(early_end->copy);
    free(early_end->writes);
    text_free(&early_end->kept_steps);
}

// Returns the second after which a step ends if every second has the given numbers of writes; 0 if it does not end
// early.
static uint32_t ends_in(struct early_end *early_end, uint64_t writes, uint64_t quick_ns, uint64_t slow,
                        uint64_t slow_ns, uint32_t seconds) {
    static struct distribution second;
    for (uint32_t number = 1; number <= seconds; number++) {
        memset(&second, 0, sizeof second);
        distribution_clear(&second);
        distribution_add_equal(&second, quick_ns, 1, writes - slow);
        if (slow > 0) {
            distribution_add_equal(&second, slow_ns, writes, slow);
        }
        if (early_end_second(early_end, 3, &second, 1, quick_ns)) {
            return number;
        }
    }
    return 0;
}

static void test_reading(void) {
    static const char *const good[] = {"latency_p99:2ms", "latency_p99_9:10ms:4096-65536",
                                       "latency_time_weighted_p99_999999:5s:4K-1M:1-8", "latency_max:1ns::2-2"};
    static const char *const bad[] = {"latency_p99", "latency_p99:", "latency_p99:0s", "latency_p99:3601s", "p99:2ms",
                                      "latency_p:2ms", "latency_p0:2ms", "latency_p100:2ms", "latency_p99_:2ms",
                                      "latency_p99_1234567:2ms", "latency_mean:2ms", "latency_p99:2ms:4K",
                                      "latency_p99:2ms:64K-4K", "latency_p99:2ms:4K-64K:1-2:3", "latency_max:2ms:x-y",
                                      "latency_time_weighted_p99_99999999999999999999999999:2ms"};
    struct early_end early_end;
    CHECK(open_limits(&early_end, 60, good, 4));
    const struct early_end_limit *limits = early_end.limits;
    CHECK(limits[0].part == 1 && limits[0].whole == 100 && limits[0].bytes_max == UINT64_MAX);
    CHECK(limits[1].part == 1 && limits[1].whole == 1000 && limits[1].above_ns == 10000000);
    CHECK(limits[1].bytes_min == 4096 && limits[1].bytes_max == 65536 && limits[1].load_max == UINT64_MAX);
    CHECK(limits[2].method == BY_SHARE_OF_TIME && limits[2].part == 1 && limits[2].whole == 100000000);
    CHECK(limits[2].load_min == 1 && limits[2].load_max == 8);
    CHECK(limits[3].method == BY_LONGEST && limits[3].bytes_min == 0 && limits[3].load_min == 2);
    close_limits(&early_end);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_CASE(!open_limits(&early_end, 60, &bad[i], 1), bad[i]);
        close_limits(&early_end);
    }
}

static void check_end(const char *limit, uint32_t expected, uint64_t slow, uint64_t slow_ns) {
    struct early_end early_end;
    CHECK(open_limits(&early_end, 100, &limit, 1));
    early_end_begin_step(&early_end, 4096, 1);
    CHECK_CASE(ends_in(&early_end, 2500, 200000, slow, slow_ns, 120) == expected, limit);
    CHECK_CASE((early_end.reason[0] != '\0') == (expected > 0) && early_end.step == (expected > 0 ? 3 : 0), limit);
    close_limits(&early_end);
}

// The second after which a step ends because its limits are kept, if every second has 2,500 writes of 200 us; 0: none.
// Some seconds have other writes.
struct other_seconds {
    uint32_t first, last;
    uint64_t writes, slow, slow_ns;
};

static void check_kept(const char *limit, uint64_t pass_after_s, uint32_t writers, uint32_t expected,
                       struct other_seconds other) {
    static struct distribution second;
    static const uint32_t step = 2;
    struct early_end early_end;
    uint32_t ended = 0;
    options.pass_after_s = pass_after_s;
    CHECK(open_limits(&early_end, 400, &limit, 1));
    early_end_begin_step(&early_end, 4096, 1);
    for (uint32_t number = 1; number <= 400 && ended == 0; number++) {
        bool is_other = number >= other.first && number <= other.last;
        uint64_t slow = is_other ? other.slow : 0, writes = is_other ? other.writes : 2500;
        distribution_clear(&second);
        distribution_add_equal(&second, 200000, 1, writes - slow);
        if (slow > 0) {
            distribution_add_equal(&second, other.slow_ns, writes, slow);
        }
        ended = early_end_second(&early_end, step, &second, writers, 200000) ? number : 0;
    }
    CHECK_CASE(ended == expected, limit);
    CHECK_CASE(early_end.reason[0] == '\0' && (early_end.kept_steps.length > 0) == (expected > 0), limit);
    CHECK_CASE(early_end.kept_step == (expected > 0 ? step : 0), limit);
    close_limits(&early_end);
    options.pass_after_s = 0;
}

static void test_kept_limits(void) {
    static const struct other_seconds none = {0}, allowed = {100, 100, 2500, 25, 2000000},
                                      one_over = {100, 100, 2500, 26, 2000000}, few = {1, 400, 2, 0, 0},
                                      slower = {150, 400, 1900, 0, 0};
    check_kept("latency_max:2ms", 60, 1, 62, none);
    check_kept("latency_max:2ms", 100, 1, 103, none);           // the next look
    check_kept("latency_p99:1ms", 60, 1, 183, none);            // when there is enough evidence
    check_kept("latency_p99:1ms", 0, 1, 0, none);
    check_kept("latency_p99:1ms", 60, 2, 0, none);              // several queue managers
    check_kept("latency_p99:1ms", 399, 1, 0, none);             // the planned end comes first
    check_kept("latency_p99:1ms", 60, 1, 183, allowed);
    check_kept("latency_p99:1ms", 60, 1, 0, one_over);
    check_kept("latency_p99:1ms:8K-64K", 60, 1, 0, none);       // no limit for this step
    check_kept("latency_max:1s", 60, 1, 0, few);                // the files are not written once
    check_kept("latency_time_weighted_p50:1ms", 60, 1, 62, none);
    check_kept("latency_time_weighted_p50:1ms", 60, 1, 0, (struct other_seconds){30, 30, 2500, 2000, 2000000});
    check_kept("latency_p99:1ms", 200, 1, 0, slower);           // a limit of the volume may have been reached
    options.pass_after_s = 60;
    struct early_end early_end;
    static const char *const no_limits[1];
    CHECK(!open_limits(&early_end, 60, no_limits, 0));          // nothing that could be kept
    options.pass_after_s = 0;
}

void test_early_end(void) {
    test_kept_limits();
    test_reading();
    check_end("latency_max:2ms", 1, 1, 2000001);
    check_end("latency_max:2ms", 0, 1, 2000000);
    check_end("latency_p99:1ms", 0, 25, 2000000);               // as many as the limit allows
    check_end("latency_p99:1ms", EARLY_END_SECONDS_MIN, 2500, 2000000);
    check_end("latency_p99:1ms", EARLY_END_SECONDS_MIN, 200, 2000000);
    check_end("latency_p99:1ms", 98, 48, 2000000);              // before that, quick seconds could still keep it
    check_end("latency_p99:1ms", 0, 28, 2000000);               // too little evidence
    check_end("latency_p99:1ms:8K-64K", 0, 200, 2000000);       // for other steps
    check_end("latency_p99:1ms::2-9", 0, 200, 2000000);
    check_end("latency_time_weighted_p99:1ms", 62, 25, 2000000);
    check_end("latency_p99:3ms", 0, 200, 2000000);

    // Each step starts without evidence, and once a limit has ended a step, it ends no other.
    static const char *const limit = "latency_p99:1ms";
    struct early_end early_end;
    CHECK(open_limits(&early_end, 100, &limit, 1));
    early_end_begin_step(&early_end, 4096, 1);
    CHECK(ends_in(&early_end, 2500, 200000, 200, 2000000, EARLY_END_SECONDS_MIN - 1) == 0);
    early_end_begin_step(&early_end, 8192, 1);
    CHECK(ends_in(&early_end, 2500, 200000, 200, 2000000, 100) == EARLY_END_SECONDS_MIN);
    early_end_begin_step(&early_end, 16384, 1);
    CHECK(ends_in(&early_end, 2500, 200000, 200, 2000000, 100) == 0);
    close_limits(&early_end);
}
