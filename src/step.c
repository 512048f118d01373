// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "step.h"

#include "base/clock.h"
#include "measure/crew.h"
#include "step_report.h"
#include "base/thread.h"
#include "measure/watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LEAD_NS UINT64_C(3000000)               // from the start signal to the first write
#define LEAD_A_WRITER_NS UINT64_C(20000)
#define CREATION_NS UINT64_C(50000000)          // for making the threads, where the start is planned
#define CREATION_A_WRITER_NS UINT64_C(200000)
#define READY_POLL_NS UINT64_C(200000)
#define CLOCK_PAIRS 5

// Where the recorder's rows go.

static void second_done(void *context, uint32_t second, bool partial, const struct series *writes) {
    struct run *run = context;
    tables_interval(&run->tables, &run->row, second, partial, writes);
}

static void batch_done(void *context, uint32_t batch, const struct series *writes) {
    struct run *run = context;
    tables_batch(&run->tables, &run->row, batch, writes);
}

// The start.

static uint64_t planned_begin_ns(const struct run *run, uint32_t number) {
    uint64_t step_s = run->options->warmup_s + run->options->duration_s + run->step_gap_s;
    return run->first_begin_ns + (number - 1) * step_s * NS_PER_S;
}

// Sets the step's instants from its first one on. A step that is late by plan ends where it was planned to, but keeps
// at least half of its time: the warm-up goes first.
static void set_times(struct run *run, uint32_t number, uint64_t begin_ns) {
    struct step_plan *plan = &run->plan;
    uint64_t warmup_ns = run->options->warmup_s * NS_PER_S;
    uint64_t duration_ns = run->options->duration_s * NS_PER_S;
    if (run->first_begin_ns > 0 && begin_ns > planned_begin_ns(run, number)) {
        uint64_t late_ns = begin_ns - planned_begin_ns(run, number);
        uint64_t from_warmup_ns = late_ns < warmup_ns ? late_ns : warmup_ns;
        uint64_t from_duration_ns = late_ns - from_warmup_ns;
        warmup_ns -= from_warmup_ns;
        duration_ns -= from_duration_ns < duration_ns / 2 ? from_duration_ns : duration_ns / 2;
        if (late_ns > NS_PER_S / 10) {
            run_warn(run, "step %" PRIu32 " began %.3f s after its planned start and was shortened", number,
                     (double)late_ns / 1e9);
        }
    }
    plan->begin_ns = begin_ns;
    plan->timeline = (struct timeline){.start_ns = begin_ns + warmup_ns, .duration_ns = duration_ns};
    plan->end_ns = plan->timeline.start_ns + duration_ns;
}

// Waits until shortly before a planned start; false where the run is to end.
static bool wait_for_plan(struct run *run, uint32_t number, uint32_t queue_managers) {
    if (run->first_begin_ns == 0) {
        return run->supervisor.reason == STOP_NONE;
    }
    uint64_t lead_ns = CREATION_NS + queue_managers * CREATION_A_WRITER_NS;
    uint64_t until_ns = planned_begin_ns(run, number) - lead_ns;
    for (uint64_t now = now_ns(); now < until_ns; now = now_ns()) {
        run_progress(run, "waiting");
        uint64_t next_ns = now + NS_PER_S;
        if (supervisor_wait(&run->supervisor, next_ns < until_ns ? next_ns : until_ns)) {
            return false;
        }
    }
    return run->supervisor.reason == STOP_NONE;
}

// Makes the threads; how many there are. Fewer than wanted: no resources, and the run ends; what earlier steps measured
// is kept.
static uint32_t create_threads(struct run *run, uint32_t wanted) {
    uint32_t count = 0;
    while (count < wanted && thread_start(&run->writers[count].thread, writer_main, &run->writers[count])) {
        count++;
    }
    if (count < wanted) {
        (void)crew_refuse(&run->failure, run->steps_measured > 0 ? EXIT_INTERRUPTED : EXIT_REFUSED, count + 1);
    }
    return count;
}

static void wait_until_ready(struct run *run, uint32_t count) {
    while (atomic_load(&run->plan.waiting) < count) {
        (void)supervisor_wait(&run->supervisor, now_ns() + READY_POLL_NS);
    }
}

static void join_threads(struct run *run, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (atomic_load(&run->writers[i].state) == WRITER_CLOSED) {
            (void)pthread_detach(run->writers[i].thread);
        } else {
            (void)pthread_join(run->writers[i].thread, NULL);
        }
    }
}

// The processors were tried at the start; one may have gone since.
static void warn_of_unpinned(struct run *run, uint32_t queue_managers) {
    for (uint32_t i = 0; i < queue_managers; i++) {
        const struct writer *writer = &run->writers[i];
        if (writer->pin_error != 0) {
            run_warn(run, "--cpu: step %" PRIu32 " runs without pinning queue manager %" PRIu32 " to processor %d: %s",
                     run->row.step, writer->queue_manager, writer->cpu, strerror(writer->pin_error));
        }
    }
}

// Sets the start and lets the writers go. False where no measuring began.
static bool start_writers(struct run *run, uint32_t number, uint32_t queue_managers) {
    uint32_t created = create_threads(run, queue_managers);
    if (created == queue_managers) {
        wait_until_ready(run, created);
    }
    if (created < queue_managers || run->supervisor.reason != STOP_NONE) {
        step_plan_release(&run->plan, false);
        join_threads(run, created);
        return false;
    }
    warn_of_unpinned(run, queue_managers);
    uint64_t begin_ns = now_ns() + LEAD_NS + queue_managers * LEAD_A_WRITER_NS;
    if (run->first_begin_ns > 0 && planned_begin_ns(run, number) > begin_ns) {
        begin_ns = planned_begin_ns(run, number);
    }
    set_times(run, number, begin_ns);
    struct recorder_sink sink = {.context = run, .second = second_done, .batch = batch_done};
    recorder_start_step(&run->recorder, run->plan.timeline, sink);
    disturbance_begin_step(&run->disturbance);
    step_plan_release(&run->plan, true);
    return true;
}

