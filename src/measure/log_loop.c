// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The loop of mq-log: a logger that writes blocks of one size.
#include "measure/loop.h"

static inline void *next_block(struct worker *worker) {
    worker->operation = stream_next(worker->stream->stream, &worker->random);
    return worker->operation == OPERATION_READ ? worker->read_block : payload_next(&worker->payload);
}

bool loop_of_log(struct worker *worker) {
    const struct step_plan *plan = worker->stream->plan;
    const struct stream *stream = worker->stream->stream;
    const bool flushes = stream_flushes(stream);
    const struct schedule schedule = worker_schedule(worker);
    const bool open_loop = schedule.rate_micro_per_s > 0;
    uint64_t end_ns = 0;
    for (;;) {
        void *block = next_block(worker);
        int fd = worker->fds[worker->pattern.file];
        uint64_t due_ns =
            open_loop ? schedule_due_ns(&schedule, worker->operations) : end_ns + stream->arrival.pause_ns;
        enter_call(worker);
        if (due_ns > end_ns) {
            loop_sleep_until(plan, due_ns < plan->end_ns ? due_ns : plan->end_ns);
        }
        uint64_t start_ns = now_ns();
        if (is_over(plan, start_ns)) {
            return loop_end(worker, start_ns, end_ns);
        }
        uint64_t flush_ns;
        enum outcome outcome = operate(worker, fd, worker->pattern.offset_bytes, block, flushes, start_ns, &end_ns,
                                       &flush_ns);
        if (__builtin_expect(outcome != OUTCOME_DONE, 0)) {
            return outcome == OUTCOME_FAILED;
        }
        struct figures *figures = worker->figures[worker->operation];
        atomic_store_explicit(&worker->returned, worker->operations + 1, memory_order_release);
        record(worker, figures, start_ns, end_ns);
        if (flushes || open_loop) {
            record_flush_and_response(worker, figures, flush_ns, end_ns - due_ns);
        }
        pattern_advance(&worker->pattern);
    }
}
