// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "step.h"

#include "clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GRACE_NS UINT64_C(10000000)             // after a cut, before main passes it for a writer that is away
#define WATCH_NS UINT64_C(250000000)            // the longest wait between two looks
#define END_WATCH_NS UINT64_C(2000000)          // the same once the step is over
#define LEAD_NS UINT64_C(3000000)               // from the start signal to the first write
#define LEAD_A_WRITER_NS UINT64_C(20000)
#define CREATION_NS UINT64_C(50000000)          // for making the threads, where the start is planned
#define CREATION_A_WRITER_NS UINT64_C(200000)
#define OWN_TABLE_MAX_DESCRIPTORS 1024          // above that, copies of the descriptor table would cost too much
#define READY_POLL_NS UINT64_C(200000)
#define STACK_BYTES ((size_t)256 << 10)

// Processors of --cpu in turn; -1 where writers are not pinned.
static int cpu_for(const struct options *options, uint32_t index) {
    unsigned chosen = 0;
    for (unsigned cpu = 0; cpu < OPTIONS_CPUS_MAX; cpu++) {
        chosen += cpu_in_list(options, cpu);
    }
    unsigned wanted = chosen > 0 ? index % chosen : 0;
    for (unsigned cpu = 0; cpu < OPTIONS_CPUS_MAX && chosen > 0; cpu++) {
        if (cpu_in_list(options, cpu) && wanted-- == 0) {
            return (int)cpu;
        }
    }
    return -1;
}

static uint64_t largest_block(const struct options *options) {
    uint64_t largest = 0;
    for (size_t i = 0; i < options->block_sizes.count; i++) {
        largest = options->block_sizes.values[i] > largest ? options->block_sizes.values[i] : largest;
    }
    return largest;
}

static bool has_flush(const struct options *options) {
    return options->sync == SYNC_FDATASYNC || options->sync == SYNC_FSYNC;
}

static bool prepare_room(const struct options *options, struct result_room *room) {
    room->flush = has_flush(options) ? calloc(1, sizeof *room->flush) : NULL;
    room->response = options->rate_micro_per_s > 0 ? calloc(1, sizeof *room->response) : NULL;
    return has_flush(options) == (room->flush != NULL) && (options->rate_micro_per_s > 0) == (room->response != NULL);
}

static bool prepare_writer(struct run *run, uint32_t index, unsigned char *pools, size_t pool_bytes) {
    const struct options *options = run->options;
    struct writer *writer = &run->writers[index];
    writer->queue_manager = index + 1;
    writer->fds = run->workspace.directories[index].files;
    writer->cpu = options->cpu_list != NULL ? cpu_for(options, index) : -1;
    writer->own_fd_table = options->files * options->queue_managers <= OWN_TABLE_MAX_DESCRIPTORS;
    writer->ring = (struct ring){.files = (uint32_t)options->files, .file_bytes = options->file_bytes, .block_bytes = 1};
    content_open(&writer->content, pools + index * pool_bytes, pool_bytes, run->seed, index + 1);
    writer->flush = has_flush(options) ? calloc(1, sizeof *writer->flush) : NULL;
    writer->response = options->rate_micro_per_s > 0 ? calloc(1, sizeof *writer->response) : NULL;
    return has_flush(options) == (writer->flush != NULL) &&
           (options->rate_micro_per_s > 0) == (writer->response != NULL);
}

bool step_prepare(struct run *run) {
    uint32_t count = (uint32_t)run->options->queue_managers;
    uint64_t alignment = run->workspace.alignment_bytes;
    size_t pool_bytes = content_pool_bytes(largest_block(run->options), alignment);
    void *pools = NULL;
    run->writers = calloc(count, sizeof *run->writers);
    run->rows = calloc(run->steps, sizeof *run->rows);
    if (run->writers == NULL || run->rows == NULL || !prepare_room(run->options, &run->all_room) ||
        !prepare_room(run->options, &run->one_room) ||
        posix_memalign(&pools, alignment, count * pool_bytes) != 0 || step_plan_init(&run->plan) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!prepare_writer(run, i, pools, pool_bytes)) {
            return false;
        }
    }
    return true;
}

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

static void write_progress(struct run *run, const char *state) {
    uint64_t step_s = run->options->warmup_s + run->options->duration_s;
    uint64_t now = now_ns();
    uint64_t in_step_s = run->row.step > 0 && run->plan.begin_ns > 0 && now > run->plan.begin_ns
                             ? (now - run->plan.begin_ns) / NS_PER_S : 0;
    uint64_t done_s = (run->row.step > 0 ? run->row.step - 1 : 0) * step_s + (in_step_s < step_s ? in_step_s : step_s);
    uint64_t all_s = run->steps * step_s;
    run->progress.state = state;
    run->progress.step = run->row.step;
    run->progress.steps = run->steps;
    run->progress.block_bytes = run->row.block_bytes;
    run->progress.queue_managers = run->row.queue_managers;
    run->progress.percent = 100.0 * (double)done_s / (double)all_s;
    run->progress.elapsed_s = (now - run->start_ns) / NS_PER_S;
    run->progress.remaining_s = all_s - done_s;
    run->progress.error = run->failure.status != EXIT_MEASURED;
    progress_write(&run->progress);
}

