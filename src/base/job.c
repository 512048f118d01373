// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/job.h"

// There may be a thousand threads, and --mlock would keep all of a default stack in memory.
#define THREAD_STACK_BYTES ((size_t)256 << 10)

bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument) {
    pthread_attr_t attributes;
    return pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES) == 0 &&
           pthread_create(thread, &attributes, work, argument) == 0 && pthread_attr_destroy(&attributes) == 0;
}

static void *job_main(void *argument) {
    struct job_thread *thread = argument;
    (void)pthread_mutex_lock(&thread->lock);
    for (;;) {
        while (thread->count == 0) {
            (void)pthread_cond_wait(&thread->changed, &thread->lock);
        }
        unsigned job = thread->first;
        (void)pthread_mutex_unlock(&thread->lock);
        thread->jobs[job].work(thread->jobs[job].argument);
        (void)pthread_mutex_lock(&thread->lock);
        thread->first = (thread->first + 1) % JOBS_MAX;
        thread->count--;
    }
    return NULL;
}

bool job_thread_start(struct job_thread *thread) {
    pthread_t started;
    return pthread_mutex_init(&thread->lock, NULL) == 0 && pthread_cond_init(&thread->changed, NULL) == 0 &&
           thread_start(&started, job_main, thread) && pthread_detach(started) == 0;
}

bool job_thread_add(struct job_thread *thread, void (*work)(void *), void *argument) {
    (void)pthread_mutex_lock(&thread->lock);
    bool room = thread->count < JOBS_MAX;
    if (room) {
        unsigned job = (thread->first + thread->count++) % JOBS_MAX;
        thread->jobs[job].work = work;
        thread->jobs[job].argument = argument;
        (void)pthread_cond_signal(&thread->changed);
    }
    (void)pthread_mutex_unlock(&thread->lock);
    return room;
}

bool job_thread_idle(void *argument) {
    struct job_thread *thread = argument;
    (void)pthread_mutex_lock(&thread->lock);
    bool idle = thread->count == 0;
    (void)pthread_mutex_unlock(&thread->lock);
    return idle;
}

bool job_run(struct job_thread *thread, struct supervisor *supervisor, void (*work)(void *), void *argument,
             uint64_t patience_ns) {
    return job_thread_add(thread, work, argument) && supervisor_await(supervisor, job_thread_idle, thread, patience_ns);
}
