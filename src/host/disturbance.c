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

static void sample_cpu(struct counters *counters, char text[TEXT_BYTES]) {
    uint64_t *values = counters->values;
    bool known = read_text("/proc/stat", text, TEXT_BYTES) &&
                 parse_cpu_times(text, &values[COUNTER_CPU_TOTAL], &values[COUNTER_CPU_IDLE], &values[COUNTER_CPU_STEAL]);
    counters->known[COUNTER_CPU_TOTAL] = counters->known[COUNTER_CPU_IDLE] = counters->known[COUNTER_CPU_STEAL] = known;
}

static void sample_pressure(struct counters *counters, char text[TEXT_BYTES]) {
    static const struct { const char *path; enum counter counter; } files[] = {
        {"/proc/pressure/cpu", COUNTER_PSI_CPU}, {"/proc/pressure/io", COUNTER_PSI_IO},
        {"/proc/pressure/memory", COUNTER_PSI_MEMORY}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        counters->known[files[i].counter] = read_text(files[i].path, text, TEXT_BYTES) &&
                                            parse_pressure(text, &counters->values[files[i].counter]);
    }
}

static void sample_memory(struct counters *counters, char text[TEXT_BYTES]) {
    static const struct { const char *name; enum counter counter; } lines[] = {
        {"pswpin", COUNTER_SWAP_IN}, {"pswpout", COUNTER_SWAP_OUT}, {"pgmajfault", COUNTER_MAJOR_FAULTS},
        {"pgpgin", COUNTER_PAGED_IN}, {"pgpgout", COUNTER_PAGED_OUT}};
    bool read = read_text("/proc/vmstat", text, TEXT_BYTES);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        counters->known[lines[i].counter] = read && parse_vmstat(text, lines[i].name, &counters->values[lines[i].counter]);
    }
}

static void sample_device(struct counters *counters, uint32_t major, uint32_t minor, char text[TEXT_BYTES]) {
    char path[64];
    (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u/stat", major, minor);
    bool known = major > 0 && read_text(path, text, TEXT_BYTES) &&
                 parse_block_stat(text, &counters->values[COUNTER_DEVICE_READ], &counters->values[COUNTER_DEVICE_WRITTEN]);
    counters->known[COUNTER_DEVICE_READ] = counters->known[COUNTER_DEVICE_WRITTEN] = known;
}

static struct counters sample(const struct disturbance *disturbance) {
    static char text[TEXT_BYTES];           // of the main thread, which alone samples
    struct counters counters = {0};
    sample_cpu(&counters, text);
    sample_pressure(&counters, text);
    sample_memory(&counters, text);
    sample_device(&counters, disturbance->major, disturbance->minor, text);
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

bool disturbance_foreign_bytes(const struct disturbance *disturbance, uint64_t *bytes) {
    const struct counters *sum = &disturbance->sum;
    if (!sum->known[COUNTER_DEVICE_WRITTEN] || disturbance->elapsed_ns == 0) {
        return false;
    }
    uint64_t written = sum->values[COUNTER_DEVICE_WRITTEN], own = disturbance->own_device_bytes;
    *bytes = sum->values[COUNTER_DEVICE_READ] + (written > own ? written - own : 0);
    return true;
}

struct thread_figures thread_figures_now(void) {
    struct thread_figures figures = {0};
    struct rusage usage;
    char text[128];
    figures.known = read_text("/proc/thread-self/schedstat", text, sizeof text) &&
                    parse_schedstat(text, &figures.run_queue_wait_ns) && getrusage(RUSAGE_THREAD, &usage) == 0;
    if (figures.known) {
        figures.involuntary_switches = (uint64_t)usage.ru_nivcsw;
    }
    return figures;
}
