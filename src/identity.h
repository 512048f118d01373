// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What was tested: the mount, the file system, the block device and what it stands on, as the kernel tells it. What
// the kernel does not tell stays empty; nothing is guessed.
#ifndef LOGDISK_IDENTITY_H
#define LOGDISK_IDENTITY_H

#include "procfs.h"

#include <stdbool.h>
#include <stdint.h>

#define IDENTITY_TEXT_BYTES 160
#define IDENTITY_STACK_BYTES 1024

struct device_facts {
    char name[IDENTITY_TEXT_BYTES], model[IDENTITY_TEXT_BYTES], scheduler[IDENTITY_TEXT_BYTES];
    char write_cache[IDENTITY_TEXT_BYTES], rotational[IDENTITY_TEXT_BYTES], nomerges[IDENTITY_TEXT_BYTES];
    char wbt_lat_us[IDENTITY_TEXT_BYTES], logical_block_bytes[IDENTITY_TEXT_BYTES];
    char physical_block_bytes[IDENTITY_TEXT_BYTES];
};

struct identity {
    struct mount mount;                 // id 0: not found
    uint32_t major, minor;              // of the block device; major 0: none
    uint32_t disk_major, disk_minor;    // of the whole disk where the device is a partition, else the same
    struct device_facts device;         // what is written to; queue facts of the whole disk
    struct device_facts member;         // the first device at the bottom of a stack; name empty: there is no stack
    char stack[IDENTITY_STACK_BYTES];   // from the device downwards: dm-1 (log) > dm-0 (mpatha) > sda + sdb
    char clock_source[IDENTITY_TEXT_BYTES];
    uint32_t direct_io_alignment_bytes; // 0: the kernel does not say
};

// dir_fd and file_fd are open on the file system under test (file_fd may be -1).
void identity_gather(struct identity *identity, int dir_fd, int file_fd);

#endif
