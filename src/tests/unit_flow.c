// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Ring, timeline, recorder, rounds and content.
#include "base/platform.h"

#include "base/clock.h"
#include "workload/payload.h"
#include "output/outlet.h"
#include "figures/recorder.h"
#include "measure/result.h"
#include "workload/pattern.h"
#include "workload/arrival.h"
#include "figures/timeline.h"
#include "check.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void test_ring(void) {
    static const uint64_t blocks[] = {4096, 5120, 12288, 16384, 20480, 65536};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        struct ring ring = {.files = 3, .file_bytes = 65536, .block_bytes = blocks[i]};
        uint64_t in_file = 65536 / blocks[i];
        CHECK(ring_pass_writes(&ring) == 3 * in_file);
        for (uint64_t n = 0; n < 7 * in_file; n++) {
            uint32_t file;
            uint64_t offset;
            ring_position(&ring, 0, n, &file, &offset);
            CHECK(ring.file == n / in_file % 3 && ring.offset_bytes == n % in_file * blocks[i]);
            CHECK(ring.offset_bytes + blocks[i] <= 65536);
            CHECK(file == ring.file && offset == ring.offset_bytes);
            ring_advance(&ring);
        }
    }
    struct ring single = {.files = 1, .file_bytes = 4096, .block_bytes = 4096};
    ring_advance(&single);
    CHECK(single.file == 0 && single.offset_bytes == 0);
}