// Verification.

static void verify_tick(void *run) {
    run_progress(run, "verifying");
}

static void note_verify_failure(struct run *run, const struct mismatch *place, const char *what) {
    struct failure *failure = &run->failure;
    const struct verify *verify = &run->verify;
    failure->offset_bytes = place->offset_bytes;
    failure->queue_manager = place->queue_manager;
    failure->block_bytes = run->plan.block_bytes;
    failure->write = place->write;
    (void)snprintf(failure->call, sizeof failure->call, "%s", verify->call != NULL ? verify->call : "pread");
    if (place->queue_manager > 0) {
        workspace_file_path(&run->workspace, place->queue_manager, place->file, failure->file);
    }
    char write[64] = "";
    if (place->write > 0) {
        (void)snprintf(write, sizeof write, " (write %" PRIu64 " of step %" PRIu32 ")", place->write, run->row.step);
    }
    (void)failure_set(failure, EXIT_IO_ERROR, "--verify: %s at offset %" PRIu64 " of %s%s: %s", what,
                      failure->offset_bytes, failure->file, write, failure_error_text(failure->error));
}

static void verify_step(struct run *run) {
    struct verify *verify = &run->verify;
    *verify = (struct verify){.writers = run->writers, .count = run->plan.queue_managers,
                              .block_bytes = run->plan.block_bytes, .direct = run->options->direct != 0};
    if (!supervisor_run(&run->supervisor, verify_writers, verify, &verify->stop, verify_tick, run, NS_PER_S)) {
        run->thread_hangs = true;
        run_note_stop(run);
        return;
    }
    run->verified_blocks += verify->blocks;
    run->verify_mismatches += verify->mismatches;
    if (verify->mismatches > 0) {
        char what[64];
        (void)snprintf(what, sizeof what, "%" PRIu64 " corrupt blocks, the first", verify->mismatches);
        run->failure.error = FAILURE_CORRUPT;
        note_verify_failure(run, &verify->kept[0], what);
    } else if (verify->read_failed) {
        run->failure.error = verify->error;
        bool reading = strcmp(verify->call, "pread") == 0;
        note_verify_failure(run, &verify->failed_at, reading ? "cannot read back" : "cannot write back before reading");
    } else if (run->supervisor.reason != STOP_NONE) {
        run_note_stop(run);
    }
}

static void plan_step(struct run *run, uint32_t number, uint64_t block_bytes, uint32_t queue_managers) {
    struct step_plan *plan = &run->plan;
    run->row = (struct table_step){.step = number, .block_bytes = block_bytes, .queue_managers = queue_managers};
    plan->begin_ns = 0;
    plan->block_bytes = block_bytes;
    plan->queue_managers = queue_managers;
    plan->sync = (enum sync_mode)run->options->sync;
    plan->delay_ns = run->options->delay_us * 1000;
    plan->rate_micro_per_s = run->options->rate_micro_per_s;
    plan->through_libc = getenv("LD_PRELOAD") != NULL;
    plan->recorder = &run->recorder;
    atomic_store(&plan->stop, false);
    atomic_store(&plan->waiting, 0);
    atomic_store(&plan->finished, 0);
    plan->go = false;
    plan->called_off = false;
    for (uint32_t i = 0; i < queue_managers; i++) {
        content_start_step(&run->writers[i].content, block_bytes, run->workspace.alignment_bytes);
        writer_start_step(&run->writers[i], plan);
    }
}

// The wall clock at an instant of the monotonic one. On a busy host this thread may lose its processor between two
// reads, so the closest pair of a few counts.
static uint64_t epoch_at(uint64_t instant_ns) {
    uint64_t epoch = 0, closest_ns = UINT64_MAX;
    for (int i = 0; i < CLOCK_PAIRS; i++) {
        uint64_t before = now_ns();
        uint64_t wall = epoch_ns();
        uint64_t apart_ns = now_ns() - before;
        if (apart_ns < closest_ns) {
            closest_ns = apart_ns;
            epoch = wall + instant_ns - before;
        }
    }
    return epoch;
}

bool step_run(struct run *run, uint32_t number, uint64_t block_bytes, uint32_t queue_managers) {
    plan_step(run, number, block_bytes, queue_managers);
    if (!wait_for_plan(run, number, queue_managers) || !start_writers(run, number, queue_managers)) {
        if (run->supervisor.reason != STOP_NONE) {
            run_note_stop(run);
        }
        return false;
    }
    uint64_t start_epoch_ns = epoch_at(run->plan.timeline.start_ns);
    screen_start_step(&run->screen, block_bytes, queue_managers, run->plan.timeline.duration_ns / NS_PER_S);
    run->progress.writes = &run->recorder.step;
    watch_writers(run);
    disturbance_end_step(&run->disturbance);
    join_threads(run, queue_managers);
    step_report(run, start_epoch_ns);
    tables_end_step(&run->tables);
    run_progress(run, "measuring");     // the step's last percent and writes
    if (run->options->verify && run->failure.status == EXIT_MEASURED) {
        verify_step(run);
    }
    return run->failure.status == EXIT_MEASURED;
}
