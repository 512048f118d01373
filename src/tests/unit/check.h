// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The whole test framework: CHECK reports a false condition with its location; a test passes if all its checks hold.
#pragma once

#include <stdio.h>

extern int check_failures;

#define CHECK(condition)                                                                                          \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            check_failures++;                                                                                     \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
        }                                                                                                         \
    } while (0)

// The same, with a name that identifies the row of a table if the check fails.
#define CHECK_CASE(condition, name)                                                                               \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            check_failures++;                                                                                     \
            (void)fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, name);                      \
        }                                                                                                         \
    } while (0)

void test_units(void);
void test_options_accepted(void);
void test_options_refused(void);
void test_options_over(void);
void test_options_directories(void);
void test_cpu_list(void);
void test_distribution_buckets(void);
void test_percentiles_against_sorting(void);
void test_over(void);
void test_percentile_support(void);
void test_percentiles_of_hours(void);
void test_merging(void);
void test_evidence(void);
void test_evidence_with_a_quick_rest(void);
void test_evidence_of_time(void);
void test_early_end(void);
void test_evidence_that_a_claim_is_kept(void);
void test_time_weighted(void);
void test_distribution_exact(void);
void test_distribution_deviation(void);
void test_ring(void);
void test_ring_steps(void);
void test_timeline(void);
void test_recorder(void);
void test_recorder_threads(void);
void test_stalls(void);
void test_content(void);
void test_csv(void);
void test_tables(void);
void test_progress_file(void);
void test_mark(void);
void test_mqldt_table(void);
void test_job_thread(void);
void test_rounds(void);
void test_schedule(void);
void test_passes(void);
void test_workers(void);
void test_io_memory(void);
void test_cohorts(void);
void test_commit_terms(void);
void test_full_buffer(void);
void test_partial_pages(void);
void test_equal_operations(void);
void test_streams_accepted(void);
void test_streams_directories(void);
void test_streams_refused(void);
void test_random_pattern(void);
void test_aligned_pattern(void);
void test_walk(void);
void test_walk_of_any_width(void);
void test_runs(void);
void test_ring_of_sizes(void);
void test_arrivals(void);
void test_spc1(void);
void test_stamps(void);
void test_content_of_passes(void);
void test_documented_layout(void);
void test_preformat_stamps(void);
void test_damage(void);
void test_smallest_ring(void);
void test_honest_images(void);
void test_explanations(void);
void test_witness(void);
void test_commands(void);
void test_wrong_commands(void);
void test_answers(void);
void test_records(void);
void test_mountinfo(void);
void test_lock_names(void);
void test_kernel_counters(void);
void test_cgroup(void);
void test_io_limits(void);
void test_identity(void);
