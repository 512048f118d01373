// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What ends a run early: SIGINT, SIGTERM, SIGHUP and the deadline. There are no handlers: every thread blocks these
// signals, and the main thread takes them while it waits. It makes no call that can hang: threads of their own touch
// files (job.h), and writes to a pipe or terminal cannot block (console.h).
#pragma once

#include "base/standard.h"

#include <signal.h>

#define SUPERVISOR_PATIENCE_NS UINT64_C(1000000000)     // time for calls in flight to return when a run is stopped
#define SUPERVISOR_POLL_NS UINT64_C(2000000)            // between two looks at something that is awaited

enum stop_reason { STOP_NONE, STOP_SIGNAL, STOP_DEADLINE };

struct supervisor {
    sigset_t signals;
    uint64_t deadline_ns;               // of CLOCK_MONOTONIC
    enum stop_reason reason;
    atomic_bool stop;                   // there is a reason: for other threads, which end their work early
    int signal;
    uint64_t stopped_at_ns;
    bool hurried;                       // a later signal, more than a second after the first: do not wait for results
};

// Blocks the signals, except those that were ignored before, and ignores those that would end the process silently
// (SIGPIPE, SIGXFSZ).
bool supervisor_start(struct supervisor *supervisor);

// Waits until that instant or the first event; true if the run is to end.
bool supervisor_wait(struct supervisor *supervisor, uint64_t until_ns);

// True if calls in flight have had their time to return.
bool supervisor_patience_over(const struct supervisor *supervisor);

// Waits until done(argument), which is called every SUPERVISOR_POLL_NS, also in a run that was stopped. Returns false if the run is to end and
// patience_ns have passed since then (and since this call), or if another signal has arrived (hurried). Signals within
// a second of the first are the same request.
bool supervisor_await(struct supervisor *supervisor, bool (*done)(void *), void *argument, uint64_t patience_ns);
