// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/job.h"

#include "base/clock.h"
#include "base/thread.h"

#define TICK_NS NS_PER_S

static void *job_main(void *argument) {
    struct worker_thread *worker = argument;
    (void)pthread_mutex_lock(&worker->lock);
    while (worker->count > 0 || !worker->ending) {
        if (worker->count == 0) {
            (void)pthread_cond_wait(&worker->changed, &worker->lock);
            continue;
        }
        unsigned job = worker->first;
        (void)pthread_mutex_unlock(&worker->lock);
        worker->jobs[job].work(worker->jobs[job].argument);
        (void)pthread_mutex_lock(&worker->lock);
        worker->first = (worker->first + 1) % JOBS_MAX;
        worker->count--;
    }
    (void)pthread_mutex_unlock(&worker->lock);
    return NULL;
}

bool worker_thread_start(struct worker_thread *worker) {
    return pthread_mutex_init(&worker->lock, NULL) == 0 && pthread_cond_init(&worker->changed, NULL) == 0 &&
           thread_start(&worker->thread, job_main, worker);
}

bool worker_thread_add(struct worker_thread *worker, void (*work)(void *), void *argument) {
    (void)pthread_mutex_lock(&worker->lock);
    bool room = worker->count < JOBS_MAX;
    if (room) {
        unsigned job = (worker->first + worker->count++) % JOBS_MAX;
        worker->jobs[job].work = work;
        worker->jobs[job].argument = argument;
        (void)pthread_cond_signal(&worker->changed);
    }
    (void)pthread_mutex_unlock(&worker->lock);
    return room;
}

bool worker_thread_idle(void *argument) {
    struct worker_thread *worker = argument;
    (void)pthread_mutex_lock(&worker->lock);
    bool idle = worker->count == 0;
    (void)pthread_mutex_unlock(&worker->lock);
    return idle;
}

bool worker_thread_end(struct worker_thread *worker) {
    if (!worker_thread_idle(worker)) {
        return false;
    }
    (void)pthread_mutex_lock(&worker->lock);
    worker->ending = true;
    (void)pthread_cond_signal(&worker->changed);
    (void)pthread_mutex_unlock(&worker->lock);
    return pthread_join(worker->thread, NULL) == 0;
}

bool job_run(struct worker_thread *worker, struct supervisor *supervisor, void (*work)(void *), void *argument,
             atomic_bool *stop, void (*tick)(void *), void *tick_argument) {
    uint64_t next_tick_ns = now_ns() + TICK_NS;
    if (!worker_thread_add(worker, work, argument)) {
        return false;
    }
    for (uint64_t poll_ns = SUPERVISOR_FIRST_POLL_NS; !worker_thread_idle(worker);
         poll_ns = supervisor_next_poll_ns(poll_ns)) {
        if (supervisor_wait(supervisor, now_ns() + poll_ns)) {
            atomic_store(stop, true);
            if (supervisor_patience_over(supervisor)) {
                return worker_thread_idle(worker);
            }
        }
        if (tick != NULL && now_ns() >= next_tick_ns) {
            tick(tick_argument);
            next_tick_ns = now_ns() + TICK_NS;
        }
    }
    return true;
}

bool job_finish(struct worker_thread *worker, struct supervisor *supervisor, void (*work)(void *), void *argument,
                uint64_t patience_ns) {
    return worker_thread_add(worker, work, argument) &&
           supervisor_await(supervisor, worker_thread_idle, worker, patience_ns);
}
