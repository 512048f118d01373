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
    {"options over", test_options_over},
    {"options directories", test_options_directories},
    {"cpu list", test_cpu_list},
    {"distribution buckets", test_distribution_buckets},
    {"percentiles against exact sorting", test_percentiles_against_sorting},
    {"over a threshold", test_over},
    {"percentile support", test_percentile_support},
    {"percentiles of hours", test_percentiles_of_hours},
    {"merging", test_merging},
    {"evidence of a broken limit", test_evidence},
    {"evidence if the rest of a step is quick", test_evidence_with_a_quick_rest},
    {"evidence that a limit is kept", test_evidence_that_a_claim_is_kept},
    {"evidence from the time of writes", test_evidence_of_time},
    {"limits that end a step", test_early_end},
    {"time-weighted percentiles", test_time_weighted},
    {"distribution is exact", test_distribution_exact},
    {"deviation", test_distribution_deviation},
    {"ring", test_ring},
    {"ring over steps", test_ring_steps},
    {"timeline", test_timeline},
    {"recorder", test_recorder},
    {"recorder with threads", test_recorder_threads},
    {"stalls", test_stalls},
    {"content", test_content},
    {"csv", test_csv},
    {"tables", test_tables},
    {"progress file", test_progress_file},
    {"mark of --acknowledge", test_mark},
    {"mqldt's table", test_mqldt_table},
    {"job thread", test_job_thread},
    {"rounds", test_rounds},
    {"schedule of an open loop", test_schedule},
    {"first and later passes", test_passes},
    {"workers of two streams", test_workers},
    {"memory of operations", test_io_memory},
    {"cohorts of applications", test_cohorts},
    {"terms of commits", test_commit_terms},
    {"full log buffer", test_full_buffer},
    {"partial pages", test_partial_pages},
    {"equal operations at once", test_equal_operations},
    {"streams accepted", test_streams_accepted},
    {"directories of streams", test_streams_directories},
    {"streams refused", test_streams_refused},
    {"random pattern", test_random_pattern},
    {"aligned random pattern", test_aligned_pattern},
    {"hierarchical random walk", test_walk},
    {"walk of any width", test_walk_of_any_width},
    {"sequential runs", test_runs},
    {"ring of several sizes", test_ring_of_sizes},
    {"arrivals", test_arrivals},
    {"eight streams of SPC-1", test_spc1},
    {"sectors show which write they belong to", test_stamps},
    {"passes over the files differ in every byte", test_content_of_passes},
    {"the documentation describes the content of a sector", test_documented_layout},
    {"sectors of the preformat", test_preformat_stamps},
    {"characters of damage", test_damage},
    {"a ring of one position", test_smallest_ring},
    {"honest images", test_honest_images},
    {"verdicts against all explanations", test_explanations},
    {"what a witness kept", test_witness},
    {"commands of --lock", test_commands},
    {"wrong commands of --lock", test_wrong_commands},
    {"answers of --lock", test_answers},
    {"records of --lock", test_records},
    {"mountinfo", test_mountinfo},
    {"lock_names", test_lock_names},
    {"kernel counters", test_kernel_counters},
    {"cgroup", test_cgroup},
    {"io limits", test_io_limits},
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
