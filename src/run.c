// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "run.h"

#include "output/console.h"

#define STEPS_DONE_MAX 48           // steps in the progress; its readers take at most 4 KiB

void run_warn(struct run *run, const char *format, ...) {
    char *text = run->warnings[run->warnings_count];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof run->warnings[0], format, arguments);
    va_end(arguments);
    console_complain("warning: %s", text);
    run->warnings_count += run->warnings_count < RUN_WARNINGS_MAX;
}

void run_note_stop(struct run *run) {
    const struct supervisor *supervisor = &run->supervisor;
    const char *what = supervisor->reason == STOP_DEADLINE ? "the deadline has passed"
                       : supervisor->signal == SIGINT ? "interrupted by SIGINT"
                       : supervisor->signal == SIGTERM ? "interrupted by SIGTERM" : "interrupted by SIGHUP";
    const struct activity *activity = &run->in_flight;
    double age_s = (double)run->in_flight_age_ns / 1e9;
    if (activity->call == NULL) {
        (void)failure_set(&run->failure, EXIT_INTERRUPTED, "%s", what);
    } else if (strcmp(activity->call, "pwritev") == 0) {
        (void)failure_set(
            &run->failure, EXIT_INTERRUPTED, "%s; the write at offset %" PRIu64 " of %s had been in flight for %.3f s",
            what, activity->offset_bytes, activity->file, age_s);
    } else {
        (void)failure_set(&run->failure, EXIT_INTERRUPTED, "%s; %s of %s had been in flight for %.3f s", what,
                          activity->call, activity->file, age_s);
    }
}

// All operations of the step so far, not counting commits.
static uint64_t operations_so_far(const struct run *run) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < run->workload.streams_count && run->workers.plan.key.step > 0; i++) {
        for (int operation = 0; operation < OPERATION_COMMIT; operation++) {
            const struct recorder *recorder = run->workers.streams[i].recorders[operation];
            count += recorder != NULL ? recorder->step.count : 0;
        }
    }
    return count;
}

void run_note_step(struct run *run) {
    const struct step_plan *plan = &run->workers.plan;
    const struct distribution *writes = &stream_recorder(&run->workers.streams[0])->step;
    uint64_t p99_ns;
    if (run->steps_measured > STEPS_DONE_MAX || !distribution_percentile_ns(writes, BY_COUNT, 990000, &p99_ns)) {
        return;
    }
    text_printf(&run->steps_done, "%s%" PRIu64 ":%" PRIu32 ":%" PRIu64 ":%" PRIu64,
                run->steps_done.length > 0 ? "," : "", plan->key.block_bytes, plan->key.load_point, p99_ns,
                writes->max_ns);
}

static void put_progress(struct text *line, const struct run *run) {
    const struct step_plan *plan = &run->workers.plan;
    const struct distribution *writes = plan->key.step > 0 ? &stream_recorder(&run->workers.streams[0])->step : NULL;
    uint64_t step_s = run->options->warmup_s + run->options->duration_s, all_s = run->steps * step_s, now = now_ns();
    uint64_t in_step_s = plan->begin_ns > 0 && now > plan->begin_ns ? (now - plan->begin_ns) / NS_PER_S : 0;
    uint64_t before_s = plan->key.step > 0 ? (plan->key.step - 1) * step_s : 0;
    uint64_t done_s = before_s + (in_step_s < step_s ? in_step_s : step_s), p99_ns;
    text_printf(line,
                "state=%s step=%" PRIu32 " steps=%" PRIu32 " percent=%.1f elapsed_s=%" PRIu64 " remaining_s=%" PRIu64
                " block_size_bytes=%" PRIu64 " load_point=%" PRIu32 " writes=%" PRIu64,
                run->state, plan->key.step, run->steps, 100.0 * (double)done_s / (double)all_s,
                (now - run->start_ns) / NS_PER_S, all_s - done_s, plan->key.block_bytes, plan->key.load_point,
                operations_so_far(run));
    if (writes != NULL && distribution_percentile_ns(writes, BY_COUNT, 990000, &p99_ns)) {
        text_printf(line, " latency_p99_ns=%" PRIu64 " latency_max_ns=%" PRIu64, p99_ns, writes->max_ns);
    }
    if (run->steps_done.length > 0) {
        text_printf(line, " done=%s", run->steps_done.bytes);
    }
    text_printf(line, " error=%d\n", run->failure.status != EXIT_MEASURED);
}

void run_progress(void *argument) {
    struct run *run = argument;
    if (!atomic_load(&run->opened)) {
        return;
    }
    struct text *line = progress_line(&run->progress);
    bool known = atomic_load(&run->own_files_known);
    if (line != NULL) {
        put_progress(line, run);
        // The tables must not wait for a progress file that hangs with the disk under test.
        progress_write(&run->progress, known && run->progress_under_test ? &run->work : &run->files);
    }
    tables_flush(&run->tables, &run->files);
    // Text for a regular file is held back until the file system of that file is known.
    if (known && !run->console_under_test) {
        console_release();
    }
    console_flush();
}

static bool work_is_done(void *argument) {
    struct run *run = argument;
    if (now_ns() >= run->progress_due_ns) {
        run_progress(run);
        run->progress_due_ns = now_ns() + NS_PER_S;
    }
    return job_thread_idle(&run->work);
}

void run_job(struct run *run, void (*work)(void *), void *argument, uint64_t patience_ns) {
    run->thread_hangs = !job_thread_add(&run->work, work, argument) ||
                        !supervisor_await(&run->supervisor, work_is_done, run, patience_ns);
}
