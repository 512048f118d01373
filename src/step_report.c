// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "step_report.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>

static const char *call_name(const struct worker *worker) {
    const struct worker_error *error = &worker->error;
    return error->operation == OPERATION_READ ? "preadv" : !error->in_flush ? "pwritev"
           : worker->stream->stream->sync == SYNC_FSYNC ? "fsync" : "fdatasync";
}

static void note_error(struct run *run) {
    const struct worker *first = NULL;
    for (uint32_t i = 0; i < workers_in_step(&run->workers); i++) {
        const struct worker *worker = workers_at(&run->workers, i);
        if (worker->error.occurred && (first == NULL || worker->error.at_ns < first->error.at_ns)) {
            first = worker;
        }
    }
    if (first == NULL) {
        return;
    }
    struct failure *failure = &run->failure;
    failure->error = first->error.error;
    failure->offset_bytes = first->pattern.offset_bytes;
    failure->queue_manager = first->number;
    failure->block_bytes = first->pattern.block_bytes;
    failure->write = first->error.ordinal;
    (void)snprintf(failure->call, sizeof failure->call, "%s", call_name(first));
    workspace_file_path(&run->workspace, first->place, first->pattern.file, failure->file);
    (void)failure_set(failure, EXIT_IO_ERROR, "%s failed at offset %" PRIu64 " of %s (block of %" PRIu64 " bytes, %s %"
                      PRIu64 "%s): %s", failure->call, failure->offset_bytes, failure->file, failure->block_bytes,
                      operation_name(first->error.operation), failure->write,
                      first->error.in_warmup ? " of the warm-up" : "", failure_error_text(failure->error));
}

static void report_stalls(struct run *run, const struct stream_step *stream, enum operation operation) {
    struct stalls all = {0};
    for (uint32_t i = 0; i < stream->workers; i++) {
        const struct stalls *stalls = &stream->first_worker[i].figures[operation]->stalls;
        for (size_t j = 0; j < stalls->count; j++) {
            stalls_insert(&all, &stalls->longest[j]);
        }
    }
    for (size_t i = 0; i < all.count; i++) {
        char path[PATH_MAX];
        const struct stall *stall = &all.longest[i];
        workspace_file_path(&run->workspace, stream->first_worker[stall->worker - 1].place, stall->file, path);
        struct table_row row = {.key = result_key_of(stream, operation), .number = (uint32_t)i + 1, .stall = stall,
                                .step_start_ns = stream->plan->timeline.start_ns, .file = path};
        row.key.worker = stall->worker;
        tables_add(&run->tables, TABLE_STALLS, &row);
    }
}

static void warn_of_waits(struct run *run, const struct stream_step *stream, const struct result *all) {
    uint64_t waits = 0;
    for (uint32_t i = 0; i < stream->workers; i++) {
        waits += stream->first_worker[i].waits_for_recorder;
    }
    if (waits > 0) {
        run_warn(run, "step %" PRIu32 ": workers waited %" PRIu64 " times for the main thread, outside the timed interval",
                 run->workers.plan.key.step, waits);
    }
    if (all->operations_not_started > 0) {
        run_warn(run, "step %" PRIu32 ": %" PRIu64 " writes were due by --rate and not started when the measured time "
                 "ended; the response figures include how long they had waited by then", run->workers.plan.key.step,
                 all->operations_not_started);
    }
}

// The screen and mqldt's table know only the workload's first stream, and what it writes.
static bool is_on_screen(const struct run *run, const struct stream_step *stream, enum operation operation) {
    return stream == run->workers.streams && operation == OPERATION_WRITE;
}

static void report_workers(struct run *run, const struct stream_step *stream, enum operation operation,
                           struct mqldt_row *row) {
    for (uint32_t i = 0; i < stream->workers; i++) {
        struct result one = result_of_worker(&stream->first_worker[i], operation);
        tables_add(&run->tables, TABLE_RESULTS, &(struct table_row){.key = one.key, .result = &one});
        mqldt_row_add(row, &one);
        if (is_on_screen(run, stream, operation) && stream->workers > 1) {
            screen_queue_manager(&one);
        }
    }
}

