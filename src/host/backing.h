// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What holds the bytes in the end: memory hides behind overlays and loop devices, and shared disks behind anything.
#ifndef LOGDISK_BACKING_H
#define LOGDISK_BACKING_H

#include "host/block_device.h"

#include <stdint.h>

#define BACKING_DISKS_MAX BLOCK_BOTTOMS_MAX

struct backing {
    char type[64];              // of the file system at the bottom, or "memory" of a disk that is; memory comes before others
    const char *unknown;        // what could not be seen; NULL: everything was
    // Whole disks, as major:minor, or the st_dev of a file system without a block device; any more are left out.
    struct block_number disks[BACKING_DISKS_MAX];
    uint32_t disks_count;
};

// Adds what the file system of that open file or directory stands on.
void backing_add(struct backing *backing, int fd);

#endif
