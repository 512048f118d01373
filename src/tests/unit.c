// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs every unit test and ends with "N passed, N failed".
#include "check.h"

#include <stddef.h>

int check_failures;

static const struct { const char *name; void (*run)(void); } tests[] = {
    {"units", test_units},
    {"options accepted", test_options_accepted},
    {"options refused", test_options_refused},
    {"options directories", test_options_directories},
    {"cpu list", test_cpu_list},
    {"histogram buckets", test_histogram_buckets},
    {"percentiles against exact sorting", test_percentiles_against_sorting},
    {"percentile support", test_percentile_support},
    {"percentiles of hours", test_percentiles_of_hours},
    {"merging", test_merging},
    {"tally", test_tally},
    {"time-weighted percentiles", test_time_weighted},
    {"statistics are exact", test_statistics_exact},
    {"deviation", test_statistics_deviation},
    {"ring", test_ring},
    {"ring over steps", test_ring_steps},
    {"timeline", test_timeline},
    {"recorder", test_recorder},
    {"recorder with threads", test_recorder_threads},
    {"stalls", test_stalls},
    {"content", test_content},
    {"csv", test_csv},
    {"tables", test_tables},
    {"aside", test_aside},
    {"mqldt's table", test_mqldt_table},
    {"outlet", test_outlet},
    {"outlet that hangs", test_outlet_that_hangs},
    {"rounds", test_rounds},
    {"schedule of an open loop", test_schedule},
    {"first and later passes", test_passes},
    {"mountinfo", test_mountinfo},
    {"lock_names", test_lock_names},
    {"kernel counters", test_kernel_counters},
    {"identity", test_identity},
};

int main(void) {
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        check_failures = 0;
        tests[i].run();
        if (check_failures == 0) {
            passed++;
        } else {
            failed++;
            (void)fprintf(stderr, "FAILED: %s\n", tests[i].name);
        }
    }
    (void)printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
