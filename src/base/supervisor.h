// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A run ends early on SIGINT, SIGTERM, SIGHUP or the deadline. There are no handlers: every thread blocks these
// signals, and the main thread takes them while it waits. It makes no call that can hang: only other threads touch
// files, and writes to a pipe or terminal cannot block (console.h).
#pragma once

#include "base/standard.h"

#include <pthread.h>
#include <signal.h>

#define SUPERVISOR_PATIENCE_NS UINT64_C(1000000000)     // time for calls in flight to return when a run is stopped
#define SUPERVISOR_POLL_NS UINT64_C(2000000)            // the time between two checks while waiting

enum stop_reason { STOP_NONE, STOP_SIGNAL, STOP_DEADLINE };

struct supervisor {
    sigset_t signals;
    uint64_t deadline_ns;               // CLOCK_MONOTONIC
    enum stop_reason reason;
    atomic_bool stop;                   // set if the run should end, so that other threads end their work early
    int signal;
    uint64_t stopped_at_ns;
    bool hurried;                       // another signal came over a second after the first: do not wait
};

// Blocks the signals, except those that were ignored before, and ignores those that would end the process silently
// (SIGPIPE, SIGXFSZ).
bool supervisor_start(struct supervisor *supervisor);

// Waits until the given time or the first event. Returns true if the run should end.
bool supervisor_wait(struct supervisor *supervisor, uint64_t until_ns);

// Returns true if calls in flight have had enough time to return.
bool supervisor_patience_over(const struct supervisor *supervisor);

// Waits until done(argument) is true. It is called every SUPERVISOR_POLL_NS, even if the run was stopped. Returns false
// if the run should end and patience_ns have passed since then (and since this call), or if another signal has arrived
// (hurried). Signals within a second of the first count as the same request.
bool supervisor_await(struct supervisor *supervisor, bool (*done)(void *), void *argument, uint64_t patience_ns);

// Work that may hang in a system call, such as any access to a file, runs in a separate thread, one job after the
// other, so that the main thread can always react to signals and to the deadline.

#define JOBS_MAX 16

struct job_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct {
        void (*work)(void *);
        void *argument;
    } jobs[JOBS_MAX];           // a queue; the first one is running
    unsigned first, count;
};

// Returns false if the thread cannot be created.
bool job_thread_start(struct job_thread *thread);
// Adds a job to the queue; false if the queue is full. The lock is never held while a job runs.
bool job_thread_add(struct job_thread *thread, void (*work)(void *), void *argument);
// Returns true if every job is done. For supervisor_await.
bool job_thread_idle(void *thread);

// Ends the thread if it is idle; otherwise returns false, and the thread must be left alone.
bool job_thread_end(struct job_thread *thread);

// Runs a job and waits for it; false if it hangs: see supervisor_await.
bool job_run(struct job_thread *thread, struct supervisor *supervisor, void (*work)(void *), void *argument,
             uint64_t patience_ns);

// Starts a thread with a small stack. Returns false if the kernel cannot create another thread, or has no memory for
// its stack.
bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument);
