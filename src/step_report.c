// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "step_report.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>

static void note_error(struct run *run, uint32_t queue_managers) {
    const struct writer *first = NULL;
    for (uint32_t i = 0; i < queue_managers; i++) {
        const struct writer *writer = &run->writers[i];
        if (writer->error.occurred && (first == NULL || writer->error.at_ns < first->error.at_ns)) {
            first = writer;
        }
    }
    if (first == NULL) {
        return;
    }
    struct failure *failure = &run->failure;
    failure->error = first->error.error;
    failure->offset_bytes = first->ring.offset_bytes;
    failure->queue_manager = first->queue_manager;
    failure->block_bytes = run->plan.block_bytes;
    failure->write = first->error.write;
    const char *call = !first->error.in_flush ? "pwritev" : run->plan.sync == SYNC_FSYNC ? "fsync" : "fdatasync";
    (void)snprintf(failure->call, sizeof failure->call, "%s", call);
    workspace_file_path(&run->workspace, first->queue_manager, first->ring.file, failure->file);
    (void)failure_set(failure, EXIT_IO_ERROR, "%s failed at offset %" PRIu64 " of %s (block of %" PRIu64 " bytes, write %"
                      PRIu64 "%s): %s", call, failure->offset_bytes, failure->file, failure->block_bytes, failure->write,
                      first->error.in_warmup ? " of the warm-up" : "", failure_error_text(failure->error));
}

static void report_stalls(struct run *run) {
    struct stalls all = {0};
    for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
        for (size_t j = 0; j < run->writers[i].totals.stalls.count; j++) {
            stalls_insert(&all, &run->writers[i].totals.stalls.longest[j]);
        }
    }
    for (size_t i = 0; i < all.count; i++) {
        char path[PATH_MAX];
        workspace_file_path(&run->workspace, all.longest[i].queue_manager, all.longest[i].file, path);
        tables_stall(&run->tables, &run->row, (uint32_t)i + 1, &all.longest[i], run->plan.timeline.start_ns, path);
    }
}

static const struct stall *in_flight_of(const struct writer *writer) {
    return writer->totals.in_flight.in_flight ? &writer->totals.in_flight : NULL;
}

static void check_books(struct run *run, const struct result *all) {
    uint64_t waits = 0;
    for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
        waits += run->writers[i].totals.waits_for_recorder;
    }
    if (waits > 0) {
        run_warn(run, "step %" PRIu32 ": writers waited %" PRIu64 " times for the recorder, outside the timed interval",
                 run->row.step, waits);
    }
    if (all->writes_not_started > 0) {
        run_warn(run, "step %" PRIu32 ": %" PRIu64 " writes were due by --rate and not started when the measured time "
                 "ended; the response figures have what they had waited by then", run->row.step, all->writes_not_started);
    }
    if (all->latency->statistics.count != run->recorder.step.statistics.count ||
        all->latency->statistics.sum_ns != run->recorder.step.statistics.sum_ns) {
        run_warn(run, "step %" PRIu32 ": seconds and totals differ; please report this as a bug", run->row.step);
    }
}

static void report_figures(struct run *run, uint64_t start_epoch_ns) {
    uint32_t count = run->plan.queue_managers;
    struct result all = result_of_all(run->writers, count, run->row.step, start_epoch_ns, &run->recorder,
                                      &run->all_room);
    for (uint32_t i = 0; i < count; i++) {
        struct result one = result_of_writer(&run->writers[i], run->row.step, start_epoch_ns, &run->one_room);
        const struct stall *in_flight = in_flight_of(&run->writers[i]);
        if (in_flight != NULL) {
            result_note_in_flight(&one, in_flight);
            result_note_in_flight(&all, in_flight);
        }
        tables_result(&run->tables, &one);
        if (count > 1) {
            screen_queue_manager(&one);
        }
    }
    tables_result(&run->tables, &all);
    for (uint32_t i = 0; i < run->recorder.rounds_done; i++) {
        tables_round(&run->tables, &run->row, i + 1, &run->recorder.rounds[i]);
    }
    report_stalls(run);
    check_books(run, &all);
    run->rows[run->row.step - 1] = mqldt_row_of(&all, run->writers, &run->one_room);
    screen_result(&run->rows[run->row.step - 1], &all);
}

static void close_books(struct run *run, uint32_t queue_managers) {
    uint32_t last_cut = 0;
    uint64_t end_ns = 0;
    for (uint32_t i = 0; i < queue_managers; i++) {
        const struct writer *writer = &run->writers[i];
        last_cut = writer->cut.index > last_cut ? writer->cut.index : last_cut;
        end_ns = writer->totals.end_ns > end_ns ? writer->totals.end_ns : end_ns;
    }
    recorder_finish(&run->recorder, last_cut, end_ns);
    uint64_t measured_s = end_ns > run->plan.timeline.start_ns ? (end_ns - run->plan.timeline.start_ns) / NS_PER_S : 0;
    screen_end_step(&run->screen, measured_s < run->options->duration_s ? measured_s : run->options->duration_s);
}

// What the writers know of their own share in the disturbance.
static void add_threads(struct run *run) {
    struct disturbance *disturbance = &run->disturbance;
    for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
        const struct writer_totals *totals = &run->writers[i].totals;
        uint64_t bytes = run->writers[i].writes * run->plan.block_bytes;
        disturbance->own_bytes += bytes;
        disturbance->own_device_bytes += run->workspace.directories[i].device == run->workspace.directories[0].device ? bytes : 0;
        disturbance->threads_known = disturbance->threads_known && totals->thread.known;
        disturbance->run_queue_wait_ns += totals->thread.run_queue_wait_ns;
        disturbance->involuntary_switches += totals->thread.involuntary_switches;
        disturbance->writers_elapsed_ns += totals->end_ns > run->plan.begin_ns ? totals->end_ns - run->plan.begin_ns : 0;
    }
}

void step_report(struct run *run, uint64_t start_epoch_ns) {
    add_threads(run);
    close_books(run, run->plan.queue_managers);
    note_error(run, run->plan.queue_managers);
    if (run->failure.status == EXIT_MEASURED && run->supervisor.reason != STOP_NONE) {
        run_note_stop(run);
    }
    run->steps_measured++;
    report_figures(run, start_epoch_ns);
}
