// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/supervisor.h"

#include "base/clock.h"

#define SAME_REQUEST_NS UINT64_C(1000000000)    // timeout(1), systemd and supervising shells send a signal twice

// A signal that the parent process ignored (nohup, background jobs of a shell script) stays ignored.
static void take_signal(struct supervisor *supervisor, int signal) {
    struct sigaction old;
    if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
        (void)sigaddset(&supervisor->signals, signal);
    }
}

bool supervisor_start(struct supervisor *supervisor) {
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigemptyset(&supervisor->signals);
    take_signal(supervisor, SIGINT);
    take_signal(supervisor, SIGTERM);
    take_signal(supervisor, SIGHUP);
    supervisor->deadline_ns = UINT64_MAX;
    return pthread_sigmask(SIG_BLOCK, &supervisor->signals, NULL) == 0 && sigaction(SIGPIPE, &ignore, NULL) == 0 &&
           sigaction(SIGXFSZ, &ignore, NULL) == 0;
}

// The first reason counts. A later signal only shortens the wait.
static void stop(struct supervisor *supervisor, enum stop_reason reason, int signal) {
    supervisor->deadline_ns = UINT64_MAX;
    if (supervisor->reason == STOP_NONE) {
        supervisor->reason = reason;
        atomic_store(&supervisor->stop, true);
        supervisor->signal = signal;
        supervisor->stopped_at_ns = now_ns();
    } else if (now_ns() >= supervisor->stopped_at_ns + SAME_REQUEST_NS) {
        supervisor->hurried = true;
    }
}

bool supervisor_wait(struct supervisor *supervisor, uint64_t until_ns) {
    bool stopped_before = supervisor->reason != STOP_NONE;
    for (;;) {
        uint64_t now = now_ns();
        if (now >= supervisor->deadline_ns) {
            stop(supervisor, STOP_DEADLINE, 0);
        }
        if (now >= until_ns || (supervisor->reason != STOP_NONE && !stopped_before)) {
            return supervisor->reason != STOP_NONE;
        }
        uint64_t wake_ns = until_ns < supervisor->deadline_ns ? until_ns : supervisor->deadline_ns;
        struct timespec rest = ns_timespec(wake_ns - now);
        int signal = sigtimedwait(&supervisor->signals, NULL, &rest);
        if (signal > 0) {
            stop(supervisor, STOP_SIGNAL, signal);
        }
    }
}

bool supervisor_patience_over(const struct supervisor *supervisor) {
    return supervisor->reason != STOP_NONE && now_ns() >= supervisor->stopped_at_ns + SUPERVISOR_PATIENCE_NS;
}

bool supervisor_await(struct supervisor *supervisor, bool (*done)(void *), void *argument, uint64_t patience_ns) {
    uint64_t begin_ns = now_ns();
    const struct timespec at_once = {0};
    for (int signal; (signal = sigtimedwait(&supervisor->signals, NULL, &at_once)) > 0;) {
        stop(supervisor, STOP_SIGNAL, signal);
    }
    supervisor->hurried = false;        // earlier signals were about the earlier work
    while (!done(argument)) {
        if (supervisor_wait(supervisor, now_ns() + SUPERVISOR_POLL_NS)) {
            uint64_t from_ns = begin_ns > supervisor->stopped_at_ns ? begin_ns : supervisor->stopped_at_ns;
            if (supervisor->hurried || now_ns() >= from_ns + patience_ns) {
                return done(argument);
            }
        }
    }
    return true;
}

// Jobs.

// Stacks are small, because there may be a thousand threads, and --mlock keeps all of a stack in memory.
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
    return pthread_mutex_init(&thread->lock, NULL) == 0 && pthread_cond_init(&thread->changed, NULL) == 0 &&
           thread_start(&thread->thread, job_main, thread);
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

static void end_thread(void *unused) {
    pthread_exit(NULL);
}

bool job_thread_end(struct job_thread *thread) {
    return job_thread_idle(thread) && job_thread_add(thread, end_thread, NULL) &&
           pthread_join(thread->thread, NULL) == 0;
}

bool job_run(struct job_thread *thread, struct supervisor *supervisor, void (*work)(void *), void *argument,
             uint64_t patience_ns) {
    return job_thread_add(thread, work, argument) && supervisor_await(supervisor, job_thread_idle, thread, patience_ns);
}
