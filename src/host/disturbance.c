// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "host/disturbance.h"

#include "base/clock.h"
#include "host/procfs.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#define TEXT_BYTES 16384

// Where the kernel keeps each counter; see parse_figures. A path of NULL is the disk's own file.
static const struct {
    const char *path, *word;
    unsigned fields;
    unsigned unit_bytes;        // of what it counts; 0: it does not count bytes
} sources[COUNTERS] = {
    // user nice system idle iowait irq softirq steal; guest times are within user and nice
    [COUNTER_CPU_TOTAL] = {"/proc/stat", "cpu", 0xff},
    [COUNTER_CPU_IDLE] = {"/proc/stat", "cpu", 1 << 3 | 1 << 4},
    [COUNTER_CPU_STEAL] = {"/proc/stat", "cpu", 1 << 7},
    [COUNTER_PSI_CPU] = {"/proc/pressure/cpu", "some", 1 << 3},
    [COUNTER_PSI_IO] = {"/proc/pressure/io", "some", 1 << 3},
    [COUNTER_PSI_MEMORY] = {"/proc/pressure/memory", "some", 1 << 3},
    [COUNTER_DEVICE_READ] = {NULL, "", 1 << 2, 512},
    [COUNTER_DEVICE_WRITTEN] = {NULL, "", 1 << 6, 512},
    [COUNTER_SWAP_IN] = {"/proc/vmstat", "pswpin", 1},
    [COUNTER_SWAP_OUT] = {"/proc/vmstat", "pswpout", 1},
    [COUNTER_MAJOR_FAULTS] = {"/proc/vmstat", "pgmajfault", 1},
    [COUNTER_PAGED_IN] = {"/proc/vmstat", "pgpgin", 1, 1024},
    [COUNTER_PAGED_OUT] = {"/proc/vmstat", "pgpgout", 1, 1024},
};

static struct counters sample(const struct disturbance *disturbance) {
    static char text[TEXT_BYTES];           // of the main thread, which alone samples
    char disk[64];
    struct counters counters = {0};
    (void)snprintf(disk, sizeof disk, "/sys/dev/block/%u:%u/stat", disturbance->major, disturbance->minor);
    for (int i = 0; i < COUNTERS; i++) {
        if (i == 0 || sources[i].path != sources[i - 1].path) {
            (void)read_text(sources[i].path != NULL ? sources[i].path : disk, text, sizeof text);
        }
        counters.known[i] = parse_figures(text, sources[i].word, sources[i].fields, &counters.values[i]);
        counters.values[i] *= sources[i].unit_bytes > 0 ? sources[i].unit_bytes : 1;
    }
    return counters;
}

void disturbance_start(struct disturbance *disturbance, uint32_t major, uint32_t minor) {
    *disturbance = (struct disturbance){.major = major, .minor = minor, .threads_known = true};
    for (int i = 0; i < COUNTERS; i++) {
        disturbance->sum.known[i] = true;
    }
}

void disturbance_begin_step(struct disturbance *disturbance) {
    disturbance->before = sample(disturbance);
    disturbance->begin_ns = now_ns();
}

void disturbance_end_step(struct disturbance *disturbance) {
    struct counters after = sample(disturbance);
    disturbance->elapsed_ns += now_ns() - disturbance->begin_ns;
    for (int i = 0; i < COUNTERS; i++) {
        disturbance->sum.known[i] = disturbance->sum.known[i] && disturbance->before.known[i] && after.known[i];
        if (after.values[i] > disturbance->before.values[i]) {
            disturbance->sum.values[i] += after.values[i] - disturbance->before.values[i];
        }
    }
}

double disturbance_share(const struct disturbance *disturbance, enum counter part, enum counter whole) {
    const struct counters *sum = &disturbance->sum;
    if (!sum->known[part] || !sum->known[whole] || sum->values[whole] == 0) {
        return NAN;
    }
    return (double)sum->values[part] / (double)sum->values[whole];
}

double disturbance_time_share(const struct disturbance *disturbance, enum counter microseconds) {
    if (!disturbance->sum.known[microseconds] || disturbance->elapsed_ns == 0) {
        return NAN;
    }
    return fmin(1, (double)disturbance->sum.values[microseconds] * 1000 / (double)disturbance->elapsed_ns);
}

double disturbance_foreign_bytes(const struct disturbance *disturbance) {
    const struct counters *sum = &disturbance->sum;
    uint64_t written = sum->values[COUNTER_DEVICE_WRITTEN], own = disturbance->own_device_bytes;
    if (!sum->known[COUNTER_DEVICE_WRITTEN] || disturbance->elapsed_ns == 0) {
        return NAN;
    }
    return (double)sum->values[COUNTER_DEVICE_READ] + (written > own ? (double)(written - own) : 0);
}

struct thread_figures thread_figures_now(void) {
    struct thread_figures figures = {0};
    struct rusage usage;
    char text[128];
    figures.known = read_text("/proc/thread-self/schedstat", text, sizeof text) &&
                    parse_figures(text, "", 1 << 1, &figures.run_queue_wait_ns) && getrusage(RUSAGE_THREAD, &usage) == 0;
    figures.involuntary_switches = figures.known ? (uint64_t)usage.ru_nivcsw : 0;
    return figures;
}
