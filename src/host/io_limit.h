// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Limits on the I/O of this process's cgroups (blkio.throttle.* of version 1, io.max of version 2) for the devices under
// test, and which share of them was used in a step. A limit that is used delays requests, and looks like slow storage.
#pragma once

#include "host/cgroup.h"
#include "host/device.h"

#define IO_QUANTITIES 4     // bytes and requests, of reads and writes

// The limit of which the largest share was used in a step.
struct io_limit_used {
    double share;                       // at most 1
    char file[CGROUP_FILE_BYTES];       // empty if there is no limit
    char value[64];                     // in the notation of the file: 7:0 60, or 7:0 wiops=60
};

struct io_limits {
    struct cgroup cgroup;
    struct disks devices;
    struct io_limit {
        uint64_t per_s;                 // 0: none
        int level;                      // of the group that has the limit
    } lowest[DISKS_MAX][IO_QUANTITIES];         // the limits that applied in this step
    double before[DISKS_MAX][IO_QUANTITIES];
    uint64_t begin_ns;
    struct io_limit_used by_writes, by_reads;           // in the last step
};

void io_limits_init(struct io_limits *limits, const struct disks *devices);
void io_limits_begin_step(struct io_limits *limits);

// A write that a limit holds back does not appear in the counters of its device, so each of the given writers counts as
// one more write of block_bytes.
void io_limits_end_step(struct io_limits *limits, uint32_t writers, uint64_t block_bytes);
