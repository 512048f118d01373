// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/io_limit.h"

#include "base/clock.h"

#include <math.h>

#define TEXT_BYTES 16384

// Where the limit on each quantity is found, and the counters of a device (see parse_figures) that it limits: merged
// requests count as well and, if the kernel counts them, flushes. A synchronous write can be up to three requests (a
// flush, the data and another flush), of which some kernels count one. Therefore, each counted write is taken for two.
static const struct {
    const char *legacy_file, *key;      // of version 1, and in io.max, in the order of its fields
    unsigned fields, without_flushes;
    unsigned unit;
    bool is_write;
    unsigned requests;                  // for each counted one
} quantities[IO_QUANTITIES] = {
    {"blkio.throttle.read_bps_device", "rbps=", 1 << 2, 1 << 2, 512, false, 1},
    {"blkio.throttle.write_bps_device", "wbps=", 1 << 6, 1 << 6, 512, true, 1},
    {"blkio.throttle.read_iops_device", "riops=", 1 << 0 | 1 << 1, 1 << 0 | 1 << 1, 1, false, 1},
    {"blkio.throttle.write_iops_device", "wiops=", 1 << 4 | 1 << 5 | 1 << 15, 1 << 4 | 1 << 5, 1, true, 2},
};

static const char *name_of_file(const struct io_limits *limits, int quantity) {
    return limits->cgroup.legacy ? quantities[quantity].legacy_file : "io.max";
}

void io_limits_init(struct io_limits *limits, const struct disks *devices) {
    *limits = (struct io_limits){.devices = *devices};
    cgroup_find(&limits->cgroup, "blkio");
}

// The limit of a device in a file. A line of version 2 has all quantities: 7:0 rbps=max wbps=max riops=max wiops=60
static uint64_t limit_in(const char *text, struct block_number device, unsigned fields) {
    char number[32];
    uint64_t per_s;
    (void)snprintf(number, sizeof number, "%" PRIu32 ":%" PRIu32, device.major, device.minor);
    return parse_figures(text, number, fields, &per_s) ? per_s : 0;
}

// Adds the limits that apply now. The limits of a group of version 1 do not apply to the groups below it.
static void add_limits(struct io_limits *limits) {
    static char text[TEXT_BYTES];           // static, because only the main thread looks for limits
    char file[CGROUP_FILE_BYTES];
    bool legacy = limits->cgroup.legacy;
    for (int level = 0; level < (legacy ? 1 : CGROUP_LEVELS); level++) {
        for (int i = 0; i < IO_QUANTITIES; i++) {
            if (!cgroup_file(&limits->cgroup, level, name_of_file(limits, i), file) ||
                !read_text(file, text, sizeof text)) {
                continue;
            }
            for (uint32_t d = 0; d < limits->devices.count; d++) {
                uint64_t per_s = limit_in(text, limits->devices.numbers[d], legacy ? 1 : 1U << i);
                struct io_limit *lowest = &limits->lowest[d][i];
                if (per_s > 0 && (lowest->per_s == 0 || per_s < lowest->per_s)) {
                    *lowest = (struct io_limit){per_s, level};
                }
            }
        }
    }
}

static void count(const struct io_limits *limits, double counted[DISKS_MAX][IO_QUANTITIES]) {
    char path[64], text[512];
    for (uint32_t d = 0; d < limits->devices.count; d++) {
        (void)snprintf(path, sizeof path, "/sys/dev/block/%" PRIu32 ":%" PRIu32 "/stat",
                       limits->devices.numbers[d].major, limits->devices.numbers[d].minor);
        (void)read_text(path, text, sizeof text);
        for (int i = 0; i < IO_QUANTITIES; i++) {
            uint64_t figure;
            bool known = parse_figures(text, "", quantities[i].fields, &figure) ||
                         parse_figures(text, "", quantities[i].without_flushes, &figure);
            counted[d][i] = known ? (double)figure * quantities[i].unit : NAN;
        }
    }
}

static void note_used(struct io_limits *limits, uint32_t d, int i, double share) {
    const struct io_limit *lowest = &limits->lowest[d][i];
    struct io_limit_used *used = quantities[i].is_write ? &limits->by_writes : &limits->by_reads;
    share = fmin(share, 1);
    if ((used->file[0] != '\0' && share <= used->share) ||
        !cgroup_file(&limits->cgroup, lowest->level, name_of_file(limits, i), used->file)) {
        return;
    }
    used->share = share;
    (void)snprintf(used->value, sizeof used->value, "%" PRIu32 ":%" PRIu32 " %s%" PRIu64,
                   limits->devices.numbers[d].major, limits->devices.numbers[d].minor,
                   limits->cgroup.legacy ? "" : quantities[i].key, lowest->per_s);
}

void io_limits_begin_step(struct io_limits *limits) {
    memset(limits->lowest, 0, sizeof limits->lowest);
    add_limits(limits);
    count(limits, limits->before);
    limits->begin_ns = now_ns();
}

void io_limits_end_step(struct io_limits *limits, uint32_t writers, uint64_t block_bytes) {
    double after[DISKS_MAX][IO_QUANTITIES];
    double elapsed_s = (double)(now_ns() - limits->begin_ns) / (double)NS_PER_S;
    count(limits, after);
    add_limits(limits);                 // also those that were set while the step ran
    limits->by_writes.file[0] = limits->by_reads.file[0] = '\0';
    for (uint32_t d = 0; d < limits->devices.count; d++) {
        for (int i = 0; i < IO_QUANTITIES; i++) {
            double held = !quantities[i].is_write ? 0 : writers * (quantities[i].unit > 1 ? (double)block_bytes : 1);
            double used = (after[d][i] - limits->before[d][i] + held) * quantities[i].requests / elapsed_s;
            if (!isnan(used) && limits->lowest[d][i].per_s > 0) {
                note_used(limits, d, i, used / (double)limits->lowest[d][i].per_s);
            }
        }
    }
}
