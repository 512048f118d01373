// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rings, timelines, recorders, rounds, and the content of blocks.
#include "base/clock.h"
#include "workload/payload.h"
#include "base/supervisor.h"
#include "figures/recorder.h"
#include "measure/result.h"
#include "workload/workload.h"
#include "check.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void test_ring(void) {
    static const uint64_t blocks[] = {4096, 5120, 12288, 16384, 20480, 65536};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        struct pattern ring = {.files = 3, .file_bytes = 65536, .block_bytes = blocks[i]};
        uint64_t in_file = 65536 / blocks[i];
        CHECK(pattern_pass_operations(&ring) == 3 * in_file);
        for (uint64_t n = 0; n < 7 * in_file; n++) {
            uint32_t file;
            uint64_t offset;
            pattern_position(&ring, n, &file, &offset);
            CHECK(ring.file == n / in_file % 3 && ring.offset_bytes == n % in_file * blocks[i]);
            CHECK(ring.offset_bytes + blocks[i] <= 65536);
            CHECK(file == ring.file && offset == ring.offset_bytes);
            pattern_advance(&ring);
        }
    }
    struct pattern single = {.files = 1, .file_bytes = 4096, .block_bytes = 4096};
    pattern_advance(&single);
    CHECK(single.file == 0 && single.offset_bytes == 0);
}

void test_ring_steps(void) {
    struct pattern ring = {.files = 3, .file_bytes = 65536, .block_bytes = 1};
    pattern_start_step(&ring, 16384);
    CHECK(ring.file == 0 && ring.offset_bytes == 0 && ring.block_bytes == 16384);
    pattern_advance(&ring);
    pattern_start_step(&ring, 4096);
    CHECK(ring.file == 1 && ring.offset_bytes == 0);
    for (int i = 0; i < 16; i++) {
        pattern_advance(&ring);
    }
    CHECK(ring.file == 2 && ring.offset_bytes == 0);
    pattern_start_step(&ring, 8192);       // the last write filled file 1, so file 2 is next
    CHECK(ring.file == 2 && ring.offset_bytes == 0);
    pattern_advance(&ring);
    pattern_start_step(&ring, 8192);
    CHECK(ring.file == 0);
}

void test_timeline(void) {
    static const uint64_t durations_s[] = {1, 7, 10, 30, 59, 60, 300};
    for (size_t i = 0; i < sizeof durations_s / sizeof durations_s[0]; i++) {
        struct timeline timeline = {.start_ns = 12345, .duration_ns = durations_s[i] * NS_PER_S};
        struct cut cut = timeline_first(&timeline);
        uint64_t seconds = 0, batches = 0, before = timeline.start_ns;
        CHECK(cut.index == 0 && cut.end_ns == 12345);
        do {
            cut = timeline_next(&timeline, &cut);
            CHECK(cut.end_ns > before);
            CHECK(cut.second == (before - timeline.start_ns) / NS_PER_S + 1);
            seconds += cut.ends_second;
            batches += cut.ends_batch;
            CHECK(cut.batch <= TIMELINE_BATCHES);
            if (cut.ends_batch) {
                CHECK(cut.end_ns == timeline.start_ns + timeline.duration_ns * cut.batch / TIMELINE_BATCHES);
            }
            before = cut.end_ns;
        } while (cut.end_ns < timeline.start_ns + timeline.duration_ns);
        CHECK(seconds == durations_s[i] && batches == TIMELINE_BATCHES - 1 && cut.batch == TIMELINE_BATCHES);
        cut = timeline_next(&timeline, &cut);
        CHECK(cut.second == durations_s[i] + 1 && cut.batch == TIMELINE_BATCHES && cut.ends_second && !cut.ends_batch);
    }
}

struct seen {
    uint64_t seconds, partials, batches, writes_in_seconds, writes_in_batches, last_second;
};

