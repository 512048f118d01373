// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/stop.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define POLL_NS UINT64_C(2000000)
#define SAME_REQUEST_NS UINT64_C(1000000000)    // timeout(1), systemd and supervising shells send a signal twice

// A signal that whoever started us had ignored (nohup; a shell script's background jobs) stays ignored.
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

static void stop(struct supervisor *supervisor, enum stop_reason reason, int signal) {
    if (supervisor->reason == STOP_NONE) {
        supervisor->reason = reason;
        supervisor->signal = signal;
        supervisor->stopped_at_ns = now_ns();
    } else if (reason == STOP_SIGNAL && now_ns() >= supervisor->stopped_at_ns + SAME_REQUEST_NS) {
        supervisor->hurried = true;
    }
}

bool supervisor_wait(struct supervisor *supervisor, uint64_t until_ns) {
    bool stopped_before = supervisor->reason != STOP_NONE;
    for (;;) {
        uint64_t now = now_ns();
        if (now >= supervisor->deadline_ns && supervisor->reason == STOP_NONE) {
            stop(supervisor, STOP_DEADLINE, 0);
        }
        if (now >= until_ns || (supervisor->reason != STOP_NONE && !stopped_before)) {
            return supervisor->reason != STOP_NONE;
        }
        uint64_t wake_ns = until_ns;
        if (supervisor->reason == STOP_NONE && supervisor->deadline_ns < wake_ns) {
            wake_ns = supervisor->deadline_ns;
        }
        struct timespec rest = ns_timespec(wake_ns - now);
        int signal = sigtimedwait(&supervisor->signals, NULL, &rest);
        if (signal > 0) {
            stop(supervisor, STOP_SIGNAL, signal);
        }
    }
}

bool supervisor_patience_over(const struct supervisor *supervisor) {
    return supervisor->reason != STOP_NONE &&
           now_ns() >= supervisor->stopped_at_ns + SUPERVISOR_PATIENCE_NS;
}

// What was sent before was meant for what went on then.
static void forget_pending(struct supervisor *supervisor) {
    const struct timespec at_once = {0};
    for (int signal; (signal = sigtimedwait(&supervisor->signals, NULL, &at_once)) > 0;) {
        stop(supervisor, STOP_SIGNAL, signal);
    }
    supervisor->hurried = false;
}

bool supervisor_await(struct supervisor *supervisor, bool (*done)(void *), void *argument, uint64_t patience_ns) {
    uint64_t begin_ns = now_ns();
    forget_pending(supervisor);
    for (uint64_t poll_ns = 50000; !done(argument); poll_ns = poll_ns < POLL_NS ? poll_ns * 2 : POLL_NS * 5) {
        if (supervisor_wait(supervisor, now_ns() + poll_ns)) {
            uint64_t from_ns = begin_ns > supervisor->stopped_at_ns ? begin_ns : supervisor->stopped_at_ns;
            if (supervisor->hurried || now_ns() >= from_ns + patience_ns) {
                return done(argument);
            }
        }
    }
    return true;
}

struct job {
    void (*work)(void *);
    void *argument;
    atomic_bool done;
    pthread_t thread;
};

static void *run_job(void *argument) {
    struct job *job = argument;
    job->work(job->argument);
    atomic_store(&job->done, true);
    return NULL;
}

// NULL where no thread could be made, and the work is done already.
static struct job *start_job(void (*work)(void *), void *argument) {
    struct job *job = calloc(1, sizeof *job);
    if (job != NULL) {
        job->work = work;
        job->argument = argument;
        if (pthread_create(&job->thread, NULL, run_job, job) == 0) {
            return job;
        }
        free(job);
    }
    work(argument);
    return NULL;
}

// The thread of a job that hangs outlives this, and so does the job's record.
static bool end_job(struct job *job, bool done) {
    if (!done) {
        (void)pthread_detach(job->thread);
        return false;
    }
    (void)pthread_join(job->thread, NULL);
    free(job);
    return true;
}

// Waits for the job; false where it hangs. The first polls are short, so that quick work costs no time.
static bool wait_for_job(struct supervisor *supervisor, struct job *job, atomic_bool *stop_flag, void (*tick)(void *),
                         void *tick_argument, uint64_t tick_ns) {
    uint64_t next_tick_ns = now_ns() + tick_ns;
    for (uint64_t poll_ns = 50000; !atomic_load(&job->done);) {
        if (supervisor_wait(supervisor, now_ns() + poll_ns)) {
            atomic_store(stop_flag, true);
            if (supervisor_patience_over(supervisor)) {
                return atomic_load(&job->done);
            }
        }
        poll_ns = poll_ns < POLL_NS ? poll_ns * 2 : POLL_NS * 5;
        if (tick != NULL && now_ns() >= next_tick_ns) {
            tick(tick_argument);
            next_tick_ns = now_ns() + tick_ns;
        }
    }
    return true;
}

bool supervisor_run(struct supervisor *supervisor, void (*work)(void *), void *argument, atomic_bool *stop_flag,
                    void (*tick)(void *), void *tick_argument, uint64_t tick_ns) {
    struct job *job = start_job(work, argument);
    return job == NULL || end_job(job, wait_for_job(supervisor, job, stop_flag, tick, tick_argument, tick_ns));
}

static bool job_done(void *job) {
    return atomic_load(&((struct job *)job)->done);
}

bool supervisor_finish(struct supervisor *supervisor, void (*work)(void *), void *argument, uint64_t patience_ns) {
    struct job *job = start_job(work, argument);
    return job == NULL || end_job(job, supervisor_await(supervisor, job_done, job, patience_ns));
}
