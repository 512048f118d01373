// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The model of commits compared with closed forms, for writes of a given duration.
#include "workload/group_commit.h"
#include "check.h"

#include <stdlib.h>

#define WRITE_NS UINT64_C(1000000)
#define BEGIN_NS UINT64_C(1000000000)
#define BUFFER_BYTES (UINT64_C(2) << 20)

struct outcome {
    uint64_t writes, commits, latency_sum_ns, latency_min_ns, latency_max_ns;
    uint64_t size_min, size_max, record_bytes, written_bytes;
    uint64_t idle_ns;
};

// Simulates the given number of writes. The first 10 are not counted.
static struct outcome simulate(const struct commit_terms *terms, uint64_t applications, uint64_t message_bytes,
                               uint64_t writes) {
    struct group_commit commits;
    struct outcome outcome = {.latency_min_ns = UINT64_MAX, .size_min = UINT64_MAX};
    CHECK(group_commit_open(&commits, terms, applications));
    group_commit_start(&commits, applications, message_bytes, BEGIN_NS);
    uint64_t free_ns = BEGIN_NS;
    for (uint64_t n = 0; n < writes + 10; n++) {
        struct outcome *counted = n < 10 ? &(struct outcome){.latency_min_ns = 1, .size_min = 1} : &outcome;
        uint64_t begin_ns = group_commit_gather(&commits, free_ns), bytes = group_commit_write_bytes(&commits);
        CHECK(begin_ns >= free_ns && bytes % LOG_PAGE_BYTES == 0 && bytes > 0 && bytes <= terms->buffer_bytes);
        CHECK(commits.used <= applications);
        uint64_t end_ns = begin_ns + WRITE_NS + terms->remote_delay_ns, done = group_commit_done(&commits);
        counted->writes++;
        counted->idle_ns += begin_ns - free_ns;
        counted->written_bytes += bytes;
        counted->record_bytes += commits.taken_bytes;
        counted->size_min = bytes < counted->size_min ? bytes : counted->size_min;
        counted->size_max = bytes > counted->size_max ? bytes : counted->size_max;
        for (uint64_t left = done; left > 0;) {
            struct commit_group group = group_commit_take(&commits, left);
            uint64_t latency_ns = end_ns - group.since_ns;
            CHECK(group.count > 0 && group.since_ns <= begin_ns);
            counted->commits += group.count;
            counted->latency_sum_ns += latency_ns * group.count;
            counted->latency_min_ns = latency_ns < counted->latency_min_ns ? latency_ns : counted->latency_min_ns;
            counted->latency_max_ns = latency_ns > counted->latency_max_ns ? latency_ns : counted->latency_max_ns;
            left -= group.count;
        }
        group_commit_return(&commits, done, end_ns);
        uint64_t moved = group_commit_advance(&commits);
        CHECK(moved == bytes || (terms->rewrites_page && moved == bytes - LOG_PAGE_BYTES));
        free_ns = end_ns;
    }
    uint64_t all = 0;
    while (commits.used > 0) {
        all += group_commit_take(&commits, UINT64_MAX).count;
    }
    CHECK(all == applications);
    free(commits.groups);
    return outcome;
}

static uint64_t pages(uint64_t bytes) {
    return (bytes + LOG_PAGE_BYTES - 1) / LOG_PAGE_BYTES * LOG_PAGE_BYTES;
}

// Without think time, a single application commits with every write. If there are more, two halves take turns, and each
// waits for two writes.
void test_cohorts(void) {
    static const uint64_t applications[] = {1, 2, 3, 10, 100, 1000};
    static const struct commit_terms terms = {.buffer_bytes = BUFFER_BYTES, .puts = 1};
    for (size_t i = 0; i < sizeof applications / sizeof applications[0]; i++) {
        uint64_t count = applications[i], record = 100 + MESSAGE_OVERHEAD_BYTES;
        struct outcome outcome = simulate(&terms, count, 100, 1000);
        CHECK(outcome.commits == (count == 1 ? 1000 : 500 * count) && outcome.idle_ns == 0);
        CHECK(outcome.record_bytes == outcome.commits * record);
        CHECK(outcome.size_min == pages((count == 1 ? 1 : count / 2) * record));
        CHECK(outcome.size_max == pages((count - count / 2) * record));
        CHECK(outcome.latency_min_ns == (count == 1 ? 1 : 2) * WRITE_NS &&
              outcome.latency_max_ns == outcome.latency_min_ns);
    }
}

