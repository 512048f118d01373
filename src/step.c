// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "step.h"

#include "base/clock.h"
#include "step_report.h"

#include <inttypes.h>
#include <string.h>

#define LEAD_NS UINT64_C(3000000)               // from the start signal to the first operation
#define LEAD_PER_WORKER_NS UINT64_C(20000)
#define WAKE_NS UINT64_C(50000000)              // how long before a planned start main wakes
#define CLOCK_PAIRS 5
#define GRACE_NS UINT64_C(10000000)             // after a cut, before main passes it for a worker in a call
#define MONITOR_NS UINT64_C(250000000)          // the longest wait between two looks
#define END_MONITOR_NS UINT64_C(2000000)        // the same once the step is over

// The start.

static uint64_t planned_begin_ns(const struct run *run, uint32_t number) {
    uint64_t step_s = run->options->warmup_s + run->options->duration_s + run->step_gap_s;
    return run->first_begin_ns + (number - 1) * step_s * NS_PER_S;
}

// Sets the step's instants from its first one on. A step that is late by plan ends where it was planned to, but keeps
// at least half of its time: the warm-up goes first.
static void set_times(struct run *run, uint32_t number, uint64_t begin_ns) {
    struct step_plan *plan = &run->workers.plan;
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

// Waits until shortly before a planned start; false if the run is to end.
static bool wait_for_plan(struct run *run, uint32_t number) {
    if (run->first_begin_ns == 0) {
        return run->supervisor.reason == STOP_NONE;
    }
    uint64_t until_ns = planned_begin_ns(run, number) - WAKE_NS;
    for (uint64_t now = now_ns(); now < until_ns; now = now_ns()) {
        run_progress(run, "waiting");
        uint64_t next_ns = now + NS_PER_S;
        if (supervisor_wait(&run->supervisor, next_ns < until_ns ? next_ns : until_ns)) {
            return false;
        }
    }
    return run->supervisor.reason == STOP_NONE;
}

static void second_done(const struct recorder_sink *sink, uint32_t second, bool partial,
                        const struct distribution *latency) {
    struct run *run = sink->context;
    const struct number_list *over = &run->options->over;
    struct table_row row = {.key = result_key_of(sink->stream, sink->operation), .number = second, .partial = partial,
                            .latency = latency};
    tables_add(&run->tables, TABLE_INTERVALS, &row);
    for (size_t i = 0; i < over->count; i++) {
        row.over_ns = over->values[i];
        row.over = distribution_over(latency, row.over_ns);
        if (row.over.count > 0) {
            tables_add(&run->tables, TABLE_OVER, &row);
        }
    }
}

static void batch_done(const struct recorder_sink *sink, uint32_t batch, const struct distribution *latency) {
    struct run *run = sink->context;
    struct table_row row = {.key = result_key_of(sink->stream, sink->operation), .number = batch, .latency = latency};
    for (row.bucket = 0; row.bucket < DISTRIBUTION_BUCKETS; row.bucket++) {
        if (latency->buckets[row.bucket] > 0) {
            tables_add(&run->tables, TABLE_HISTOGRAM, &row);
        }
    }
}

static void start_recorders(struct run *run) {
    for (uint32_t i = 0; i < run->workload.streams_count; i++) {
        const struct stream_step *stream = &run->workers.streams[i];
        for (int operation = 0; operation < OPERATIONS; operation++) {
            if (stream->recorders[operation] != NULL) {
                recorder_start_step(stream->recorders[operation], run->workers.plan.timeline,
                                    (struct recorder_sink){run, stream, operation, second_done, batch_done});
            }
        }
    }
}

static void start_workers(struct run *run, uint32_t number) {
    uint64_t begin_ns = now_ns() + LEAD_NS + workers_in_step(&run->workers) * LEAD_PER_WORKER_NS;
    if (run->first_begin_ns > 0 && planned_begin_ns(run, number) > begin_ns) {
        begin_ns = planned_begin_ns(run, number);
    }
    set_times(run, number, begin_ns);
    start_recorders(run);
    disturbance_begin_step(&run->disturbance);
    workers_start_step(&run->workers);
}

// While workers work: main passes cuts for those in a call, takes finished slots over, shows how far the step is, and
// abandons workers whose calls do not return when the run is to end.

// Passes a cut for a worker that has not; false if it is running or its grace lasts.
static bool pass_for(struct worker *worker, const struct cut *cut, uint64_t now) {
    if (atomic_load_explicit(&worker->passed, memory_order_acquire) > cut->index) {
        return true;
    }
    if (atomic_load_explicit(&worker->state, memory_order_relaxed) == WORKER_ABANDONED) {
        worker_pass_cut(worker);
        return true;
    }
    if (now < cut->end_ns + GRACE_NS || !worker_borrow(worker)) {
        return false;
    }
    if (atomic_load_explicit(&worker->passed, memory_order_relaxed) <= cut->index) {
        worker_pass_cut(worker);
    }
    worker_give_back(worker);
    return true;
}

static bool is_finished(const struct worker *worker) {
    return atomic_load_explicit(&worker->passed, memory_order_acquire) == UINT32_MAX;
}

// True if all workers of the stream have passed the cut, and at least one continues after it. If all are finished the
// slot may have been cut short, and recorder_finish knows when it ended.
static bool slot_has_ended(const struct stream_step *stream, const struct cut *cut, uint64_t now) {
    bool one_continues = false;
    for (uint32_t i = 0; i < stream->workers; i++) {
        if (!pass_for(&stream->first_worker[i], cut, now)) {
            return false;
        }
        one_continues |= !is_finished(&stream->first_worker[i]);
    }
    return one_continues;
}

// Takes over every slot that has ended.
static void advance(struct run *run, uint64_t now) {
    for (uint32_t i = 0; i < run->workload.streams_count; i++) {
        const struct stream_step *stream = &run->workers.streams[i];
        for (int operation = 0; operation < OPERATIONS; operation++) {
            struct recorder *recorder = stream->recorders[operation];
            while (recorder != NULL && now >= recorder->cut.end_ns && slot_has_ended(stream, &recorder->cut, now)) {
                recorder_finalise_next(recorder);
            }
        }
    }
}

static void show(struct run *run, uint64_t now) {
    uint64_t start_ns = run->workers.plan.timeline.start_ns;
    screen_elapsed(&run->screen, now > start_ns ? (now - start_ns) / NS_PER_S : 0);
    run_progress(run, now < start_ns ? "warmup" : "measuring");
}

static void note_in_flight(struct run *run, struct worker *worker, uint64_t now) {
    uint64_t start_ns = atomic_load(&worker->call_start_ns);
    if (start_ns == 0) {
        return;
    }
    struct stall stall = {.latency_ns = now - start_ns, .start_ns = start_ns, .in_flight = true,
                          .ordinal = worker->operations - worker->warmup_operations + 1, .file = worker->pattern.file,
                          .offset_bytes = worker->pattern.offset_bytes, .worker = worker->number};
    if (!run->has_in_flight || stall.latency_ns > run->in_flight.latency_ns) {
        run->in_flight = stall;
        run->has_in_flight = true;
        workspace_file_path(&run->workspace, worker->place, worker->pattern.file, run->in_flight_file);
    }
    worker->figures[worker->operation]->in_flight = stall;
}

// Abandons workers whose calls do not return. True once every worker has finished or is abandoned.
static bool abandon_hanging(struct run *run, uint64_t now) {
    bool all = true;
    for (uint32_t i = 0; i < workers_in_step(&run->workers); i++) {
        struct worker *worker = workers_at(&run->workers, i);
        if (is_finished(worker) || atomic_load(&worker->state) == WORKER_ABANDONED) {
            continue;
        }
        if (worker_abandon(worker)) {
            note_in_flight(run, worker, now);
            run->thread_hangs = true;
        } else {
            all = false;
        }
    }
    return all;
}

static void finish_abandoned(struct run *run, uint64_t now) {
    advance(run, now);
    for (uint32_t i = 0; i < workers_in_step(&run->workers); i++) {
        struct worker *worker = workers_at(&run->workers, i);
        if (!is_finished(worker)) {
            worker_finish(worker, now);
            (void)pthread_detach(worker->thread);
            (void)atomic_fetch_add(&run->workers.plan.finished, 1);
        }
    }
}

static uint64_t next_look_ns(struct run *run, uint64_t now) {
    const struct step_plan *plan = &run->workers.plan;
    if (now >= plan->end_ns || run->supervisor.reason != STOP_NONE || atomic_load(&plan->stop)) {
        return now + END_MONITOR_NS;
    }
    uint64_t next_ns = now + MONITOR_NS;
    uint64_t cut_ns = stream_recorder(&run->workers.streams[0])->cut.end_ns + GRACE_NS;
    if (cut_ns <= now) {
        return now + END_MONITOR_NS;    // a worker that was running will have passed the cut very soon
    }
    next_ns = cut_ns < next_ns ? cut_ns : next_ns;
    return plan->end_ns < next_ns ? plan->end_ns : next_ns;
}

// No disk can be the cause of that: main makes no call between the two.
static void note_oversleep(struct run *run, uint64_t until_ns, uint64_t now) {
    if (now > until_ns && now - until_ns > run->oversleep_max_ns) {
        run->oversleep_max_ns = now - until_ns;
        run->oversleep_max_step = run->workers.plan.key.step;
    }
}

// Until every worker of the step has finished, or is abandoned.
static void monitor_workers(struct run *run) {
    struct step_plan *plan = &run->workers.plan;
    uint64_t shown_s = UINT64_MAX;
    while (atomic_load(&plan->finished) < workers_in_step(&run->workers)) {
        uint64_t now = now_ns();
        uint64_t until_ns = next_look_ns(run, now);
        if (supervisor_wait(&run->supervisor, until_ns)) {
            atomic_store(&plan->stop, true);
        }
        now = now_ns();
        note_oversleep(run, until_ns, now);
        advance(run, now);
        if ((now - plan->begin_ns) / NS_PER_S != shown_s) {         // the step's seconds; before it, any number
            shown_s = (now - plan->begin_ns) / NS_PER_S;
            show(run, now);
        }
        if (supervisor_patience_over(&run->supervisor) && abandon_hanging(run, now)) {
            finish_abandoned(run, now);
        }
    }
}

// Verification.

static void verify_tick(void *run) {
    run_progress(run, "verifying");
}

static void note_verify_failure(struct run *run, const struct mismatch *place, const char *what) {
    struct failure *failure = &run->failure;
    const struct verify *verify = &run->verify;
    failure->offset_bytes = place->offset_bytes;
    failure->queue_manager = place->worker;
    failure->block_bytes = verify->stream->block_bytes;
    failure->write = place->ordinal;
    (void)snprintf(failure->call, sizeof failure->call, "%s", verify->call != NULL ? verify->call : "pread");
    if (place->worker > 0) {
        workspace_file_path(&run->workspace, verify->stream->first_worker[place->worker - 1].place, place->file, failure->file);
    }
    char write[64] = "";
    if (place->ordinal > 0) {
        (void)snprintf(write, sizeof write, " (write %" PRIu64 " of step %" PRIu32 ")", place->ordinal, run->workers.plan.key.step);
    }
    (void)failure_set(failure, EXIT_IO_ERROR, "--verify: %s at offset %" PRIu64 " of %s%s: %s", what,
                      failure->offset_bytes, failure->file, write, failure_error_text(failure->error));
}

static void verify_step(struct run *run, struct stream_step *stream) {
    struct verify *verify = &run->verify;
    *verify = (struct verify){.stream = stream, .direct = run->options->direct != 0};
    if (!job_run(&run->work, &run->supervisor, verify_stream, verify, &verify->stop, verify_tick, run)) {
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

// Only what was written in a known order can be told again.
static void verify_streams(struct run *run) {
    for (uint32_t i = 0; i < run->workload.streams_count && run->failure.status == EXIT_MEASURED; i++) {
        struct stream_step *stream = &run->workers.streams[i];
        if (!stream_has(stream->stream, OPERATION_READ) && stream->first_worker->pass_operations > 0) {
            verify_step(run, stream);
        }
    }
}

// The wall clock at an instant of the monotonic one. On a busy host this thread may lose its processor between two
// reads, so the closest of a few pairs counts.
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

bool step_run(struct run *run, uint32_t number, uint64_t block_bytes, uint32_t load_point) {
    workers_prepare_step(&run->workers, &(struct result_key){.step = number, .block_bytes = block_bytes, .load_point = load_point});
    if (!wait_for_plan(run, number)) {
        run_note_stop(run);
        return false;
    }
    start_workers(run, number);
    const struct timeline *timeline = &run->workers.plan.timeline;
    run->workers.plan.start_epoch_ns = epoch_at(timeline->start_ns);
    screen_start_step(&run->screen, block_bytes, load_point, timeline->duration_ns / NS_PER_S);
    run->progress.writes = &stream_recorder(&run->workers.streams[0])->step;
    monitor_workers(run);
    disturbance_end_step(&run->disturbance);
    step_report(run);
    run_progress(run, "measuring");     // the step's last percent and writes
    if (run->options->verify && run->failure.status == EXIT_MEASURED) {
        verify_streams(run);
    }
    return run->failure.status == EXIT_MEASURED;
}