// Waits until shortly before a planned start; false where the run is to end.
static bool wait_for_plan(struct run *run, uint32_t number, uint32_t queue_managers) {
    if (run->first_begin_ns == 0) {
        return run->supervisor.reason == STOP_NONE;
    }
    uint64_t lead_ns = CREATION_NS + queue_managers * CREATION_A_WRITER_NS;
    uint64_t until_ns = planned_begin_ns(run, number) - lead_ns;
    for (uint64_t now = now_ns(); now < until_ns; now = now_ns()) {
        write_progress(run, "waiting");
        uint64_t next_ns = now + NS_PER_S;
        if (supervisor_wait(&run->supervisor, next_ns < until_ns ? next_ns : until_ns)) {
            return false;
        }
    }
    return run->supervisor.reason == STOP_NONE;
}

// Makes the threads; how many there are. Fewer than wanted: no resources, and the run ends.
static uint32_t create_threads(struct run *run, uint32_t wanted) {
    pthread_attr_t attributes;
    uint32_t count = 0;
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, STACK_BYTES) != 0) {
        return 0;
    }
    while (count < wanted &&
           pthread_create(&run->writers[count].thread, &attributes, writer_main, &run->writers[count]) == 0) {
        count++;
    }
    (void)pthread_attr_destroy(&attributes);
    if (count < wanted) {
        (void)failure_set(&run->failure, EXIT_REFUSED, "--qm: cannot make a thread for queue manager %" PRIu32
                          "; raise the limit on processes (ulimit -u), or take fewer", count + 1);
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

// The watch.

// Passes the recorder's next cut for a writer that has not; false where it is at home or its grace runs.
static bool pass_for(struct run *run, struct writer *writer, uint64_t now) {
    uint32_t cut = run->recorder.cut.index;
    if (atomic_load_explicit(&writer->passed, memory_order_acquire) > cut) {
        return true;
    }
    if (atomic_load_explicit(&writer->state, memory_order_relaxed) == WRITER_CLOSED) {
        writer_pass_cut(writer);
        return true;
    }
    if (now < run->recorder.cut.end_ns + GRACE_NS || !writer_take(writer)) {
        return false;
    }
    if (atomic_load_explicit(&writer->passed, memory_order_relaxed) <= cut) {
        writer_pass_cut(writer);
    }
    writer_give_back(writer);
    return true;
}

// Takes over every slot that has ended.
static void advance(struct run *run, uint64_t now) {
    while (now >= run->recorder.cut.end_ns) {
        for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
            if (!pass_for(run, &run->writers[i], now)) {
                return;
            }
        }
        recorder_finalise_next(&run->recorder);
    }
}

static void show(struct run *run, uint64_t now) {
    uint64_t measured_s = now > run->plan.timeline.start_ns ? (now - run->plan.timeline.start_ns) / NS_PER_S : 0;
    screen_elapsed(&run->screen, measured_s);
    write_progress(run, now < run->plan.timeline.start_ns ? "warmup" : "measuring");
}

static bool is_finished(const struct writer *writer) {
    return atomic_load_explicit(&writer->passed, memory_order_acquire) == UINT32_MAX;
}

static void note_in_flight(struct run *run, const struct writer *writer, uint64_t now) {
    uint64_t start_ns = atomic_load(&writer->write_start_ns);
    if (start_ns == 0) {
        return;
    }
    struct stall stall = {.latency_ns = now - start_ns, .start_ns = start_ns, .in_flight = true,
                          .write = writer->writes - writer->warmup_writes + 1, .file = writer->ring.file,
                          .offset_bytes = writer->ring.offset_bytes, .queue_manager = writer->queue_manager};
    if (!run->has_in_flight || stall.latency_ns > run->in_flight.latency_ns) {
        run->in_flight = stall;
        run->has_in_flight = true;
        workspace_file_path(&run->workspace, writer->queue_manager, writer->ring.file, run->in_flight_file);
    }
    struct writer_totals *totals = &run->writers[writer->queue_manager - 1].totals;
    stalls_insert(&totals->stalls, &stall);
}

// Closes the books of writers whose calls do not end. True when every writer has finished or is closed.
static bool close_hanging(struct run *run, uint64_t now) {
    bool all = true;
    for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
        struct writer *writer = &run->writers[i];
        if (is_finished(writer) || atomic_load(&writer->state) == WRITER_CLOSED) {
            continue;
        }
        if (writer_close(writer)) {
            note_in_flight(run, writer, now);
            run->thread_hangs = true;
        } else {
            all = false;
        }
    }
    return all;
}

static void finish_closed(struct run *run, uint64_t now) {
    advance(run, now);
    for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
        struct writer *writer = &run->writers[i];
        if (!is_finished(writer)) {
            writer_finish(writer, now);
        }
    }
}

