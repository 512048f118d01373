// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Code that the measuring loops share. Each kind of stream has its own loop, so that none does work that only another
// kind needs: log_loop.c, commit_loop.c and stream_loop.c.
#pragma once

#include "base/clock.h"
#include "measure/worker.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The loops. They return false if main has abandoned the worker, whose data must then not be accessed any more.
bool loop_of_log(struct worker *worker);
bool loop_of_commits(struct worker *worker);
bool loop_of_stream(struct worker *worker);

// Sleeps until the given time, but wakes early if plan->stop is set.
void loop_sleep_until(const struct step_plan *plan, uint64_t instant_ns);
int loop_flush(int fd, enum sync_mode sync);
// Waits briefly, outside the timed interval, while main has borrowed the worker.
void loop_wait_for_main(void);
void loop_pass_own_cut(struct worker *worker);
void loop_note_first_pass(struct worker *worker);
// Ends the step at the given time.
void loop_finish(struct worker *worker, uint64_t end_ns);
// Ends the step instead of starting another operation. The previous operation ended at end_ns. Returns false if main
// has abandoned the worker, which is in a call.
bool loop_end(struct worker *worker, uint64_t start_ns, uint64_t end_ns);
// Ends the step of all workers. It is marked as cold so that the loops can keep values in registers.
void __attribute__((cold)) loop_fail(struct worker *worker, bool in_flush, int error, uint64_t end_ns);

static inline void pass_cuts_until(struct worker *worker, uint64_t instant_ns) {
    while (__builtin_expect(instant_ns >= worker->cut.end_ns, 0)) {
        loop_pass_own_cut(worker);
    }
}

// Returns false if main has abandoned the worker.
static inline bool leave_call(struct worker *worker) {
    for (;;) {
        int state = WORKER_IN_CALL;
        if (__builtin_expect(atomic_compare_exchange_strong(&worker->state, &state, WORKER_RUNNING), 1)) {
            return true;
        }
        if (state == WORKER_ABANDONED) {
            return false;
        }
        loop_wait_for_main();
    }
}

// The functions of libc are cancellation points, which costs two atomic operations per call inside the timed interval.
// Therefore, the system call is made directly. The offset is passed as two longs; the kernel uses what it needs.
static inline ssize_t transfer(const struct worker *worker, int fd, uint64_t offset_bytes, void *block) {
    struct iovec vector = {.iov_base = block, .iov_len = worker->pattern.block_bytes};
    long call = worker->operation == OPERATION_READ ? SYS_preadv : SYS_pwritev;
    ssize_t done;
    while ((done = syscall(call, fd, &vector, 1L, (long)offset_bytes, (long)(offset_bytes >> 32))) < 0 &&
           errno == EINTR) {
    }
    return done;
}

static inline void enter_call(struct worker *worker) {
    atomic_store_explicit(&worker->call_start_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&worker->state, WORKER_IN_CALL, memory_order_release);
}

static inline bool is_over(const struct step_plan *plan, uint64_t instant_ns) {
    return instant_ns >= plan->end_ns || atomic_load_explicit(&plan->stop, memory_order_relaxed);
}

enum outcome { OUTCOME_DONE, OUTCOME_FAILED, OUTCOME_ABANDONED };

// Performs the operation that worker and block describe, at the given offset of the descriptor. The worker is marked as
// in a call, and the operation starts now, at start_ns. Returns when it ended, and how long the flush took.
static inline enum outcome operate(struct worker *worker, int fd, uint64_t offset_bytes, void *block, bool flushes,
                                   uint64_t start_ns, uint64_t *end_ns, uint64_t *flush_ns) {
    atomic_store_explicit(&worker->call_start_ns, start_ns, memory_order_relaxed);
    ssize_t done = transfer(worker, fd, offset_bytes, block);
    int error = __builtin_expect(done < 0, 0) ? errno : FAILURE_SHORT_WRITE;
    bool complete = done == (ssize_t)worker->pattern.block_bytes, flush_failed = false;
    uint64_t written_ns = 0;
    if (flushes && worker->operation == OPERATION_WRITE && complete) {
        written_ns = now_ns();
        flush_failed = loop_flush(fd, worker->stream->stream->sync) != 0;
        error = errno;
    }
    *end_ns = now_ns();
    *flush_ns = *end_ns - written_ns;
    if (!leave_call(worker)) {
        return OUTCOME_ABANDONED;
    }
    if (__builtin_expect(!complete || flush_failed, 0)) {
        loop_fail(worker, flush_failed, error, *end_ns);
        return OUTCOME_FAILED;
    }
    if (worker->first_start_ns == 0) {
        worker->first_start_ns = start_ns;
    }
    pass_cuts_until(worker, *end_ns);
    return OUTCOME_DONE;
}

static inline void record(struct worker *worker, struct figures *figures, uint64_t start_ns, uint64_t end_ns) {
    uint64_t latency_ns = end_ns - start_ns;
    uint64_t ordinal = ++worker->operations - worker->warmup_operations;
    distribution_add(&figures->slot, latency_ns, ordinal);
    if (__builtin_expect(latency_ns > figures->stalls.longest[STALLS_KEPT - 1].latency_ns, 0)) {
        struct stall stall = {.latency_ns = latency_ns, .start_ns = start_ns, .ordinal = ordinal,
                              .offset_bytes = worker_offset(worker),
                              .file = worker->first_file + worker->pattern.file, .worker = worker->number};
        stalls_insert(&figures->stalls, &stall);
    }
    if (__builtin_expect(worker->operations == worker->pass_operations, 0)) {
        loop_note_first_pass(worker);
    }
}

static inline void record_flush_and_response(struct worker *worker, struct figures *figures, uint64_t flush_ns,
                                             uint64_t response_ns) {
    uint64_t ordinal = worker->operations - worker->warmup_operations;
    if (worker->cut.index > 0 && figures->flush != NULL) {
        distribution_add(figures->flush, flush_ns, ordinal);
    }
    if (worker->cut.index > 0 && figures->response != NULL) {
        distribution_add(figures->response, response_ns, ordinal);
    }
}
