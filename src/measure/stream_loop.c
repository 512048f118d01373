// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The loop for streams defined with --stream: any pattern, sizes, reads and arrivals.
#include "measure/loop.h"

// Chooses the next operation. Returns the memory for it.
static void *choose(struct worker *worker) {
    worker->operation = stream_draw(worker->stream->stream, &worker->pattern, &worker->random, &worker->size_index);
    return worker->operation == OPERATION_READ ? worker->read_block
                                               : payload_next_of(&worker->payload, worker->pattern.block_bytes);
}

static void note(struct worker *worker, uint64_t start_ns, uint64_t end_ns) {
    struct trace *trace = worker->stream->plan->trace;
    worker->figures[worker->operation]->slot.bytes += worker->pattern.block_bytes;
    worker->figures[worker->operation]->slot.response_sum_ns += end_ns - worker->due_ns;
    worker->moved_bytes[worker->operation] += worker->pattern.block_bytes;
    worker->size_counts[worker->size_index] += worker->cut.index > 0;
    if (trace != NULL && worker->cut.index > 0) {
        const struct pattern *pattern = &worker->pattern;
        struct traced traced = {
            .due_ns = worker->due_ns, .start_ns = start_ns, .latency_ns = end_ns - start_ns,
            .offset_bytes = pattern->offset_bytes + pattern->file_bytes * (worker->first_file + pattern->file),
            .bytes = (uint32_t)pattern->block_bytes, .worker = (uint16_t)worker->number,
            .stream = worker->stream->number, .reads = worker->operation == OPERATION_READ};
        trace_add(trace, &traced);
    }
}

bool loop_of_stream(struct worker *worker) {
    const struct step_plan *plan = worker->stream->plan;
    const struct stream *stream = worker->stream->stream;
    const bool flushes = stream_flushes(stream), open_loop = stream_is_open_loop(stream);
    uint64_t end_ns = 0;
    for (;;) {
        void *block = choose(worker);
        int fd = worker->fds[worker->pattern.file];
        uint64_t offset_bytes = worker_offset(worker);
        // Set before the call, because main reads it if the worker hangs.
        worker->due_ns = end_ns > 0 ? end_ns + stream->arrival.pause_ns : plan->begin_ns;
        if (open_loop && !arrival_take(&worker->stream->arrivals, plan->end_ns, &worker->due_ns)) {
            worker->due_ns = plan->end_ns;
        }
        worker->first_due_ns = worker->operations == 0 ? worker->due_ns : worker->first_due_ns;
        enter_call(worker);
        if (worker->due_ns > end_ns) {
            loop_sleep_until(plan, worker->due_ns < plan->end_ns ? worker->due_ns : plan->end_ns);
        }
        uint64_t start_ns = now_ns(), flush_ns;
        if (is_over(plan, start_ns)) {
            return loop_end(worker, start_ns, end_ns);
        }
        enum outcome outcome = operate(worker, fd, offset_bytes, block, flushes, start_ns, &end_ns, &flush_ns);
        if (outcome != OUTCOME_DONE) {
            return outcome == OUTCOME_FAILED;
        }
        record(worker, worker->figures[worker->operation], start_ns, end_ns);
        record_flush_and_response(worker, worker->figures[worker->operation], flush_ns, end_ns - worker->due_ns);
        note(worker, start_ns, end_ns);
    }
}
