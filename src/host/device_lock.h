// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two testers at one disk would measure each other. Each holds, for every disk under its directories, an abstract socket that
// is named mqops-logdisk/<major:minor>/<pid>.<instant>/<run id>, and looks for those of other runs. It needs no root, and
// the kernel lets go of it with the process, whatever ends that. It reaches as far as the network namespace: neither
// another container nor another host that has the disk.
#pragma once

#include "base/options.h"
#include "host/device.h"

#define INSTANCE_BYTES 24

struct device_lock {
    char others[512];           // testers of other runs at these disks, for people; empty: none
    char problem[128];          // why others may not have been found; empty: they were
};

// What the name of such a socket says.
struct lock_name {
    struct block_number disk;
    char run_id[OPTIONS_RUN_ID_MAX + 1];                // empty: a run of its own
    char instance[INSTANCE_BYTES];                      // pid.instant
};

// One line of /proc/net/unix; false if it is not that of a tester's socket. Whatever is taken from it can be printed.
bool parse_lock_name(const char *line, struct lock_name *name);

// Takes the lock and fills the record. Two that do so within milliseconds may find each other, and both refuse.
void device_lock_take(struct device_lock *lock, const struct disks *disks, const char *run_id);