static void report_operation(struct run *run, const struct stream_step *stream, enum operation operation) {
    struct recorder *recorder = stream->recorders[operation];
    struct result all = result_of_all(stream, operation);
    struct mqldt_row row = mqldt_row_start();
    report_workers(run, stream, operation, &row);
    tables_add(&run->tables, TABLE_RESULTS, &(struct table_row){.key = all.key, .result = &all});
    for (uint32_t i = 0; i < recorder->rounds_done; i++) {
        tables_add(&run->tables, TABLE_ROUNDS,
                   &(struct table_row){.key = all.key, .number = i + 1, .round = &recorder->rounds[i]});
    }
    report_stalls(run, stream, operation);
    warn_of_waits(run, stream, &all);
    if (is_on_screen(run, stream, operation)) {
        mqldt_row_finish(&row, &all);
        run->rows[run->workers.plan.key.step - 1] = row;
        screen_result(&row, &all);
    }
}

// Ends the recorders of the stream; when its last worker ended.
static uint64_t finish_stream(const struct stream_step *stream) {
    uint32_t last_cut = 0;
    uint64_t end_ns = 0;
    for (uint32_t i = 0; i < stream->workers; i++) {
        const struct worker *worker = &stream->first_worker[i];
        last_cut = worker->cut.index > last_cut ? worker->cut.index : last_cut;
        end_ns = worker->finish_ns > end_ns ? worker->finish_ns : end_ns;
    }
    for (int operation = 0; operation < OPERATIONS; operation++) {
        if (stream->recorders[operation] != NULL) {
            recorder_finish(stream->recorders[operation], last_cut, end_ns);
        }
    }
    return end_ns;
}

// What the workers know of their own share in the disturbance.
static void add_threads(struct run *run) {
    struct disturbance *disturbance = &run->disturbance;
    const struct directory *directories = run->workspace.directories;
    uint64_t begin_ns = run->workers.plan.begin_ns;
    for (uint32_t i = 0; i < workers_in_step(&run->workers); i++) {
        const struct worker *worker = workers_at(&run->workers, i);
        uint64_t bytes = worker->operations * worker->pattern.block_bytes;
        disturbance->own_bytes += bytes;
        disturbance->own_device_bytes += directories[worker->place - 1].device == directories[0].device ? bytes : 0;
        disturbance->threads_known = disturbance->threads_known && worker->thread_figures.known;
        disturbance->run_queue_wait_ns += worker->thread_figures.run_queue_wait_ns;
        disturbance->involuntary_switches += worker->thread_figures.involuntary_switches;
        disturbance->writers_elapsed_ns += worker->finish_ns > begin_ns ? worker->finish_ns - begin_ns : 0;
    }
}

void step_report(struct run *run) {
    uint64_t start_ns = run->workers.plan.timeline.start_ns, end_ns = 0;
    add_threads(run);
    for (uint32_t i = 0; i < run->workload.streams_count; i++) {
        uint64_t stream_end_ns = finish_stream(&run->workers.streams[i]);
        end_ns = stream_end_ns > end_ns ? stream_end_ns : end_ns;
    }
    uint64_t measured_s = end_ns > start_ns ? (end_ns - start_ns) / NS_PER_S : 0;
    screen_end_step(&run->screen, measured_s < run->options->duration_s ? measured_s : run->options->duration_s);
    note_error(run);
    if (run->failure.status == EXIT_MEASURED && run->supervisor.reason != STOP_NONE) {
        run_note_stop(run);
    }
    run->steps_measured++;
    for (uint32_t i = 0; i < run->workload.streams_count; i++) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            if (run->workers.streams[i].recorders[operation] != NULL) {
                report_operation(run, &run->workers.streams[i], (enum operation)operation);
            }
        }
    }
}
