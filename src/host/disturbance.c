// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/disturbance.h"

#include "base/clock.h"

#include <math.h>
#include <sys/resource.h>

#define TEXT_BYTES 16384

// Where the kernel keeps each counter; see parse_figures. A path of NULL stands for the file of each disk.
static const struct source {
    const char *path, *word;
    unsigned fields;
    unsigned unit;
} sources[COUNTERS] = {
    // user nice system idle iowait irq softirq steal; guest times are included in user and nice
    [COUNTER_CPU_TOTAL] = {"/proc/stat", "cpu", 0xff, 1},
    [COUNTER_CPU_IDLE] = {"/proc/stat", "cpu", 1 << 3 | 1 << 4, 1},
    [COUNTER_CPU_STEAL] = {"/proc/stat", "cpu", 1 << 7, 1},
    [COUNTER_PSI_CPU] = {"/proc/pressure/cpu", "some", 1 << 3, 1},
    [COUNTER_PSI_IO] = {"/proc/pressure/io", "some", 1 << 3, 1},
    [COUNTER_PSI_MEMORY] = {"/proc/pressure/memory", "some", 1 << 3, 1},
    [COUNTER_DEVICE_READ] = {NULL, "", 1 << 2, 512},
    [COUNTER_DEVICE_WRITTEN] = {NULL, "", 1 << 6, 512},
    [COUNTER_SWAP_IN] = {"/proc/vmstat", "pswpin", 1, 1},
    [COUNTER_SWAP_OUT] = {"/proc/vmstat", "pswpout", 1, 1},
    [COUNTER_MAJOR_FAULTS] = {"/proc/vmstat", "pgmajfault", 1, 1},
    [COUNTER_PAGED_IN] = {"/proc/vmstat", "pgpgin", 1, 1024},
    [COUNTER_PAGED_OUT] = {"/proc/vmstat", "pgpgout", 1, 1024},
};

static double value_in(const char *text, const struct source *source) {
    uint64_t figure;
    return parse_figures(text, source->word, source->fields, &figure) ? (double)figure * source->unit : NAN;
}

// Returns the sum of all disks; NAN if there is none, or if one of them is unknown.
static double value_of_disks(const struct disks *disks, const struct source *source) {
    char path[64], text[512];
    double sum = disks->count > 0 ? 0 : NAN;
    for (uint32_t i = 0; i < disks->count; i++) {
        (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u/stat", disks->numbers[i].major,
                       disks->numbers[i].minor);
        (void)read_text(path, text, sizeof text);
        sum += value_in(text, source);
    }
    return sum;
}

static void sample(const struct disturbance *disturbance, double values[COUNTERS]) {
    static char text[TEXT_BYTES];           // static, because only the main thread samples
    for (int i = 0; i < COUNTERS; i++) {
        const struct source *source = &sources[i];
        if (source->path != NULL && (i == 0 || source->path != sources[i - 1].path)) {
            (void)read_text(source->path, text, sizeof text);
        }
        values[i] = source->path != NULL ? value_in(text, source) : value_of_disks(&disturbance->disks, source);
    }
}

void disturbance_begin_step(struct disturbance *disturbance) {
    sample(disturbance, disturbance->before);
    cgroup_throttled_ns(&disturbance->cgroup, disturbance->throttled_before);
    disturbance->begin_ns = now_ns();
}

void disturbance_end_step(struct disturbance *disturbance) {
    double after[COUNTERS], throttled[CGROUP_LEVELS];
    sample(disturbance, after);
    cgroup_throttled_ns(&disturbance->cgroup, throttled);
    disturbance->elapsed_ns += now_ns() - disturbance->begin_ns;
    for (int i = 0; i < COUNTERS; i++) {
        double counted = after[i] - disturbance->before[i];
        disturbance->sum[i] += counted < 0 ? 0 : counted;           // the kernel's idle times may decrease
    }
    for (int i = 0; i < CGROUP_LEVELS; i++) {
        disturbance->throttled_ns[i] += throttled[i] - disturbance->throttled_before[i];
    }
}

struct disturbance disturbance_since(const struct disturbance *now, const struct disturbance *earlier) {
    struct disturbance since = *now;
    for (int i = 0; i < COUNTERS; i++) {
        since.sum[i] -= earlier->sum[i];
    }
    for (int i = 0; i < CGROUP_LEVELS; i++) {
        since.throttled_ns[i] -= earlier->throttled_ns[i];
    }
    since.elapsed_ns -= earlier->elapsed_ns;
    since.own_device_bytes -= earlier->own_device_bytes;
    since.own_device_read_bytes -= earlier->own_device_read_bytes;
    since.run_queue_wait_ns -= earlier->run_queue_wait_ns;
    since.writers_elapsed_ns -= earlier->writers_elapsed_ns;
    return since;
}

double disturbance_sum(const struct disturbance *disturbance, enum counter counter) {
    return disturbance->elapsed_ns > 0 ? disturbance->sum[counter] : NAN;
}

double disturbance_share(const struct disturbance *disturbance, enum counter part, enum counter whole) {
    double all = disturbance_sum(disturbance, whole);
    return all > 0 ? disturbance_sum(disturbance, part) / all : NAN;
}

double disturbance_time_share(const struct disturbance *disturbance, enum counter microseconds) {
    double share = disturbance_sum(disturbance, microseconds) * 1000 / (double)disturbance->elapsed_ns;
    return share > 1 ? 1 : share;
}

double disturbance_throttled_ns(const struct disturbance *disturbance) {
    double longest = NAN;
    for (int i = 0; disturbance->elapsed_ns > 0 && i < CGROUP_LEVELS; i++) {
        longest = fmax(longest, disturbance->throttled_ns[i]);          // fmax() ignores NAN
    }
    return longest;
}

double disturbance_throttled_share(const struct disturbance *disturbance) {
    double share = disturbance_throttled_ns(disturbance) / (double)disturbance->elapsed_ns;
    return share > 1 ? 1 : share;
}

double disturbance_foreign_bytes(const struct disturbance *disturbance) {
    double written = disturbance_sum(disturbance, COUNTER_DEVICE_WRITTEN) - (double)disturbance->own_device_bytes;
    double read = disturbance_sum(disturbance, COUNTER_DEVICE_READ) - (double)disturbance->own_device_read_bytes;
    return (read < 0 ? 0 : read) + (written < 0 ? 0 : written);
}

struct thread_figures thread_figures_now(void) {
    struct thread_figures figures = {0};
    struct rusage usage;
    char text[128];
    figures.known =
        read_text("/proc/thread-self/schedstat", text, sizeof text) &&
        parse_figures(text, "", 1 << 1, &figures.run_queue_wait_ns) && getrusage(RUSAGE_THREAD, &usage) == 0;
    figures.involuntary_switches = figures.known ? (uint64_t)usage.ru_nivcsw : 0;
    return figures;
}
