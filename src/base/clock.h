// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The only clock for measurements: CLOCK_MONOTONIC in nanoseconds, read through the vDSO, never stepped.
#pragma once

#include "base/standard.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t timespec_ns(struct timespec time) {
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static inline struct timespec ns_timespec(uint64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

// clock_gettime cannot fail for these two clocks with a valid pointer.
static inline uint64_t now_ns(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return timespec_ns(time);
}

static inline uint64_t epoch_ns(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    return timespec_ns(time);
}

// Returns the wall clock minus the monotonic clock: add it to a monotonic instant to get the wall-clock time.
static inline uint64_t boot_epoch_ns(void) {
    uint64_t epoch = epoch_ns();
    return epoch - now_ns();
}

// Sleeps until the given CLOCK_MONOTONIC time; returns at once if it has passed.
static inline void sleep_until_ns(uint64_t instant_ns) {
    struct timespec time = ns_timespec(instant_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {
    }
}