static uint64_t next_look_ns(const struct run *run, uint64_t now) {
    if (now >= run->plan.end_ns || run->supervisor.reason != STOP_NONE || atomic_load(&run->plan.stop)) {
        return now + END_WATCH_NS;
    }
    uint64_t next_ns = now + WATCH_NS;
    uint64_t cut_ns = run->recorder.cut.end_ns + GRACE_NS;
    if (cut_ns <= now) {
        return now + END_WATCH_NS;      // a writer that was at home will have passed the cut very soon
    }
    next_ns = cut_ns < next_ns ? cut_ns : next_ns;
    return run->plan.end_ns < next_ns ? run->plan.end_ns : next_ns;
}

static void watch(struct run *run) {
    uint64_t shown_s = UINT64_MAX;
    while (atomic_load(&run->plan.finished) < run->plan.queue_managers) {
        uint64_t now = now_ns();
        if (supervisor_wait(&run->supervisor, next_look_ns(run, now))) {
            atomic_store(&run->plan.stop, true);
        }
        now = now_ns();
        advance(run, now);
        if ((now - run->start_ns) / NS_PER_S != shown_s) {
            shown_s = (now - run->start_ns) / NS_PER_S;
            show(run, now);
        }
        if (supervisor_patience_over(&run->supervisor) && close_hanging(run, now)) {
            finish_closed(run, now);
        }
    }
}

// The figures.

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
    failure->write = first->writes - first->warmup_writes + 1;
    const char *call = !first->error.in_flush ? "pwritev" : run->plan.sync == SYNC_FSYNC ? "fsync" : "fdatasync";
    (void)snprintf(failure->call, sizeof failure->call, "%s", call);
    workspace_file_path(&run->workspace, first->queue_manager, first->ring.file, failure->file);
    (void)failure_set(failure, EXIT_IO_ERROR, "%s failed at offset %" PRIu64 " of %s (block of %" PRIu64 " bytes, write %"
                      PRIu64 "): %s", call, failure->offset_bytes, failure->file, failure->block_bytes, failure->write,
                      failure_error_text(failure->error));
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
    for (size_t i = 0; i < writer->totals.stalls.count; i++) {
        if (writer->totals.stalls.longest[i].in_flight) {
            return &writer->totals.stalls.longest[i];
        }
    }
    return NULL;
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
    if (all->latency->statistics.count != run->recorder.step.statistics.count ||
        all->latency->statistics.sum_ns != run->recorder.step.statistics.sum_ns) {
        run_warn(run, "step %" PRIu32 ": seconds and totals differ; please report this as a bug", run->row.step);
    }
}

static void report(struct run *run, uint64_t start_epoch_ns) {
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
        disturbance->own_bytes += run->writers[i].writes * run->plan.block_bytes;
        disturbance->threads_known = disturbance->threads_known && totals->thread.known;
        disturbance->run_queue_wait_ns += totals->thread.run_queue_wait_ns;
        disturbance->involuntary_switches += totals->thread.involuntary_switches;
        disturbance->writers_elapsed_ns += totals->end_ns > run->plan.begin_ns ? totals->end_ns - run->plan.begin_ns : 0;
    }
}

// Verification.

static void verify_tick(void *run) {
    write_progress(run, "verifying");
}

static void note_verify_failure(struct run *run, const struct mismatch *place, const char *what) {
    struct failure *failure = &run->failure;
    failure->offset_bytes = place->offset_bytes;
    failure->queue_manager = place->queue_manager;
    failure->block_bytes = run->plan.block_bytes;
    failure->write = place->write;
    (void)snprintf(failure->call, sizeof failure->call, "pread");
    if (place->queue_manager > 0) {
        workspace_file_path(&run->workspace, place->queue_manager, place->file, failure->file);
    }
    (void)failure_set(failure, EXIT_IO_ERROR, "--verify: %s at offset %" PRIu64 " of %s (write %" PRIu64 " of step %"
                      PRIu32 "): %s", what, failure->offset_bytes, failure->file, failure->write, run->row.step,
                      failure_error_text(failure->error));
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
        note_verify_failure(run, &verify->failed_at, "cannot read back");
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

bool step_run(struct run *run, uint32_t number, uint64_t block_bytes, uint32_t queue_managers) {
    plan_step(run, number, block_bytes, queue_managers);
    if (!wait_for_plan(run, number, queue_managers) || !start_writers(run, number, queue_managers)) {
        if (run->supervisor.reason != STOP_NONE) {
            run_note_stop(run);
        }
        return false;
    }
    uint64_t start_epoch_ns = epoch_ns() + run->plan.timeline.start_ns - now_ns();
    screen_start_step(&run->screen, block_bytes, queue_managers, run->plan.timeline.duration_ns / NS_PER_S);
    run->progress.writes = &run->recorder.step;
    watch(run);
    disturbance_end_step(&run->disturbance);
    join_threads(run, queue_managers);
    add_threads(run);
    close_books(run, queue_managers);
    note_error(run, queue_managers);
    if (run->failure.status == EXIT_MEASURED && run->supervisor.reason != STOP_NONE) {
        run_note_stop(run);
    }
    run->steps_measured++;
    report(run, start_epoch_ns);
    if (run->options->verify && run->failure.status == EXIT_MEASURED) {
        verify_step(run);
    }
    return run->failure.status == EXIT_MEASURED;
}
