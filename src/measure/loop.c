// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/loop.h"

#define STOP_CHECK_NS UINT64_C(50000000)        // the longest sleep without checking plan->stop
#define RECORDER_WAIT_NS 200000
#define RETURN_WAIT_NS 20000

static bool recorders_are_free(const struct worker *worker) {
    bool all_free = true;
    for (int i = 0; i < OPERATIONS; i++) {
        const struct recorder *recorder = worker->stream->recorders[i];
        all_free = all_free && (recorder == NULL || recorder_is_free(recorder, worker->cut.index));
    }
    return all_free;
}

// For use before a worker passes a cut itself: waits if the main thread is far behind.
static void wait_for_recorders(struct worker *worker) {
    if (!recorders_are_free(worker)) {
        worker->waits_for_recorder++;
        do {
            (void)nanosleep(&(struct timespec){.tv_nsec = RECORDER_WAIT_NS}, NULL);
        } while (!recorders_are_free(worker));
    }
}

void loop_pass_own_cut(struct worker *worker) {
    wait_for_recorders(worker);
    worker_pass_cut(worker);
}

void loop_finish(struct worker *worker, uint64_t end_ns) {
    pass_cuts_until(worker, end_ns);
    wait_for_recorders(worker);
    worker_finish(worker, end_ns);
}

bool loop_end(struct worker *worker, uint64_t start_ns, uint64_t end_ns) {
    if (!leave_call(worker)) {
        return false;
    }
    uint64_t planned_ns = start_ns < worker->stream->plan->end_ns ? start_ns : worker->stream->plan->end_ns;
    loop_finish(worker, end_ns > planned_ns ? end_ns : planned_ns);
    return true;
}

void loop_wait_for_main(void) {
    (void)nanosleep(&(struct timespec){.tv_nsec = RETURN_WAIT_NS}, NULL);
}

void loop_sleep_until(const struct step_plan *plan, uint64_t instant_ns) {
    uint64_t now = now_ns();
    while (now < instant_ns && !atomic_load_explicit(&plan->stop, memory_order_relaxed)) {
        uint64_t check_ns = now + STOP_CHECK_NS;
        sleep_until_ns(check_ns < instant_ns ? check_ns : instant_ns);
        now = now_ns();
    }
}

int loop_flush(int fd, enum sync_mode sync) {
    int result;
    while ((result = sync == SYNC_FSYNC ? fsync(fd) : fdatasync(fd)) < 0 && errno == EINTR) {
    }
    return result;
}

void loop_note_first_pass(struct worker *worker) {
    for (int i = 0; i < OPERATIONS; i++) {
        struct figures *figures = worker->figures[i];
        if (figures != NULL && worker->cut.index > 0) {
            figures->first_pass_operations = figures->latency.count + figures->slot.count;
            figures->first_pass_sum_ns = figures->latency.sum_ns + figures->slot.sum_ns;
        }
    }
}

void loop_fail(struct worker *worker, bool in_flush, int error, uint64_t end_ns) {
    const char *flush_call = worker->stream->stream->sync == SYNC_FSYNC ? "fsync" : "fdatasync";
    pass_cuts_until(worker, end_ns);
    worker->error = (struct worker_error){
        .call = in_flush ? flush_call : worker->operation == OPERATION_READ ? "preadv" : "pwritev", .error = error,
        .in_warmup = worker->cut.index == 0, .ordinal = worker->operations - worker->warmup_operations + 1};
    atomic_store_explicit(&worker->stream->plan->stop, true, memory_order_relaxed);
    loop_finish(worker, end_ns);
}
