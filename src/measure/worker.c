// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/worker.h"

void figures_clear(struct figures *figures, const struct stream_step *stream) {
    distribution_clear(&figures->slot);
    distribution_clear(&figures->latency);
    distribution_clear(figures->flush);
    distribution_clear(figures->response);
    distribution_clear(figures->sizes);
    memset((char *)figures + offsetof(struct figures, stalls), 0, sizeof *figures - offsetof(struct figures, stalls));
    if (figures->over != NULL) {
        memset(figures->over, 0, RECORDER_PENDING * stream->over->count * sizeof *figures->over);
    }
}

void worker_prepare_step(struct worker *worker, uint64_t alignment_bytes) {
    memset((char *)worker + offsetof(struct worker, operation), 0, sizeof *worker - offsetof(struct worker, operation));
    const struct stream *stream = worker->stream->stream;
    bool described = stream_is_described(stream);
    uint64_t largest_bytes = worker->commits != NULL ? worker->commits->terms.buffer_bytes
                             : described ? stream->terms.size_max : worker->stream->block_bytes;
    payload_start_step(&worker->payload, largest_bytes, alignment_bytes);
    pattern_start_step(&worker->pattern, described ? 0 : worker->stream->block_bytes);
    worker->pass_operations = pattern_pass_operations(&worker->pattern);
    for (int i = 0; i < OPERATIONS; i++) {
        if (worker->figures[i] != NULL) {
            figures_clear(worker->figures[i], worker->stream);
        }
    }
    atomic_store(&worker->passed, 0);
    atomic_store(&worker->call_start_ns, 0);
    atomic_store(&worker->returned, 0);
    atomic_store(&worker->state, WORKER_RUNNING);
}

bool worker_take(struct worker *worker, enum worker_state state) {
    int in_call = WORKER_IN_CALL;
    return atomic_compare_exchange_strong(&worker->state, &in_call, (int)state);
}

void worker_give_back(struct worker *worker) {
    atomic_store_explicit(&worker->state, WORKER_IN_CALL, memory_order_release);
}

// Adds the operations that took longer than the thresholds to the current second, and all operations to the current
// batch.
static void count_by_itself(const struct worker *worker, struct figures *figures) {
    const struct distribution *slot = &figures->slot;
    struct batch_sums *batch = &figures->batches[worker->cut.batch - 1];
    batch->operations += slot->count;
    batch->latency_sum_ns += slot->sum_ns;
    if (figures->over == NULL || slot->count == 0) {
        return;
    }
    const struct number_list *thresholds = worker->stream->over;
    struct distribution_over *second = figures_over(figures, worker->stream, worker->cut.second);
    for (size_t i = 0; i < thresholds->count && thresholds->values[i] < slot->max_ns; i++) {
        struct distribution_over over = distribution_over(slot, thresholds->values[i]);
        second[i].count += over.count;
        second[i].sum_ns += over.sum_ns;
    }
}

// Adds the slot to the step, or drops it if it was the warm-up.
static void empty_slot(struct worker *worker, bool ends_second) {
    bool measured = worker->cut.index > 0;
    for (int i = 0; i < OPERATIONS; i++) {
        struct figures *figures = worker->figures[i];
        if (figures == NULL) {
            continue;
        }
        if (!worker_sizes_vary(worker)) {
            figures->slot.bytes = figures->slot.count * worker->stream->block_bytes;
        }
        if (measured) {
            recorder_add(worker->stream->recorders[i], worker->cut.index, &figures->slot);
            count_by_itself(worker, figures);
            distribution_merge(&figures->latency, &figures->slot);
            figures->second_bytes += figures->slot.bytes;
        } else {
            figures->stalls = (struct stalls){0};
        }
        distribution_clear(&figures->slot);
        if (ends_second) {
            seconds_add(&figures->seconds, figures->second_bytes);
            figures->second_bytes = 0;
        }
    }
    if (!measured) {
        worker->warmup_operations = worker->operations;
        worker->warmup_commits = worker->commits_done;
    }
}

void worker_pass_cut(struct worker *worker) {
    empty_slot(worker, worker->cut.ends_second);
    worker->cut = timeline_next(&worker->stream->plan->timeline, &worker->cut);
    atomic_store_explicit(&worker->passed, worker->cut.index, memory_order_release);
}

