// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What was tested: the mount, the file system, the block device and what it stands on, as the kernel tells it. What
// the kernel does not tell stays empty; nothing is guessed.
#ifndef LOGDISK_DEVICE_H
#define LOGDISK_DEVICE_H

#include "host/block_device.h"
#include "host/procfs.h"

#include <stdbool.h>
#include <stdint.h>

#define IDENTITY_TEXT_BYTES BLOCK_FACT_BYTES

struct device_facts {
    char name[IDENTITY_TEXT_BYTES], model[IDENTITY_TEXT_BYTES], scheduler[IDENTITY_TEXT_BYTES];
    char write_cache[IDENTITY_TEXT_BYTES], rotational[IDENTITY_TEXT_BYTES], nomerges[IDENTITY_TEXT_BYTES];
    char wbt_lat_us[IDENTITY_TEXT_BYTES], logical_block_bytes[IDENTITY_TEXT_BYTES];
    char physical_block_bytes[IDENTITY_TEXT_BYTES];
};

struct identity {
    struct mount mount;                 // id 0: not found
    // Of the file system that holds what is written: behind an overlay, that of its upper directory.
    struct block_number number;         // of the block device; major 0: none
    struct block_number disk;           // of the whole disk if the device is a partition, else the same
    struct device_facts device;         // what is written to; queue facts of the whole disk
    struct device_facts member;         // the first device at the bottom of a stack; name empty: there is no stack
    struct block_stack stack;
    char clock_source[IDENTITY_TEXT_BYTES];
};

// dir_fd is open on the file system under test.
void identity_gather(struct identity *identity, int dir_fd);

#endif
