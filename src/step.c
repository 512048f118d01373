// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "run.h"

#define LEAD_NS UINT64_C(3000000)               // from the start signal to the first operation
#define LEAD_PER_WORKER_NS UINT64_C(20000)
#define WAKE_NS UINT64_C(50000000)              // main wakes this long before a planned start
#define GRACE_NS UINT64_C(10000000)             // how long a worker in a call has to pass a cut itself
#define MONITOR_NS UINT64_C(250000000)          // the longest wait between two checks
#define END_MONITOR_NS UINT64_C(2000000)        // the longest wait after the step has ended
#define OVER_WORKER_ROWS_MAX 400000             // rows of single workers in over.csv, in all steps: about 20 MB
#define TRACE_PATIENCE_NS (30 * NS_PER_S)       // for writing the trace if the run was told to end

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

// Calls act() for every operation of every stream.
static void each_operation(struct run *run, void (*act)(struct run *, struct stream_step *, enum operation)) {
    for (uint32_t i = 0; i < run->workload.streams_count; i++) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            if (run->workers.streams[i].recorders[operation] != NULL) {
                act(run, &run->workers.streams[i], (enum operation)operation);
            }
        }
    }
}

// The start.

// 0 if the step has no planned start.
static uint64_t planned_begin_ns(const struct run *run) {
    uint64_t step_s = run->options->warmup_s + run->options->duration_s + run->step_gap_s;
    return run->first_begin_ns > 0 ? run->first_begin_ns + (run->workers.plan.key.step - 1) * step_s * NS_PER_S : 0;
}

// Sets the times of a step, given when it begins. A step that starts late still ends at its planned time, but keeps at
// least half of its duration. The warm-up is shortened first.
static void set_times(struct run *run, uint64_t begin_ns) {
    struct step_plan *plan = &run->workers.plan;
    uint64_t warmup_ns = run->options->warmup_s * NS_PER_S, duration_ns = run->options->duration_s * NS_PER_S;
    uint64_t planned_ns = planned_begin_ns(run), late_ns = planned_ns > 0 ? begin_ns - planned_ns : 0;
    uint64_t from_warmup_ns = least(late_ns, warmup_ns);
    warmup_ns -= from_warmup_ns;
    duration_ns -= least(late_ns - from_warmup_ns, duration_ns / 2);
    if (late_ns > NS_PER_S / 10) {
        run_warn(run, "step %" PRIu32 " began %.3f s after its planned start and was shortened", plan->key.step,
                 (double)late_ns / 1e9);
    }
    plan->begin_ns = begin_ns;
    plan->timeline = (struct timeline){.start_ns = begin_ns + warmup_ns, .duration_ns = duration_ns};
    plan->end_ns = plan->timeline.start_ns + duration_ns;
}

// Waits until shortly before a planned start; false if the run must end.
static bool wait_for_plan(struct run *run) {
    uint64_t planned_ns = planned_begin_ns(run), until_ns = planned_ns > 0 ? planned_ns - WAKE_NS : 0;
    bool stopped = run->supervisor.reason != STOP_NONE;
    run->state = "waiting";
    for (uint64_t now = now_ns(); !stopped && now < until_ns; now = now_ns()) {
        run_progress(run);
        stopped = supervisor_wait(&run->supervisor, least(now + NS_PER_S, until_ns));
    }
    return !stopped;
}

// --monitor shows the writes or the commits of a log; for --stream, it shows places.
static bool is_monitored(const struct run *run, const struct stream_step *stream, int operation) {
    const struct stream *of = stream->stream;
    int monitored =
        stream_has(of, OPERATION_COMMIT) ? OPERATION_COMMIT
        : stream_has(of, OPERATION_WRITE)
            ? OPERATION_WRITE
            : OPERATION_READ;
    return stream == run->workers.streams && operation == monitored && !stream_is_described(of);
}

