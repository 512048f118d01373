// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Block devices as sysfs shows them: a partition stands on its disk, a mapped device on its slaves.
#ifndef LOGDISK_BLOCK_DEVICE_H
#define LOGDISK_BLOCK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_PATH_BYTES 4096
#define BLOCK_FACT_BYTES 160
#define BLOCK_STACK_BYTES 1024
#define BLOCK_BOTTOMS_MAX 32

struct block_number {
    uint32_t major, minor;
};

struct block_stack {
    char text[BLOCK_STACK_BYTES];       // from the device downwards: dm-1 (log) > dm-0 (mpatha) > sda + sdb
    struct block_number bottoms[BLOCK_BOTTOMS_MAX];     // the whole disks that everything stands on; any more are left out
    uint32_t bottoms_count;
};

// The device's directory in sysfs; false where there is none.
bool block_directory(struct block_number number, char device[BLOCK_PATH_BYTES]);
// The directory of the whole disk: the parent if the device is a partition.
void block_disk(const char *device, char disk[BLOCK_PATH_BYTES]);
struct block_number block_number_of(const char *device);       // major 0: unknown
const char *block_name(const char *device);
// A file below the directory; empty where there is none.
void block_fact(const char *directory, const char *name, char *fact, size_t fact_bytes);
// Everything that the device in that directory stands on.
void block_walk(struct block_stack *stack, const char *device);

#endif