struct schedule worker_schedule(const struct worker *worker) {
    const struct stream_step *step = worker->stream;
    uint64_t rate = step->stream->arrival.rate_micro_per_s;
    uint64_t shift_ns = rate > 0 ? NS_PER_S_IN_MICRO / rate / step->workers * (worker->number - 1) : 0;
    return (struct schedule){.origin_ns = step->plan->begin_ns + shift_ns, .rate_micro_per_s = rate};
}

// In an open loop, if a stall or a slow disk lasts until the end, some operations were due but could not start. If they
// were ignored, the figures would not show how long they waited because of the stall.

static bool has_started(const struct worker *worker) {
    return worker->error.call != NULL || worker->figures[worker->operation]->in_flight.in_flight;
}

// Each worker of mq-log has its own plan, which is pure arithmetic. The operations that did not start are
// those that follow the last one that did.
static void count_own_not_started(struct worker *worker, uint64_t until_ns, uint64_t end_ns) {
    struct figures *figures = worker->figures[worker->operation];
    struct schedule schedule = worker_schedule(worker);
    uint64_t started = worker->operations + has_started(worker);
    uint64_t before = schedule_due_before(&schedule, worker->stream->plan->timeline.start_ns);
    uint64_t due = schedule_due_before(&schedule, until_ns);
    uint64_t first = started > before ? started : before;
    figures->not_started = due > first ? due - first : 0;
    schedule_add_waits(&schedule, first, figures->not_started, end_ns, figures->response);
}

// For a stream whose workers share a plan: counts the operation that this worker took but did not start. The first
// worker to end also counts the operations that no worker took.
static void count_common_not_started(struct worker *worker, uint64_t until_ns, uint64_t end_ns) {
    struct arrival_plan *arrivals = &worker->stream->arrivals;
    uint64_t start_ns = worker->stream->plan->timeline.start_ns, due_ns = worker->due_ns;
    bool taken = due_ns > 0 && due_ns < until_ns && !has_started(worker);
    for (; taken || arrival_take(arrivals, until_ns, &due_ns); taken = false) {
        enum operation operation = taken ? worker->operation : stream_next(worker->stream->stream, &worker->random);
        struct figures *figures = worker->figures[operation];
        if (due_ns >= start_ns) {
            distribution_add(figures->response, end_ns - due_ns, worker->operations - worker->warmup_operations + 1);
            figures->not_started++;
        }
    }
}

static void count_not_started(struct worker *worker, uint64_t end_ns) {
    const struct step_plan *plan = worker->stream->plan;
    uint64_t until_ns = end_ns < plan->end_ns ? end_ns : plan->end_ns;
    if (!stream_is_open_loop(worker->stream->stream)) {
        return;
    }
    (stream_is_described(worker->stream->stream) ? count_common_not_started : count_own_not_started)(
        worker, until_ns, end_ns);
}

// Applications whose commits no write has completed are still waiting. The longest of these waits is counted,
// because otherwise a write that hangs to the end would not delay any commit.
static void note_waiting_commit(struct worker *worker, uint64_t end_ns) {
    if (worker->commits == NULL || group_commit_oldest_ns(worker->commits) >= end_ns) {
        return;
    }
    uint64_t since_ns = group_commit_oldest_ns(worker->commits);
    worker->figures[OPERATION_COMMIT]->in_flight = (struct stall){
        .latency_ns = end_ns - since_ns, .start_ns = since_ns, .in_flight = true,
        .ordinal = worker->commits_done - worker->warmup_commits + 1, .file = worker->pattern.file,
        .offset_bytes = worker->pattern.offset_bytes, .worker = worker->number};
}

void worker_finish(struct worker *worker, uint64_t end_ns) {
    empty_slot(worker, false);
    count_not_started(worker, end_ns);
    worker->figures[worker->operation]->in_flight.ordinal = worker->operations - worker->warmup_operations + 1;
    note_waiting_commit(worker, end_ns);
    for (int i = 0; i < OPERATIONS; i++) {
        struct figures *figures = worker->figures[i];
        if (figures != NULL && figures->in_flight.in_flight) {
            stalls_insert(&figures->stalls, &figures->in_flight);
        }
    }
    worker->finish_ns = end_ns;
    atomic_store_explicit(&worker->passed, UINT32_MAX, memory_order_release);
}
