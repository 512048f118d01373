// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The thread of a worker. It runs the loop for its kind of stream.
#include "measure/loop.h"

#include <sched.h>
#include <sys/prctl.h>

static bool run_loop(struct worker *worker) {
    return worker->commits != NULL ? loop_of_commits(worker)
           : stream_is_described(worker->stream->stream) ? loop_of_stream(worker) : loop_of_log(worker);
}

// Returns false if main has abandoned the worker.
static bool work_step(struct worker *worker) {
    struct step_plan *plan = worker->stream->plan;
    // If a thread has a separate descriptor table, as a single-threaded process does, the kernel saves two atomic
    // operations per call.
    if (plan->own_fd_tables) {
        (void)unshare(CLONE_FILES);
    }
    struct thread_figures before = thread_figures_now();
    loop_sleep_until(plan, plan->begin_ns);
    worker->cut = timeline_first(&plan->timeline);
    if (!run_loop(worker)) {
        return false;
    }
    struct thread_figures after = thread_figures_now();
    worker->thread_figures = (struct thread_figures){
        .known = before.known && after.known,
        .run_queue_wait_ns = after.run_queue_wait_ns - before.run_queue_wait_ns,
        .involuntary_switches = after.involuntary_switches - before.involuntary_switches,
    };
    (void)atomic_fetch_add(&plan->finished, 1);
    return true;
}

void *worker_main(void *argument) {
    struct worker *worker = argument;
    (void)prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
    for (;;) {
        while (sem_wait(&worker->start) != 0) {
        }
        if (worker->ends || !work_step(worker)) {
            return NULL;
        }
    }
}
