// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "run.h"

#include "base/clock.h"
#include "output/console.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void run_warn(struct run *run, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    console_complain("warning: %s", text);
    if (run->warnings_count < RUN_WARNINGS_MAX) {
        char *copy = strdup(text);
        if (copy != NULL) {
            run->warnings[run->warnings_count++] = copy;
        }
    }
}

void run_note_stop(struct run *run) {
    const struct supervisor *supervisor = &run->supervisor;
    const char *what = supervisor->reason == STOP_DEADLINE ? "the deadline has passed"
                       : supervisor->signal == SIGINT ? "interrupted by SIGINT"
                       : supervisor->signal == SIGTERM ? "interrupted by SIGTERM" : "interrupted by SIGHUP";
    bool is_write = run->in_flight_call[0] == '\0' || strcmp(run->in_flight_call, "pwritev") == 0;
    if (run->has_in_flight && !is_write) {
        (void)failure_set(&run->failure, EXIT_INTERRUPTED, "%s; %s of %s had been in flight for %.3f s", what,
                          run->in_flight_call, run->in_flight_file, (double)run->in_flight.latency_ns / 1e9);
    } else if (run->has_in_flight) {
        (void)failure_set(&run->failure, EXIT_INTERRUPTED, "%s; the write at offset %" PRIu64 " of %s had been in flight "
                          "for %.3f s", what, run->in_flight.offset_bytes, run->in_flight_file,
                          (double)run->in_flight.latency_ns / 1e9);
    } else {
        (void)failure_set(&run->failure, EXIT_INTERRUPTED, "%s", what);
    }
}

// Tables must not wait for a progress file that hangs with the disk under test.
void run_write_progress(struct run *run) {
    bool may_hang = atomic_load(&run->places_known) && run->places.progress;
    progress_write(&run->progress, may_hang ? &run->work : &run->files);
}

void run_progress(struct run *run, const char *state) {
    uint64_t step_s = run->options->warmup_s + run->options->duration_s;
    uint64_t now = now_ns();
    uint64_t in_step_s = run->workers.plan.key.step > 0 && run->workers.plan.begin_ns > 0 && now > run->workers.plan.begin_ns
                             ? (now - run->workers.plan.begin_ns) / NS_PER_S : 0;
    uint64_t done_s = (run->workers.plan.key.step > 0 ? run->workers.plan.key.step - 1 : 0) * step_s + (in_step_s < step_s ? in_step_s : step_s);
    uint64_t all_s = run->steps * step_s;
    run->progress.state = state;
    run->progress.step = run->workers.plan.key.step;
    run->progress.steps = run->steps;
    run->progress.block_bytes = run->workers.plan.key.block_bytes;
    run->progress.queue_managers = run->workers.plan.key.load_point;
    run->progress.percent = 100.0 * (double)done_s / (double)all_s;
    run->progress.elapsed_s = (now - run->start_ns) / NS_PER_S;
    run->progress.remaining_s = all_s - done_s;
    run->progress.error = run->failure.status != EXIT_MEASURED;
    run_write_progress(run);
    tables_flush(&run->tables, &run->files);
    console_flush();
}