static void
see_second(const struct recorder_sink *sink, uint32_t second, bool partial, const struct distribution *writes) {
    struct seen *seen = sink->context;
    CHECK(second == seen->last_second + 1);
    seen->last_second = second;
    seen->seconds += !partial;
    seen->partials += partial;
    seen->writes_in_seconds += writes->count;
}

static void see_batch(const struct recorder_sink *sink, uint32_t batch, const struct distribution *writes) {
    struct seen *seen = sink->context;
    seen->batches++;
    CHECK(batch == seen->batches);
    seen->writes_in_batches += writes->count;
}

void test_recorder(void) {
    static struct recorder recorder;
    static struct distribution slot;
    struct seen seen = {0};
    struct timeline timeline = {.start_ns = NS_PER_S, .duration_ns = 2 * NS_PER_S};
    recorder_start_step(
        &recorder, timeline, (struct recorder_sink){.context = &seen, .second = see_second, .batch = see_batch});
    distribution_clear(&slot);
    struct cut cut = timeline_first(&timeline);
    CHECK(recorder_is_free(&recorder, RECORDER_PENDING - 1) && !recorder_is_free(&recorder, RECORDER_PENDING));
    for (uint64_t n = 1; cut.end_ns < 3 * NS_PER_S; n++) {
        recorder_finalise_next(&recorder);
        cut = timeline_next(&timeline, &cut);
        CHECK(recorder.cut.index == cut.index && recorder.cut.end_ns == cut.end_ns);
        distribution_add(&slot, 1000 + n, n);
        if (cut.second == 2) {
            distribution_add(&slot, 5000000, n);
        }
        recorder_add(&recorder, cut.index, &slot);
        distribution_clear(&slot);
    }
    recorder_finalise_next(&recorder);
    distribution_add(&slot, 7777, 1);
    recorder_add(&recorder, cut.index + 1, &slot);
    recorder_finish(&recorder, 3 * NS_PER_S + 5);
    CHECK(seen.seconds == 2 && seen.partials == 1 && seen.batches == 30);
    CHECK(seen.writes_in_seconds == recorder.step.count && seen.writes_in_batches == seen.writes_in_seconds);
    CHECK(recorder.rounds_done == 5 && recorder.seconds.count == 2);
    CHECK(recorder.step.max_ns == 5000000 && recorder.step.min_ns == 1001);
    uint64_t in_rounds = 0;
    for (int i = 0; i < 5; i++) {
        in_rounds += recorder.rounds[i].operations;
    }
    CHECK(in_rounds == recorder.step.count);
    CHECK(!recorder.rounds[3].partial && !recorder.rounds[4].partial);
    // A step that ends exactly at the end of a second has no partial second. One that is cut short in its warm-up
    // reports nothing.
    seen = (struct seen){0};
    recorder_start_step(
        &recorder, timeline, (struct recorder_sink){.context = &seen, .second = see_second, .batch = see_batch});
    recorder_finish(&recorder, NS_PER_S / 2);
    CHECK(seen.seconds == 0 && seen.partials == 0 && seen.batches == 0);
    for (cut = timeline_first(&timeline); cut.end_ns < 3 * NS_PER_S; cut = timeline_next(&timeline, &cut)) {
    }
    recorder_finish(&recorder, 3 * NS_PER_S);
    CHECK(seen.seconds == 2 && seen.partials == 0 && seen.batches == 30 && recorder.seconds.bytes_min == 0);
}

#define ADDERS 4
#define ADDITIONS 200

static struct recorder shared;

static void *add_many(void *argument) {
    struct distribution *slot = calloc(1, sizeof *slot);
    CHECK(slot != NULL);
    uint64_t state = (uint64_t)(uintptr_t)argument;
    distribution_clear(slot);
    for (uint64_t n = 0; slot != NULL && n < ADDITIONS; n++) {
        for (uint64_t i = 1; i <= 10; i++) {
            distribution_add(slot, 500 + splitmix64(&state) % 100000, i);
        }
        recorder_add(&shared, 1, slot);
        distribution_clear(slot);
    }
    free(slot);
    return NULL;
}

