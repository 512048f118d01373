// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What ends a run before its time: SIGINT, SIGTERM, SIGHUP and the deadline. No handlers: the signals are blocked in
// every thread, and the main thread takes them while it waits. Main itself makes no call on the file system under test,
// and none on standard output, standard error, --progress and --csvFile, so it stays able to report whatever hangs
// there. (Rows of --tables are its own; a warning tells where they lie on the file system under test.)
#ifndef LOGDISK_STOP_H
#define LOGDISK_STOP_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SUPERVISOR_PATIENCE_NS UINT64_C(1000000000)     // for a call in flight to end, once the run is to end

enum stop_reason { STOP_NONE, STOP_SIGNAL, STOP_DEADLINE };

struct supervisor {
    sigset_t signals;
    uint64_t deadline_ns;               // of CLOCK_MONOTONIC
    enum stop_reason reason;
    int signal;
    uint64_t stopped_at_ns;
    bool hurried;                       // a later signal, more than a second after the first: do not wait for results
};

// Blocks the signals, but for those that were ignored before, and ignores those that would end the process in silence
// (SIGPIPE, SIGXFSZ).
bool supervisor_start(struct supervisor *supervisor);

// Waits until that instant or the first event; true where the run is to end.
bool supervisor_wait(struct supervisor *supervisor, uint64_t until_ns);

// True where calls in flight had their time to end.
bool supervisor_patience_over(const struct supervisor *supervisor);

// Runs work(argument) in a thread of its own and waits for it. When the run is to end it sets *stop; returns false
// where the thread was then still at it after SUPERVISOR_PATIENCE_NS: it hangs in a call and must be left alone.
// tick (may be NULL) is called about every tick_ns meanwhile. On failure to start a thread, runs it here.
bool supervisor_run(struct supervisor *supervisor, void (*work)(void *), void *argument, atomic_bool *stop,
                    void (*tick)(void *), void *tick_argument, uint64_t tick_ns);

// For what is done at the end, also of a run that was stopped. Waits until done(argument); false if the run is to end
// and patience_ns have passed since then (and since this began), or if another signal came meanwhile (hurried). Signals
// within a second of the first are the same request.
bool supervisor_await(struct supervisor *supervisor, bool (*done)(void *), void *argument, uint64_t patience_ns);
// The same for work(argument) in a thread of its own.
bool supervisor_finish(struct supervisor *supervisor, void (*work)(void *), void *argument, uint64_t patience_ns);

#endif
