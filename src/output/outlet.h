// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A thread that delivers text to a place where that may block for as long as it likes: a file on a frozen disk, a pipe
// that nobody reads. Whoever hands text over never waits for it. The lock is held for no longer than a copy takes.
#ifndef LOGDISK_OUTLET_H
#define LOGDISK_OUTLET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct outlet {
    int (*deliver)(const void *argument, const char *text, size_t length);      // 0 or errno
    const void *argument;
    bool latest_only;                   // newer text takes the place of older that is still waiting
    // Set by outlet_start; the rest under the lock:
    bool started;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *text;                         // waiting
    size_t length, room;
    bool released, busy, ending;
    int error;                          // of the first text that could not be delivered
};

// False where the thread cannot be made.
bool outlet_start(struct outlet *outlet);
// Adds text, which waits for outlet_release. One that was not started delivers nothing.
void outlet_put(struct outlet *outlet, const char *text, size_t length);
void outlet_release(struct outlet *outlet);
size_t outlet_waiting(struct outlet *outlet);
// True where all that was released is delivered, or has failed.
bool outlet_idle(struct outlet *outlet);
int outlet_error(struct outlet *outlet);
// Ends the thread of an idle outlet.
void outlet_end(struct outlet *outlet);

#endif
