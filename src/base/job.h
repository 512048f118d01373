// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Work that may hang in a system call, such as anything that touches a file, is done in a thread of its own, one job
// after the other, so that the main thread can always react to signals and to the deadline.
#pragma once

#include "base/stop.h"

#include <pthread.h>

#define JOBS_MAX 16

struct job_thread {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct {
        void (*work)(void *);
        void *argument;
    } jobs[JOBS_MAX];           // a queue; the first is the one under way
    unsigned first, count;
};

// The thread lives as long as the process. False if it cannot be created.
bool job_thread_start(struct job_thread *thread);
// Adds a job to the queue; false if the queue is full. The lock is never held while a job runs.
bool job_thread_add(struct job_thread *thread, void (*work)(void *), void *argument);
// True if every job is done. For supervisor_await.
bool job_thread_idle(void *thread);

// Runs a job and waits for it; false if it hangs: see supervisor_await.
bool job_run(struct job_thread *thread, struct supervisor *supervisor, void (*work)(void *), void *argument,
             uint64_t patience_ns);

// A thread with a small stack. False if the kernel gives no more threads, or no memory for the stack.
bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument);
