// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Other activity on the host while the tester measured, from the kernel's counters. The counters are sampled before and
// after each step, and their differences are added up.
#pragma once

#include "host/cgroup.h"
#include "host/device.h"

enum counter {
    COUNTER_CPU_TOTAL, COUNTER_CPU_IDLE, COUNTER_CPU_STEAL,                     // ticks
    COUNTER_PSI_CPU, COUNTER_PSI_IO, COUNTER_PSI_MEMORY,                        // microseconds
    COUNTER_DEVICE_READ, COUNTER_DEVICE_WRITTEN,                                // bytes
    COUNTER_SWAP_IN, COUNTER_SWAP_OUT, COUNTER_MAJOR_FAULTS,                    // pages
    COUNTER_PAGED_IN, COUNTER_PAGED_OUT,                                        // bytes
    COUNTERS
};

struct disturbance {
    struct disks disks;                 // the disks whose counters are sampled, and added up
    double before[COUNTERS], sum[COUNTERS];     // NAN if the kernel lacks the counter
    struct cgroup cgroup;  // the tester's group and the groups above it, each of which can have its own quota
    double throttled_before[CGROUP_LEVELS], throttled_ns[CGROUP_LEVELS];
    uint64_t begin_ns, elapsed_ns;
    // The writers fill these in themselves:
    uint64_t own_bytes;                 // bytes written, including the warm-up
    uint64_t own_device_bytes;          // of these, bytes to the file system whose disks are sampled
    uint64_t own_device_read_bytes;     // bytes read from that file system
    uint64_t run_queue_wait_ns, writers_elapsed_ns;
    uint64_t involuntary_switches;
    bool threads_known;
};

void disturbance_begin_step(struct disturbance *disturbance);
void disturbance_end_step(struct disturbance *disturbance);

// Returns the disturbance since an earlier state.
struct disturbance disturbance_since(const struct disturbance *now, const struct disturbance *earlier);

// Returns the total of a counter in all steps; NAN if it is unknown.
double disturbance_sum(const struct disturbance *disturbance, enum counter counter);

// Returns the quotient of two counters, or of a counter and the time (0 to 1); NAN if it is unknown.
double disturbance_share(const struct disturbance *disturbance, enum counter part, enum counter whole);
double disturbance_time_share(const struct disturbance *disturbance, enum counter microseconds);

// Return how long a quota kept the tester's cgroup or one above it from running, or the share of the elapsed time; NAN
// if unknown. This is the largest value of all levels, not their sum: while a group is throttled, the groups below it
// are as well. The kernel adds up the throttled time of each processor, so the sum can exceed the elapsed time; the
// share is at most 1.
double disturbance_throttled_ns(const struct disturbance *disturbance);
double disturbance_throttled_share(const struct disturbance *disturbance);

// Bytes on the device that the tester did not cause; NAN if the device is unknown.
double disturbance_foreign_bytes(const struct disturbance *disturbance);

// A thread's own figures since it started: time spent runnable but not running, and how often it was preempted.
struct thread_figures {
    bool known;
    uint64_t run_queue_wait_ns, involuntary_switches;
};
struct thread_figures thread_figures_now(void);