// Limits the rows of single workers in over.csv to as many as the controller can be expected to read.
static void
count_workers_over(struct run *run, struct table_row *row, struct stream_step *stream, enum operation operation) {
    const struct number_list *over = stream->over;
    for (uint32_t n = 0; stream_counts_workers(stream, operation) && over->count > 0 && n < stream->workers; n++) {
        const struct worker *worker = &stream->first_worker[n];
        struct distribution_over *found = figures_over(worker->figures[operation], stream, row->number);
        row->key.worker = worker->number;
        for (size_t i = 0; i < over->count; i++) {
            row->over_ns = over->values[i];
            row->over = found[i];
            if (found[i].count > 0 && run->over_rows_left == 0) {
                stream->over_too_many = true;
            } else if (found[i].count > 0) {
                tables_add(&run->tables, TABLE_OVER, row);
                run->over_rows_left--;
            }
        }
        memset(found, 0, over->count * sizeof *found);
    }
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
    count_workers_over(run, &row, &run->workers.streams[sink->stream->number], (enum operation)sink->operation);
    if (stream_is_described(sink->stream->stream) && !partial) {
        place_report_second(&run->places, sink->stream->stream, (enum operation)sink->operation, second, latency);
    }
    if (is_monitored(run, sink->stream, sink->operation)) {
        monitor_second(&run->monitor, second, partial, latency);
    }
    if (!partial && early_end_second(&run->early_end, row.key.step, latency, sink->stream->workers,
                                     stream_recorder(sink->stream)->step.min_ns)) {
        atomic_store(&run->workers.plan.stop, true);
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

static void start_recorder(struct run *run, struct stream_step *stream, enum operation operation) {
    stream->over_too_many = false;
    recorder_start_step(stream->recorders[operation], run->workers.plan.timeline,
                        (struct recorder_sink){run, stream, operation, second_done, batch_done});
}

static void start_workers(struct run *run) {
    uint64_t planned_ns = planned_begin_ns(run);
    uint64_t begin_ns = now_ns() + LEAD_NS + run->workers.active_count * LEAD_PER_WORKER_NS;
    set_times(run, begin_ns > planned_ns ? begin_ns : planned_ns);
    run->over_rows_left = OVER_WORKER_ROWS_MAX / run->steps;
    each_operation(run, start_recorder);
    early_end_begin_step(&run->early_end, run->workers.plan.key.block_bytes, run->workers.plan.key.load_point);
    run->before_step = run->disturbance;
    io_limits_begin_step(&run->io_limits);
    disturbance_begin_step(&run->disturbance);
    workers_start_step(&run->workers);
}

// While the workers run, the main thread passes cuts for those in a call, takes over finished slots, and shows the
// progress of the step. When the run should end, it abandons workers whose calls do not return.

// Passes a cut for a worker that has not passed it itself. Returns false if the worker is not in a call, or if its
// grace period is not over.
static bool pass_for(struct worker *worker, const struct cut *cut, uint64_t now) {
    if (atomic_load_explicit(&worker->passed, memory_order_acquire) > cut->index) {
        return true;
    }
    if (atomic_load_explicit(&worker->state, memory_order_relaxed) == WORKER_ABANDONED) {
        worker_pass_cut(worker);
        return true;
    }
    if (now < cut->end_ns + GRACE_NS || !worker_take(worker, WORKER_BORROWED)) {
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

// Returns true if all workers of the stream have passed the cut, and at least one of them continues after it. If all
// workers have finished, the slot may have been cut short, and recorder_finish determines when it ended.
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
static void advance(struct run *run, struct stream_step *stream, enum operation operation) {
    struct recorder *recorder = stream->recorders[operation];
    while (run->look_ns >= recorder->cut.end_ns && slot_has_ended(stream, &recorder->cut, run->look_ns)) {
        recorder_finalise_next(recorder);
    }
}

static void show(struct run *run) {
    uint64_t start_ns = run->workers.plan.timeline.start_ns, now = run->look_ns;
    if (run->options->monitor_s == 0) {
        screen_elapsed(&run->screen, now > start_ns ? (now - start_ns) / NS_PER_S : 0);
    }
    run->state = now < start_ns ? "warmup" : "measuring";
    run_progress(run);
}

static void note_in_flight(struct run *run, struct worker *worker) {
    uint64_t start_ns = atomic_load(&worker->call_start_ns);
    if (start_ns == 0) {
        return;
    }
    struct stall stall = {
        .latency_ns = run->look_ns - start_ns,
        .start_ns = start_ns,
        .in_flight = true,
        .ordinal = worker->operations - worker->warmup_operations + 1,
        .file = worker->first_file + worker->pattern.file,
        .offset_bytes = worker->pattern.offset_bytes,
        .worker = worker->number};
    if (run->in_flight.call == NULL || start_ns < run->in_flight.start_ns) {
        run->in_flight = (struct activity){.call = worker->operation == OPERATION_READ ? "preadv" : "pwritev",
                                           .place = worker->number, .start_ns = start_ns,
                                           .offset_bytes = worker_offset(worker)};
        run->in_flight_age_ns = stall.latency_ns;
        workspace_file_path(
            &run->workspace, worker->place, worker->first_file + worker->pattern.file, run->in_flight.file);
    }
    worker->figures[worker->operation]->in_flight = stall;
}

// Abandons workers whose calls do not return. Returns true once every worker has finished or is abandoned.
static bool abandon_hanging(struct run *run) {
    bool all = true;
    for (uint32_t i = 0; i < run->workers.active_count; i++) {
        struct worker *worker = run->workers.active[i];
        if (is_finished(worker) || atomic_load(&worker->state) == WORKER_ABANDONED) {
            continue;
        }
        if (worker_take(worker, WORKER_ABANDONED)) {
            note_in_flight(run, worker);
            run->thread_hangs = true;
        } else {
            all = false;
        }
    }
    return all;
}

static void finish_abandoned(struct run *run) {
    each_operation(run, advance);
    for (uint32_t i = 0; i < run->workers.active_count; i++) {
        struct worker *worker = run->workers.active[i];
        if (!is_finished(worker)) {
            worker_finish(worker, run->look_ns);
            (void)pthread_detach(worker->thread);
            (void)atomic_fetch_add(&run->workers.plan.finished, 1);
        }
    }
}

static uint64_t next_look_ns(const struct run *run, uint64_t now) {
    const struct step_plan *plan = &run->workers.plan;
    uint64_t cut_ns = stream_recorder(&run->workers.streams[0])->cut.end_ns + GRACE_NS;
    bool stops = run->supervisor.reason != STOP_NONE || atomic_load(&plan->stop);
    uint64_t next_ns = least(least(now + MONITOR_NS, cut_ns), plan->end_ns);
    // A worker that was not in a call at the cut will pass it very soon.
    return stops || next_ns < now + END_MONITOR_NS ? now + END_MONITOR_NS : next_ns;
}

// Waits until every worker of the step has finished or is abandoned.
static void monitor_workers(struct run *run) {
    struct step_plan *plan = &run->workers.plan;
    uint64_t shown_s = UINT64_MAX;
    while (atomic_load(&plan->finished) < run->workers.active_count) {
        uint64_t until_ns = next_look_ns(run, now_ns());
        if (supervisor_wait(&run->supervisor, until_ns)) {
            atomic_store(&plan->stop, true);
        }
        run->look_ns = now_ns();
        // The main thread makes no call between its checks. If it wakes later than this, a disk cannot be the cause.
        if (run->look_ns > until_ns + run->oversleep_max_ns) {
            run->oversleep_max_ns = run->look_ns - until_ns;
            run->oversleep_max_step = plan->key.step;
        }
        each_operation(run, advance);
        uint64_t second = (run->look_ns - plan->begin_ns) / NS_PER_S;       // arbitrary before the step begins
        if (second != shown_s) {
            shown_s = second;
            show(run);
        }
        if (supervisor_patience_over(&run->supervisor) && abandon_hanging(run)) {
            finish_abandoned(run);
        }
    }
}

// The end: completes the figures, and passes them to the tables, the screen and mqldt's table.

static void note_error(struct run *run) {
    const struct worker *first = NULL;
    for (uint32_t i = 0; i < run->workers.active_count; i++) {
        const struct worker *worker = run->workers.active[i];
        if (worker->error.call != NULL && (first == NULL || worker->finish_ns < first->finish_ns)) {
            first = worker;
        }
    }
    if (first == NULL) {
        return;
    }
    struct failure *failure = &run->failure;
    *failure = (struct failure){.call = first->error.call, .error = first->error.error, .queue_manager = first->number,
                                .offset_bytes = worker_offset(first), .block_bytes = first->pattern.block_bytes,
                                .write = first->error.ordinal};
    workspace_file_path(&run->workspace, first->place, first->first_file + first->pattern.file, failure->file);
    (void)failure_set(failure, EXIT_IO_ERROR, "%s failed at offset %" PRIu64 " of %s (block of %" PRIu64 " bytes, %s %"
                      PRIu64 "%s): %s", failure->call, failure->offset_bytes, failure->file, failure->block_bytes,
                      operation_name(first->operation), failure->write,
                      first->error.in_warmup ? " of the warm-up" : "", failure_error_text(failure->error));
}

static void report_stalls(struct run *run, const struct stream_step *stream, enum operation operation) {
    const struct stalls *stalls = &stream->all[operation]->stalls;
    for (size_t i = 0; i < stalls->count; i++) {
        char path[PATH_MAX];
        const struct stall *stall = &stalls->longest[i];
        workspace_file_path(&run->workspace, stream->first_worker[stall->worker - 1].place, stall->file, path);
        struct table_row row = {.key = result_key_of(stream, operation), .number = (uint32_t)i + 1, .stall = stall,
                                .step_start_ns = stream->plan->timeline.start_ns, .file = path};
        row.key.worker = stall->worker;
        tables_add(&run->tables, TABLE_STALLS, &row);
    }
}

// The screen and mqldt's table show only the writes and commits of the workload's first stream.
static void show_result(struct run *run, const struct stream_step *stream, const struct result *all,
                        enum operation operation) {
    if (stream_is_described(stream->stream)) {
        screen_stream(all);
        place_report_add(&run->places, stream->stream, operation, all);
    } else if (operation == OPERATION_COMMIT) {
        screen_commits(all);
    } else if (all->sizes != NULL) {
        screen_log_of_commits(all);
    } else if (operation == OPERATION_WRITE && stream == run->workers.streams) {
        struct mqldt_row row = mqldt_row_of(all);
        csvfile_add(&run->csvfile, &row);
        screen_result(&row, all);
    }
}

// If tables are printed, the summary appears only at their end.
static void summarize(struct run *run, const struct result *all) {
    if (run->tables.printed) {
        screen_summarize(&run->screen, all);
    }
}

// Responses are reported only for streams of --stream.
static void report_responses(struct run *run, const struct result *all) {
    struct table_row row = {.key = all->key, .latency = all->response};
    for (row.bucket = 0; all->response != NULL && row.bucket < DISTRIBUTION_BUCKETS; row.bucket++) {
        if (all->response->buckets[row.bucket] > 0) {
            tables_add(&run->tables, TABLE_RESPONSES, &row);
        }
    }
}

static void report_batches(struct run *run, const struct worker *worker, enum operation operation, uint32_t begun) {
    struct table_row row = {.key = result_key_of(worker->stream, operation)};
    row.key.worker = worker->number;
    for (row.number = 1; row.number <= begun; row.number++) {
        row.batch = worker->figures[operation]->batches[row.number - 1];
        tables_add(&run->tables, TABLE_BATCHES, &row);
    }
}

// At any instant, each worker of a stream of --stream may have an operation that is due and about to start.
static void warn_of_not_started(struct run *run, const struct stream_step *stream, const struct result *all) {
    bool described = stream_is_described(stream->stream);
    if (all->operations_not_started > (described ? stream->workers : 0)) {
        run_warn(run,
                 "step %" PRIu32 ": %" PRIu64 " %ss were due by %s%s and not started when the measured time "
                 "ended; the response figures include how long they had waited by then",
                 all->key.step, all->operations_not_started, all->key.operation, described ? "stream " : "--rate",
                 described ? all->key.stream : "");
    }
}

static void report_operation(struct run *run, struct stream_step *stream, enum operation operation) {
    bool described = stream_is_described(stream->stream);
    bool one_by_one =
        !described && stream == run->workers.streams && operation == OPERATION_WRITE && stream->workers > 1;
    struct recorder *recorder = stream->recorders[operation];
    struct result all = result_of_all(stream, operation);
    const struct io_limit_used *io_limit =
        operation == OPERATION_READ ? &run->io_limits.by_reads : &run->io_limits.by_writes;
    for (uint32_t i = 0; i < stream->workers; i++) {
        struct result one = result_of_worker(&stream->first_worker[i], operation);
        tables_add(&run->tables, TABLE_RESULTS,
                   &(struct table_row){.key = one.key, .result = &one, .io_limit = io_limit});
        if (stream_counts_workers(stream, operation)) {
            report_batches(run, &stream->first_worker[i], operation, recorder->cut.batch);
        }
        if (one_by_one) {
            screen_queue_manager(&one);
        }
    }
    tables_add(&run->tables, TABLE_RESULTS, &(struct table_row){.key = all.key, .result = &all, .io_limit = io_limit});
    for (uint32_t i = 0; i < recorder->rounds_done; i++) {
        tables_add(&run->tables, TABLE_ROUNDS,
                   &(struct table_row){.key = all.key, .number = i + 1, .round = &recorder->rounds[i]});
    }
    report_stalls(run, stream, operation);
    stop_above_look(&run->stop_above, &all);
    if (described) {
        report_responses(run, &all);
    }
    warn_of_not_started(run, stream, &all);
    show_result(run, stream, &all, operation);
    summarize(run, &all);
}

static void finish_recorder(struct run *run, struct stream_step *stream, enum operation operation) {
    uint64_t end_ns = 0;
    for (uint32_t i = 0; i < stream->workers; i++) {
        const struct worker *worker = &stream->first_worker[i];
        end_ns = worker->finish_ns > end_ns ? worker->finish_ns : end_ns;
    }
    recorder_finish(stream->recorders[operation], end_ns);
    if (is_monitored(run, stream, operation)) {
        monitor_end_step(&run->monitor, &stream->recorders[operation]->step);
    }
}

static void add_fidelity(void *context, const struct fidelity *fidelity) {
    struct run *run = context;
    struct table_row row = {.key = run->workers.plan.key, .fidelity = fidelity};
    row.key.stream = fidelity->stream != NULL ? fidelity->stream : "all";
    row.key.operation = "all";
    tables_add(&run->tables, TABLE_FIDELITY, &row);
}

// The row of all streams of --stream together, and how closely the streams met the requested shares and rates.
static void report_workload(struct run *run) {
    if (run->workers.whole == NULL) {
        return;
    }
    struct result whole = result_of_workload(&run->workers);
    tables_add(&run->tables, TABLE_RESULTS, &(struct table_row){.key = whole.key, .result = &whole});
    stop_above_look(&run->stop_above, &whole);
    report_responses(run, &whole);
    fidelity_each(&run->workers, add_fidelity, run);
    screen_stream(&whole);
    place_report_end_step(&run->places, whole.elapsed_ns);
    summarize(run, &whole);
}

static void write_trace(struct run *run) {
    struct trace *trace = &run->trace;
    int before = trace->error;
    if (trace->path == NULL) {
        return;
    }
    run_job(run, trace_write, trace, TRACE_PATIENCE_NS);
    if (!run->thread_hangs && before == 0 && trace->error != 0) {
        run_warn(run, "--trace=%s: cannot write it: %s; it is incomplete", trace->path, strerror(trace->error));
    }
}

// Returns the bytes that a worker read or wrote on the file system of the first directory, whose disk is sampled. All
// directories of a place are assumed to have equal parts of these bytes.
static uint64_t on_sampled_device(const struct run *run, const struct worker *worker, uint64_t bytes) {
    const struct place *places = run->workload.places, *first = &places[worker->place - 1];
    uint32_t directories = 0, sampled = 0;
    for (const struct place *at = first; at < places + run->workload.places_count; at++) {
        if (at > first && (first->name[0] == '\0' || strcmp(at->name, first->name) != 0)) {
            break;
        }
        directories++;
        sampled += at->file_system == places[0].file_system;
    }
    return bytes / directories * sampled;
}

// Adds the bytes that the workers themselves read and wrote to the disturbance record. Returns when the last worker
// ended.
static uint64_t add_workers(struct run *run) {
    struct disturbance *disturbance = &run->disturbance;
    const struct step_plan *plan = &run->workers.plan;
    uint64_t end_ns = plan->timeline.start_ns, waits = 0;
    for (uint32_t i = 0; i < run->workers.active_count; i++) {
        const struct worker *worker = run->workers.active[i];
        uint64_t written_bytes = worker_sizes_vary(worker) ? worker->moved_bytes[OPERATION_WRITE]
                                                           : worker->operations * worker->pattern.block_bytes;
        disturbance->own_bytes += written_bytes;
        disturbance->own_device_bytes += on_sampled_device(run, worker, written_bytes);
        disturbance->own_device_read_bytes += on_sampled_device(run, worker, worker->moved_bytes[OPERATION_READ]);
        disturbance->threads_known = disturbance->threads_known && worker->thread_figures.known;
        disturbance->run_queue_wait_ns += worker->thread_figures.run_queue_wait_ns;
        disturbance->involuntary_switches += worker->thread_figures.involuntary_switches;
        disturbance->writers_elapsed_ns += worker->finish_ns > plan->begin_ns ? worker->finish_ns - plan->begin_ns : 0;
        end_ns = worker->finish_ns > end_ns ? worker->finish_ns : end_ns;
        waits += worker->waits_for_recorder;
    }
    if (waits > 0) {
        run_warn(run,
                 "step %" PRIu32 ": workers waited %" PRIu64 " times for the main thread, outside the timed interval",
                 plan->key.step, waits);
    }
    return end_ns;
}

// Called when all workers have finished or are abandoned. If a worker failed, its error becomes run->failure.
static void report_step(struct run *run) {
    uint64_t measured_s = (add_workers(run) - run->workers.plan.timeline.start_ns) / NS_PER_S;
    each_operation(run, finish_recorder);
    place_report_end_periods(&run->places);
    screen_end_step(&run->screen, least(measured_s, run->options->duration_s));
    note_error(run);
    if (run->failure.status == EXIT_MEASURED && run->supervisor.reason != STOP_NONE) {
        run_note_stop(run);
    }
    run->steps_measured++;
    run_note_step(run);
    each_operation(run, report_operation);
    report_workload(run);
}

// Verification.

// Blocks can be compared only if they were written in a known order.
static void verify_streams(struct run *run) {
    struct verify *verify = &run->verify;
    verify->workspace = &run->workspace;
    run->state = "verifying";
    for (uint32_t i = 0; i < run->workload.streams_count && run->failure.status == EXIT_MEASURED; i++) {
        verify->stream = &run->workers.streams[i];
        if (stream_has(verify->stream->stream, OPERATION_READ) || verify->stream->first_worker->pass_operations == 0) {
            continue;
        }
        run_job(run, verify_stream, verify, SUPERVISOR_PATIENCE_NS);
        if (!run->thread_hangs && verify->failure.status != EXIT_MEASURED) {
            run->failure = verify->failure;
        } else if (run->supervisor.reason != STOP_NONE) {
            run_note_stop(run);
        }
    }
}

bool step_run(struct run *run, uint32_t number, uint64_t block_bytes, uint32_t load_point) {
    struct step_plan *plan = &run->workers.plan;
    struct result_key key = {.step = number, .block_bytes = block_bytes, .load_point = load_point};
    workers_prepare_step(&run->workers, &key);
    if (!wait_for_plan(run)) {
        run_note_stop(run);
        return false;
    }
    plan->trace = run->trace.path != NULL ? &run->trace : NULL;
    start_workers(run);
    run->trace.workload = &run->workload;
    run->trace.step = number;
    run->trace.load_point = load_point;
    run->trace.start_ns = plan->timeline.start_ns;
    plan->start_epoch_ns = plan->timeline.start_ns + boot_epoch_ns();
    screen_start_step(&run->screen, &key, plan->timeline.duration_ns / NS_PER_S);
    monitor_start_step(&run->monitor, plan->start_epoch_ns);
    place_report_start_step(&run->places, &run->workload, run->options->monitor_s);
    monitor_workers(run);
    disturbance_end_step(&run->disturbance);
    io_limits_end_step(&run->io_limits, run->workers.active_count, block_bytes);
    report_step(run);
    write_trace(run);
    run_progress(run);                  // shows the final percentage and count of the step
    if (run->options->verify && run->failure.status == EXIT_MEASURED) {
        verify_streams(run);
    }
    return run->failure.status == EXIT_MEASURED;
}