void test_recorder_threads(void) {
    struct seen seen = {0};
    pthread_t threads[ADDERS];
    struct timeline timeline = {.start_ns = NS_PER_S, .duration_ns = NS_PER_S};
    recorder_start_step(
        &shared, timeline, (struct recorder_sink){.context = &seen, .second = see_second, .batch = see_batch});
    recorder_finalise_next(&shared);
    for (uintptr_t i = 0; i < ADDERS; i++) {
        CHECK(pthread_create(&threads[i], NULL, add_many, (void *)(i + 1)) == 0);
    }
    for (int i = 0; i < ADDERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    recorder_finish(&shared, NS_PER_S + 10);
    CHECK(seen.writes_in_seconds == ADDERS * ADDITIONS * 10);
    uint64_t in_buckets = 0;
    for (unsigned bucket = 0; bucket < DISTRIBUTION_BUCKETS; bucket++) {
        in_buckets += shared.step.buckets[bucket];
    }
    CHECK(in_buckets == seen.writes_in_seconds);
}

// Creates a stream of two workers that have measured nothing yet.
static struct stream_step *two_workers(void) {
    static struct stream stream = {.name = "log", .workers = 1, .scales = true};
    static struct step_plan plan;
    static struct recorder recorder;
    static struct figures all;
    static struct figures figures[2];
    static struct worker workers[2];
    static struct stream_step step = {.stream = &stream, .plan = &plan, .block_bytes = 4096, .workers = 2,
                                      .first_worker = workers, .recorders = {&recorder}, .all = {&all}};
    memset(&recorder.timeline, 0, sizeof recorder.timeline);
    recorder.rounds_done = 0;
    for (uint32_t i = 0; i < 2; i++) {
        workers[i] = (struct worker){.stream = &step, .number = i + 1, .pass_operations = 10, .figures = {&figures[i]}};
        distribution_clear(&figures[i].latency);
        figures[i].first_pass_operations = 0;
    }
    return &step;
}

// Five rounds with the given means, as after a run of 60 s.
static struct result with_rounds(const uint64_t means_ns[5]) {
    struct stream_step *step = two_workers();
    struct recorder *recorder = stream_recorder(step);
    recorder->timeline.duration_ns = 60 * NS_PER_S;
    recorder->rounds_done = 5;
    for (int i = 0; i < 5; i++) {
        recorder->rounds[i] = (struct round_figures){.operations = 10, .latency_sum_ns = 10 * means_ns[i]};
    }
    return result_of_all(step, OPERATION_WRITE);
}

void test_rounds(void) {
    struct result flat = with_rounds((uint64_t[]){1000, 1000, 1000, 1000, 1000});
    CHECK(flat.has_rounds && flat.steady && flat.round_spread_share == 0 && flat.round_slope_share == 0);
    CHECK(flat.late_to_early_ratio == 1);
    struct result spread = with_rounds((uint64_t[]){1000, 1300, 1000, 1000, 1000});
    CHECK(!spread.steady && fabs(spread.round_spread_share - 300.0 / 1060) < 1e-9);
    struct result rising = with_rounds((uint64_t[]){1000, 1040, 1080, 1120, 1160});
    CHECK(!rising.steady && fabs(rising.round_slope_share - 160.0 / 1080) < 1e-9);
    CHECK(rising.round_spread_share < 0.2 && fabs(rising.late_to_early_ratio - 2280.0 / 2040) < 1e-9);
}

// The closed forms compared with a loop over the same writes.
void test_schedule(void) {
    static const uint64_t rates_micro[] = {1000, 333333, 1000000, 7000001, UINT64_C(1000000000), UINT64_C(3141592653),
                                           UINT64_C(1000000000000)};
    static struct distribution closed, looped;
    for (size_t i = 0; i < sizeof rates_micro / sizeof rates_micro[0]; i++) {
        struct schedule schedule = {.origin_ns = 5 * NS_PER_S, .rate_micro_per_s = rates_micro[i]};
        uint64_t due_ns = schedule.origin_ns, rest = 0;
        distribution_clear(&closed);
        distribution_clear(&looped);
        uint64_t first = 3, count = 2000, instant_ns = schedule_due_ns(&schedule, first + count - 1) + 17;
        for (uint64_t n = 0; n < first + count; n++) {
            CHECK(schedule_due_ns(&schedule, n) == due_ns);
            CHECK(schedule_due_before(&schedule, due_ns) == n && schedule_due_before(&schedule, due_ns + 1) == n + 1);
            if (n >= first) {
                distribution_add(&looped, instant_ns - due_ns, n + 1);
            }
            due_ns += NS_PER_S_IN_MICRO / rates_micro[i];
            rest += NS_PER_S_IN_MICRO % rates_micro[i];
            due_ns += rest >= rates_micro[i];
            rest -= rest >= rates_micro[i] ? rates_micro[i] : 0;
        }
        schedule_add_waits(&schedule, first, count, instant_ns, &closed);
        const struct distribution *got = &closed, *wanted = &looped;
        CHECK(got->count == wanted->count && got->sum_ns == wanted->sum_ns);
        CHECK(got->min_ns == wanted->min_ns && got->min_ordinal == wanted->min_ordinal);
        CHECK(got->max_ns == wanted->max_ns && got->max_ordinal == wanted->max_ordinal);
        CHECK(memcmp(closed.buckets, looped.buckets, sizeof closed.buckets) == 0);
    }
    // A week with a million operations per second: it needs no loop, and the sum does not overflow.
    struct schedule fast = {.origin_ns = 0, .rate_micro_per_s = UINT64_C(1000000000000)};
    distribution_clear(&closed);
    schedule_add_waits(&fast, 0, UINT64_C(604800000000), 604800 * NS_PER_S, &closed);
    distribution_merge(&looped, &closed);
    distribution_merge(&looped, &closed);
    CHECK(looped.sum_ns == DISTRIBUTION_SUM_MAX_NS);
    CHECK(closed.count == UINT64_C(604800000000) && closed.sum_ns == DISTRIBUTION_SUM_MAX_NS);
    uint64_t in_buckets = 0;
    for (unsigned bucket = 0; bucket < DISTRIBUTION_BUCKETS; bucket++) {
        in_buckets += closed.buckets[bucket];
    }
    CHECK(in_buckets == closed.count);
    struct stream stream = {.arrival = {.rate_micro_per_s = 1000000}};
    struct step_plan plan = {.begin_ns = 7};
    struct stream_step step = {.stream = &stream, .plan = &plan, .workers = 4};
    CHECK(worker_schedule(&(struct worker){.stream = &step, .number = 3}).origin_ns == 7 + 500000000);
    distribution_clear(&closed);
    distribution_clear(&looped);
    schedule_add_waits(&fast, 0, 0, 0, &closed);
    CHECK(closed.count == 0);
}

// A worker that has not completed its first pass has no later passes either. The row of all workers leaves it out of
// both figures.
void test_passes(void) {
    struct stream_step *step = two_workers();
    step->plan->key = (struct result_key){.step = 1, .load_point = 2};
    for (uint32_t i = 0; i < 2; i++) {
        struct figures *figures = step->first_worker[i].figures[OPERATION_WRITE];
        for (uint64_t n = 1; n <= (i == 0 ? 15 : 9); n++) {
            distribution_add(&figures->latency, i == 0 ? (n <= 10 ? 100 : 200) : 1000000, n);
        }
    }
    step->first_worker[0].figures[OPERATION_WRITE]->first_pass_operations = 10;
    step->first_worker[0].figures[OPERATION_WRITE]->first_pass_sum_ns = 1000;
    struct result all = result_of_all(step, OPERATION_WRITE);
    CHECK(all.first_pass_operations == 10 && all.first_pass_sum_ns == 1000);
    CHECK(all.later_operations == 5 && all.later_sum_ns == 1000);
    CHECK(all.key.worker == 0 && all.min_worker == 1 && all.max_worker == 2 && all.key.load_point == 2);
    struct result second = result_of_worker(&step->first_worker[1], OPERATION_WRITE);
    CHECK(second.first_pass_operations == 0 && second.later_operations == 0 && second.key.worker == 2);
    CHECK(strcmp(second.key.stream, "log") == 0 && strcmp(second.key.operation, "write") == 0);
}

// Every 512 bytes of every write differ from all others, also across queue managers; the pool is never repeated within
// 32 KiB; and the content of every write can be reproduced.
void test_content(void) {
    static struct payload payload[2];
    static unsigned char written[64][8192];
    static uint64_t stamps[2 * 64 * 16];
    size_t count = 0;
    void *pools[2];
    for (uint32_t manager = 0; manager < 2; manager++) {
        CHECK(posix_memalign(&pools[manager], 4096, payload_pool_bytes(65536, 4096)) == 0);
        payload_open(&payload[manager], pools[manager], payload_pool_bytes(65536, 4096), 5, manager + 1);
        payload_start_step(&payload[manager], 8192, 4096);
        for (int n = 0; n < 64; n++) {
            unsigned char *block = payload_next(&payload[manager]);
            CHECK((uintptr_t)block % 4096 == 0);
            memcpy(written[n], block, 8192);
            for (size_t at = 0; at < 8192; at += 512) {
                memcpy(&stamps[count++], block + at, 8);
            }
        }
        for (uint64_t n = 64; n-- > 0;) {
            CHECK(memcmp(payload_expect(&payload[manager], n), written[n], 8192) == 0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            CHECK(stamps[i] != stamps[j]);
        }
    }
    CHECK(memcmp(written[0] + 8, written[1] + 8, 504) != 0 && memcmp(written[0] + 8, written[3] + 8, 504) != 0);
    CHECK(memcmp(payload[0].pool + 8, payload[1].pool + 8, 504) != 0);
    payload_start_step(&payload[0], 700, 512);      // an odd size: the last, short sector also has a stamp
    const unsigned char *odd = payload_next(&payload[0]);
    CHECK(memcmp(payload_expect(&payload[0], 0), odd, 700) == 0 && payload[0].stamps_a_block == 2);
    free(pools[0]);
    free(pools[1]);
    CHECK(payload_pool_bytes(4096, 4096) == 32768 && payload_pool_bytes(65536, 4096) == 2 * 65536);
    CHECK(payload_pool_bytes(UINT64_C(16) << 20, 4096) == (size_t)17 << 20);
    CHECK(payload_pool_bytes(5120, 4096) % 4096 == 0 && payload_pool_bytes(512, 1 << 20) == 2 << 20);
}

// The results of the jobs. The test holds the gate lock while a job should hang.
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void append_letter(void *text) {
    (void)pthread_mutex_lock(&gate);
    size_t length = strlen(text);
    ((char *)text)[length] = (char)('a' + length);
    (void)pthread_mutex_unlock(&gate);
}

void test_job_thread(void) {
    static char text[JOBS_MAX + 2];
    static struct job_thread worker;
    CHECK(job_thread_start(&worker) && job_thread_idle(&worker));
    (void)pthread_mutex_lock(&gate);                                    // the first job hangs
    for (int i = 0; i < JOBS_MAX; i++) {
        CHECK(job_thread_add(&worker, append_letter, text));
    }
    CHECK(!job_thread_add(&worker, append_letter, text));            // full
    CHECK(!job_thread_idle(&worker) && text[0] == '\0');
    (void)pthread_mutex_unlock(&gate);
    while (!job_thread_idle(&worker)) {
        sleep_until_ns(now_ns() + 100000);
    }
    CHECK(job_thread_add(&worker, append_letter, text));
    while (!job_thread_idle(&worker)) {
        sleep_until_ns(now_ns() + 100000);
    }
    CHECK(strcmp(text, "abcdefghijklmnopq") == 0);
}