void test_commit_terms(void) {
    struct commit_terms terms = {.buffer_bytes = BUFFER_BYTES, .puts = 10, .remote_delay_ns = 500000};
    struct outcome outcome = simulate(&terms, 20, 100, 1000);
    CHECK(outcome.record_bytes == outcome.commits * 10 * (100 + MESSAGE_OVERHEAD_BYTES));
    CHECK(outcome.latency_min_ns == 2 * (WRITE_NS + 500000) && outcome.latency_max_ns == outcome.latency_min_ns);
    // While the single application thinks, the logger is idle.
    terms = (struct commit_terms){.buffer_bytes = BUFFER_BYTES, .puts = 1, .think_ns = 3 * WRITE_NS};
    outcome = simulate(&terms, 1, 100, 1000);
    CHECK(outcome.commits == 1000 && outcome.latency_max_ns == WRITE_NS && outcome.idle_ns == 1000 * 3 * WRITE_NS);
    // Two halves of the applications: the second half waits for the write of the first half.
    outcome = simulate(&terms, 100, 100, 1000);
    CHECK(outcome.commits == 50 * 1000 && outcome.latency_min_ns == WRITE_NS);
}

// A buffer that is always full: the bytes of the commits are a stream, and no commit is lost or released early.
void test_full_buffer(void) {
    static const uint64_t applications[] = {1, 2, 10, 100, 1000}, messages[] = {1 << 20, 3 << 20, 100000000};
    static const struct commit_terms terms = {.buffer_bytes = BUFFER_BYTES, .puts = 1};
    for (size_t i = 0; i < sizeof applications / sizeof applications[0]; i++) {
        for (size_t j = 0; j < sizeof messages / sizeof messages[0]; j++) {
            uint64_t count = applications[i], record = messages[j] + MESSAGE_OVERHEAD_BYTES, writes = 4000;
            bool full = count - count / 2 > 1 || record > BUFFER_BYTES;
            struct outcome outcome = simulate(&terms, count, messages[j], writes);
            double wanted = (double)outcome.record_bytes / (double)record;
            CHECK((double)outcome.commits <= wanted + 1 && (double)outcome.commits >= wanted - 1);
            CHECK(outcome.size_max == (full ? BUFFER_BYTES : pages(record)));
            // All applications wait all the time. Therefore Little's law holds, except for the commits in the first 10
            // writes, which are not counted.
            double mean_ns = (double)outcome.latency_sum_ns / (double)outcome.commits;
            double little_ns = (double)count * (double)writes * (double)WRITE_NS / (double)outcome.commits;
            CHECK(outcome.commits < 10 * count || (mean_ns > 0.95 * little_ns && mean_ns < 1.05 * little_ns));
        }
    }
    struct outcome full = simulate(&terms, 1000, 1 << 20, 1000);
    CHECK(full.size_min == BUFFER_BYTES && full.record_bytes == 1000 * BUFFER_BYTES);
}

// If the last page is rewritten, the log has no gaps; otherwise, every write ends in a gap.
void test_partial_pages(void) {
    struct commit_terms terms = {.buffer_bytes = BUFFER_BYTES, .puts = 1};
    uint64_t record = 2048 + MESSAGE_OVERHEAD_BYTES;
    struct outcome apart = simulate(&terms, 1, 2048, 4096);
    CHECK(apart.written_bytes == 4096 * LOG_PAGE_BYTES && apart.size_max == LOG_PAGE_BYTES);
    terms.rewrites_page = true;
    struct outcome compact = simulate(&terms, 1, 2048, 4096);
    CHECK(compact.commits == 4096 && compact.record_bytes == 4096 * record);
    CHECK(compact.size_min == LOG_PAGE_BYTES && compact.size_max == 2 * LOG_PAGE_BYTES);
    struct group_commit commits;
    CHECK(group_commit_open(&commits, &terms, 1));
    group_commit_start(&commits, 1, 2048, BEGIN_NS);
    (void)group_commit_gather(&commits, BEGIN_NS);
    CHECK(group_commit_advance(&commits) == 0 && commits.tail_bytes == record);
    CHECK(group_commit_take(&commits, group_commit_done(&commits)).count == 1);
    group_commit_return(&commits, 1, BEGIN_NS + 1);
    (void)group_commit_gather(&commits, BEGIN_NS + 1);
    CHECK(group_commit_write_bytes(&commits) == 2 * LOG_PAGE_BYTES);
    group_commit_next_file(&commits);
    CHECK(group_commit_write_bytes(&commits) == LOG_PAGE_BYTES);
    free(commits.groups);
    // The rewritten page occupies a part of the buffer.
    terms.buffer_bytes = LOG_PAGE_BYTES;
    struct outcome small = simulate(&terms, 1, 2048, 4096);
    CHECK(small.size_max == LOG_PAGE_BYTES && small.record_bytes / record < 4096);
}
