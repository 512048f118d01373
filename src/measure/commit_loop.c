// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The loop of a logger that gathers commits.
#include "measure/loop.h"

#define SPIN_NS UINT64_C(20000)                 // a sleeping thread wakes about 10 us late

// For the last part of the time, the thread spins instead of sleeping.
static void wait_until(const struct step_plan *plan, uint64_t instant_ns) {
    loop_sleep_until(plan, instant_ns > SPIN_NS ? instant_ns - SPIN_NS : 0);
    while (now_ns() < instant_ns && !atomic_load_explicit(&plan->stop, memory_order_relaxed)) {
    }
}

static void *place_write(struct worker *worker) {
    struct pattern *pattern = &worker->pattern;
    if (pattern->offset_bytes + group_commit_write_bytes(worker->commits) > pattern->file_bytes) {
        pattern_next_file(pattern);
        group_commit_next_file(worker->commits);
    }
    pattern->block_bytes = group_commit_write_bytes(worker->commits);
    return payload_next_of(&worker->payload, pattern->block_bytes);
}

static void record_write(struct worker *worker, uint64_t start_ns, uint64_t end_ns, uint64_t flush_ns) {
    struct figures *figures = worker->figures[OPERATION_WRITE];
    uint64_t bytes = worker->pattern.block_bytes;
    record(worker, figures, start_ns, end_ns);
    record_flush_and_response(worker, figures, flush_ns, 0);
    figures->slot.bytes += bytes;
    worker->moved_bytes[OPERATION_WRITE] += bytes;
    if (worker->cut.index > 0) {
        distribution_add(figures->sizes, bytes, worker->operations - worker->warmup_operations);
        worker->record_bytes += worker->commits->taken_bytes;
    }
}

// Each commit in the write has been waiting since its application issued it.
static void release(struct worker *worker, uint64_t released_ns) {
    struct group_commit *commits = worker->commits;
    struct figures *figures = worker->figures[OPERATION_COMMIT];
    uint64_t done = group_commit_done(commits);
    for (uint64_t left = done; left > 0;) {
        struct commit_group group = group_commit_take(commits, left);
        struct stall stall = {
            .latency_ns = released_ns - group.since_ns,
            .start_ns = group.since_ns,
            .ordinal = worker->commits_done - worker->warmup_commits + 1,
            .file = worker->pattern.file,
            .offset_bytes = worker->pattern.offset_bytes,
            .worker = worker->number};
        distribution_add_equal(&figures->slot, stall.latency_ns, stall.ordinal, group.count);
        stalls_insert(&figures->stalls, &stall);
        figures->slot.bytes += group.count * commits->message_bytes;
        worker->commits_done += group.count;
        left -= group.count;
    }
    group_commit_return(commits, done, released_ns);
}

bool loop_of_commits(struct worker *worker) {
    const struct step_plan *plan = worker->stream->plan;
    const struct stream *stream = worker->stream->stream;
    const uint64_t remote_delay_ns = stream->commits.remote_delay_ns;
    uint64_t free_ns = plan->begin_ns;
    group_commit_start(worker->commits, plan->key.load_point, worker->stream->block_bytes, plan->begin_ns);
    for (;;) {
        uint64_t begin_ns = group_commit_gather(worker->commits, free_ns);
        void *block = place_write(worker);
        int fd = worker->fds[worker->pattern.file];
        enter_call(worker);
        wait_until(plan, begin_ns < plan->end_ns ? begin_ns : plan->end_ns);
        uint64_t start_ns = now_ns();
        if (is_over(plan, start_ns)) {
            return loop_end(worker, start_ns, free_ns);
        }
        uint64_t end_ns, flush_ns;
        enum outcome outcome = operate(
            worker, fd, worker->pattern.offset_bytes, block, stream_flushes(stream), start_ns, &end_ns, &flush_ns);
        if (outcome != OUTCOME_DONE) {
            return outcome == OUTCOME_FAILED;
        }
        record_write(worker, start_ns, end_ns, flush_ns);
        free_ns = end_ns;
        if (remote_delay_ns > 0) {
            enter_call(worker);
            wait_until(plan, end_ns + remote_delay_ns);
            free_ns = now_ns();
            if (!leave_call(worker)) {
                return false;
            }
            pass_cuts_until(worker, free_ns);
            worker->remote_ns += worker->cut.index > 0 ? free_ns - end_ns : 0;
            if (free_ns < end_ns + remote_delay_ns) {   // the run should end, and nothing was acknowledged
                loop_finish(worker, free_ns);
                return true;
            }
        }
        release(worker, free_ns);
        worker->pattern.offset_bytes += group_commit_advance(worker->commits);
    }
}