void test_ring_steps(void) {
    struct ring ring = {.files = 3, .file_bytes = 65536, .block_bytes = 1};
    ring_start_step(&ring, 16384);
    CHECK(ring.file == 0 && ring.offset_bytes == 0 && ring.block_bytes == 16384);
    ring_advance(&ring);
    ring_start_step(&ring, 4096);
    CHECK(ring.file == 1 && ring.offset_bytes == 0);
    for (int i = 0; i < 16; i++) {
        ring_advance(&ring);
    }
    CHECK(ring.file == 2 && ring.offset_bytes == 0);
    ring_start_step(&ring, 8192);       // the last write ended file 1: file 2 is the next already
    CHECK(ring.file == 2 && ring.offset_bytes == 0);
    ring_advance(&ring);
    ring_start_step(&ring, 8192);
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

static void see_second(void *context, uint32_t second, bool partial, const struct series *writes) {
    struct seen *seen = context;
    CHECK(second == seen->last_second + 1);
    seen->last_second = second;
    seen->seconds += !partial;
    seen->partials += partial;
    seen->writes_in_seconds += writes->statistics.count;
}

static void see_batch(void *context, uint32_t batch, const struct series *writes) {
    struct seen *seen = context;
    seen->batches++;
    CHECK(batch == seen->batches);
    seen->writes_in_batches += writes->statistics.count;
}

void test_recorder(void) {
    static struct recorder recorder;
    static struct tally slot;
    struct seen seen = {0};
    struct timeline timeline = {.start_ns = NS_PER_S, .duration_ns = 2 * NS_PER_S};
    recorder_start_step(&recorder, timeline, (struct recorder_sink){&seen, see_second, see_batch});
    tally_clear(&slot);
    struct cut cut = timeline_first(&timeline);
    CHECK(recorder_has_room(&recorder, RECORDER_PENDING - 1) && !recorder_has_room(&recorder, RECORDER_PENDING));
    for (uint64_t n = 1; cut.end_ns < 3 * NS_PER_S; n++) {
        recorder_finalise_next(&recorder);
        cut = timeline_next(&timeline, &cut);
        CHECK(recorder.cut.index == cut.index && recorder.cut.end_ns == cut.end_ns);
        tally_add(&slot, 1000 + n, n);
        if (cut.second == 2) {
            tally_add(&slot, 5000000, n);
        }
        recorder_add(&recorder, cut.index, &slot);
        tally_clear(&slot);
    }
    recorder_finalise_next(&recorder);
    tally_add(&slot, 7777, 1);
    recorder_add(&recorder, cut.index + 1, &slot);
    recorder_finish(&recorder, cut.index + 1, 3 * NS_PER_S + 5);
    CHECK(seen.seconds == 2 && seen.partials == 1 && seen.batches == 30);
    CHECK(seen.writes_in_seconds == recorder.step.statistics.count && seen.writes_in_batches == seen.writes_in_seconds);
    CHECK(recorder.rounds_done == 5 && recorder.whole_seconds == 2);
    CHECK(recorder.step.statistics.max_ns == 5000000 && recorder.step.statistics.min_ns == 1001);
    uint64_t in_rounds = 0;
    for (int i = 0; i < 5; i++) {
        in_rounds += recorder.rounds[i].writes;
    }
    CHECK(in_rounds == recorder.step.statistics.count);
    CHECK(!recorder.rounds[3].partial && !recorder.rounds[4].partial);
    // A step that ends exactly with a second has no part second; a warm-up that is cut short has nothing.
    seen = (struct seen){0};
    recorder_start_step(&recorder, timeline, (struct recorder_sink){&seen, see_second, see_batch});
    recorder_finish(&recorder, 0, NS_PER_S / 2);
    CHECK(seen.seconds == 0 && seen.partials == 0 && seen.batches == 0);
    for (cut = timeline_first(&timeline); cut.end_ns < 3 * NS_PER_S; cut = timeline_next(&timeline, &cut)) {
    }
    recorder_finish(&recorder, cut.index + 1, 3 * NS_PER_S);
    CHECK(seen.seconds == 2 && seen.partials == 0 && seen.batches == 30 && recorder.second_writes_min == 0);
}

#define ADDERS 4
#define ADDITIONS 200

static struct recorder shared;

static void *add_many(void *argument) {
    struct tally *slot = calloc(1, sizeof *slot);
    CHECK(slot != NULL);
    uint64_t state = (uint64_t)(uintptr_t)argument;
    tally_clear(slot);
    for (uint64_t n = 0; slot != NULL && n < ADDITIONS; n++) {
        for (uint64_t i = 1; i <= 10; i++) {
            tally_add(slot, 500 + splitmix64(&state) % 100000, i);
        }
        recorder_add(&shared, 1, slot);
        tally_clear(slot);
    }
    free(slot);
    return NULL;
}

void test_recorder_threads(void) {
    struct seen seen = {0};
    pthread_t threads[ADDERS];
    struct timeline timeline = {.start_ns = NS_PER_S, .duration_ns = NS_PER_S};
    recorder_start_step(&shared, timeline, (struct recorder_sink){&seen, see_second, see_batch});
    recorder_finalise_next(&shared);
    for (uintptr_t i = 0; i < ADDERS; i++) {
        CHECK(pthread_create(&threads[i], NULL, add_many, (void *)(i + 1)) == 0);
    }
    for (int i = 0; i < ADDERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    recorder_finish(&shared, 1, NS_PER_S + 10);
    CHECK(seen.writes_in_seconds == ADDERS * ADDITIONS * 10);
    uint64_t in_buckets = 0;
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        in_buckets += shared.step.histogram.counts[bucket];
    }
    CHECK(in_buckets == seen.writes_in_seconds);
}

// Five rounds of given means, as a run of 60 s would leave them.
static struct result with_rounds(const uint64_t means_ns[5]) {
    static struct recorder recorder;
    static struct writer writer;
    static struct step_plan plan = {.block_bytes = 4096, .queue_managers = 1};
    static struct result_room room;
    writer.plan = &plan;
    writer.queue_manager = 1;
    writer.pass_writes = 1;
    tally_clear(&writer.totals.latency);
    recorder.timeline.duration_ns = 60 * NS_PER_S;
    recorder.rounds_done = 5;
    for (int i = 0; i < 5; i++) {
        recorder.rounds[i] = (struct round_figures){.writes = 10, .latency_sum_ns = 10 * means_ns[i]};
    }
    return result_of_all(&writer, 1, 1, 0, &recorder, &room);
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

// The closed forms against a loop over the writes that they stand for.
void test_schedule(void) {
    static const uint64_t rates_micro[] = {1000, 333333, 1000000, 7000001, UINT64_C(1000000000), UINT64_C(3141592653),
                                           UINT64_C(1000000000000)};
    static struct series closed, looped;
    for (size_t i = 0; i < sizeof rates_micro / sizeof rates_micro[0]; i++) {
        struct schedule schedule = {.origin_ns = 5 * NS_PER_S, .rate_micro_per_s = rates_micro[i]};
        uint64_t due_ns = schedule.origin_ns, rest = 0;
        series_clear(&closed);
        series_clear(&looped);
        uint64_t first = 3, count = 2000, instant_ns = schedule_due_ns(&schedule, first + count - 1) + 17;
        for (uint64_t n = 0; n < first + count; n++) {
            CHECK(schedule_due_ns(&schedule, n) == due_ns);
            CHECK(schedule_due_before(&schedule, due_ns) == n && schedule_due_before(&schedule, due_ns + 1) == n + 1);
            if (n >= first) {
                series_add(&looped, instant_ns - due_ns, n + 1);
            }
            due_ns += NS_A_SECOND_IN_MICRO / rates_micro[i];
            rest += NS_A_SECOND_IN_MICRO % rates_micro[i];
            due_ns += rest >= rates_micro[i];
            rest -= rest >= rates_micro[i] ? rates_micro[i] : 0;
        }
        schedule_add_waits(&schedule, first, count, instant_ns, &closed);
        const struct statistics *got = &closed.statistics, *wanted = &looped.statistics;
        CHECK(got->count == wanted->count && got->sum_ns == wanted->sum_ns);
        CHECK(got->min_ns == wanted->min_ns && got->min_write == wanted->min_write);
        CHECK(got->max_ns == wanted->max_ns && got->max_write == wanted->max_write);
        CHECK(memcmp(&closed.histogram, &looped.histogram, sizeof closed.histogram) == 0);
    }
    // A week's worth of a million a second: no loop, and a sum that does not wrap.
    struct schedule fast = {.origin_ns = 0, .rate_micro_per_s = UINT64_C(1000000000000)};
    series_clear(&closed);
    schedule_add_waits(&fast, 0, UINT64_C(604800000000), 604800 * NS_PER_S, &closed);
    series_merge(&looped, &closed);
    series_merge(&looped, &closed);
    CHECK(looped.statistics.sum_ns == STATISTICS_SUM_MAX_NS);
    CHECK(closed.statistics.count == UINT64_C(604800000000) && closed.statistics.sum_ns == STATISTICS_SUM_MAX_NS);
    uint64_t in_buckets = 0;
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        in_buckets += closed.histogram.counts[bucket];
    }
    CHECK(in_buckets == closed.statistics.count);
    CHECK(schedule_shift_ns(1000000, 4, 1) == 0 && schedule_shift_ns(1000000, 4, 3) == 500000000);
    series_clear(&closed);
    series_clear(&looped);
    schedule_add_waits(&fast, 0, 0, 0, &closed);
    CHECK(closed.statistics.count == 0);
}

// A queue manager that ended no first pass has no later passes either: the row of all leaves it out of both.
void test_passes(void) {
    static struct recorder recorder;
    static struct writer writers[2];
    static struct step_plan plan = {.block_bytes = 4096, .queue_managers = 2};
    static struct result_room room;
    for (uint32_t i = 0; i < 2; i++) {
        struct writer_totals *totals = &writers[i].totals;
        writers[i].plan = &plan;
        writers[i].queue_manager = i + 1;
        writers[i].pass_writes = 10;
        tally_clear(&totals->latency);
        for (uint64_t n = 1; n <= (i == 0 ? 15 : 9); n++) {
            tally_add(&totals->latency, i == 0 ? (n <= 10 ? 100 : 200) : 1000000, n);
        }
    }
    writers[0].totals.first_pass_ended = true;
    writers[0].totals.first_pass_writes = 10;
    writers[0].totals.first_pass_sum_ns = 1000;
    struct result all = result_of_all(writers, 2, 1, 0, &recorder, &room);
    CHECK(all.first_pass_writes == 10 && all.first_pass_sum_ns == 1000);
    CHECK(all.later_writes == 5 && all.later_sum_ns == 1000);
    struct result second = result_of_writer(&writers[1], 1, 0, &room);
    CHECK(second.first_pass_writes == 0 && second.later_writes == 0);
}

// Every 512 bytes of every write differ from all others, also across queue managers; the pool is never repeated within
// 32 KiB; and what a write carried can be told again.
void test_content(void) {
    static struct content content[2];
    static unsigned char written[64][8192];
    static uint64_t stamps[2 * 64 * 16];
    size_t count = 0;
    void *pools[2];
    for (uint32_t manager = 0; manager < 2; manager++) {
        CHECK(posix_memalign(&pools[manager], 4096, content_pool_bytes(65536, 4096)) == 0);
        content_open(&content[manager], pools[manager], content_pool_bytes(65536, 4096), 5, manager + 1);
        content_start_step(&content[manager], 8192, 4096);
        for (int n = 0; n < 64; n++) {
            unsigned char *block = content_next(&content[manager]);
            CHECK((uintptr_t)block % 4096 == 0);
            memcpy(written[n], block, 8192);
            for (size_t at = 0; at < 8192; at += 512) {
                memcpy(&stamps[count++], block + at, 8);
            }
        }
        for (uint64_t n = 64; n-- > 0;) {
            CHECK(memcmp(content_expect(&content[manager], n), written[n], 8192) == 0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            CHECK(stamps[i] != stamps[j]);
        }
    }
    CHECK(memcmp(written[0] + 8, written[1] + 8, 504) != 0 && memcmp(written[0] + 8, written[3] + 8, 504) != 0);
    CHECK(memcmp(content[0].pool + 8, content[1].pool + 8, 504) != 0);
    content_start_step(&content[0], 700, 512);      // an odd size: the last, short sector carries a stamp as well
    const unsigned char *odd = content_next(&content[0]);
    CHECK(memcmp(content_expect(&content[0], 0), odd, 700) == 0 && content[0].stamps_a_block == 2);
    free(pools[0]);
    free(pools[1]);
    CHECK(content_pool_bytes(4096, 4096) == 32768 && content_pool_bytes(65536, 4096) == 2 * 65536);
    CHECK(content_pool_bytes(UINT64_C(16) << 20, 4096) == (size_t)17 << 20);
    CHECK(content_pool_bytes(5120, 4096) % 4096 == 0 && content_pool_bytes(512, 1 << 20) == 2 << 20);
}

// What an outlet delivered; the test holds gate locked for as long as delivering shall hang.
static struct {
    pthread_mutex_t gate;
    char text[64];
} delivered = {.gate = PTHREAD_MUTEX_INITIALIZER};

static int deliver(const void *error, const char *text, size_t length) {
    (void)pthread_mutex_lock(&delivered.gate);
    size_t used = strlen(delivered.text);
    memcpy(delivered.text + used, text, length);
    delivered.text[used + length] = '\0';
    (void)pthread_mutex_unlock(&delivered.gate);
    return error != NULL ? *(const int *)error : 0;
}

static void put(struct outlet *outlet, const char *text) {
    outlet_put(outlet, text, strlen(text));
}

static void wait_until_idle(struct outlet *outlet) {
    while (!outlet_idle(outlet)) {
        sleep_until_ns(now_ns() + 100000);
    }
}

void test_outlet(void) {
    static const int error = ENOSPC;
    struct outlet none = {.deliver = deliver};
    put(&none, "lost");
    outlet_release(&none);
    CHECK(outlet_idle(&none) && outlet_error(&none) == 0 && outlet_waiting(&none) == 0);
    outlet_end(&none);
    struct outlet outlet = {.deliver = deliver, .argument = &error};
    delivered.text[0] = '\0';
    CHECK(outlet_start(&outlet));
    put(&outlet, "one ");
    put(&outlet, "two");
    CHECK(outlet_waiting(&outlet) == 7 && outlet_idle(&outlet));        // not released
    outlet_release(&outlet);
    wait_until_idle(&outlet);
    CHECK(strcmp(delivered.text, "one two") == 0 && outlet_error(&outlet) == ENOSPC);
    put(&outlet, " three");
    outlet_release(&outlet);
    outlet_end(&outlet);                                                // delivers what is released
    CHECK(strcmp(delivered.text, "one two three") == 0);
}

void test_outlet_that_hangs(void) {
    static const char *const wanted[] = {"first second third", "first third"};
    for (size_t latest_only = 0; latest_only < 2; latest_only++) {
        struct outlet outlet = {.deliver = deliver, .latest_only = latest_only == 1};
        delivered.text[0] = '\0';
        CHECK(outlet_start(&outlet));
        (void)pthread_mutex_lock(&delivered.gate);
        put(&outlet, "first");
        outlet_release(&outlet);
        while (outlet_waiting(&outlet) > 0) {
            sleep_until_ns(now_ns() + 100000);
        }
        put(&outlet, " second");
        outlet_release(&outlet);
        put(&outlet, " third");
        outlet_release(&outlet);
        CHECK(!outlet_idle(&outlet) && delivered.text[0] == '\0');
        (void)pthread_mutex_unlock(&delivered.gate);
        wait_until_idle(&outlet);
        outlet_end(&outlet);
        CHECK(strcmp(delivered.text, wanted[latest_only]) == 0);
    }
}
