// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "host/device.h"

#include "host/mounts.h"

#include <stdio.h>
#include <string.h>

// disk is the whole disk's directory in sysfs.
static void read_device(struct device_facts *facts, const char *device, const char *disk) {
    char scheduler[IDENTITY_TEXT_BYTES];
    (void)snprintf(facts->name, sizeof facts->name, "%.150s", block_name(device));
    block_fact(disk, "device/model", facts->model, IDENTITY_TEXT_BYTES);
    block_fact(disk, "queue/scheduler", scheduler, IDENTITY_TEXT_BYTES);
    parse_chosen(scheduler, facts->scheduler, sizeof facts->scheduler);
    block_fact(disk, "queue/write_cache", facts->write_cache, IDENTITY_TEXT_BYTES);
    block_fact(disk, "queue/rotational", facts->rotational, IDENTITY_TEXT_BYTES);
    block_fact(disk, "queue/nomerges", facts->nomerges, IDENTITY_TEXT_BYTES);
    block_fact(disk, "queue/wbt_lat_usec", facts->wbt_lat_us, IDENTITY_TEXT_BYTES);
    block_fact(disk, "queue/logical_block_size", facts->logical_block_bytes, IDENTITY_TEXT_BYTES);
    block_fact(disk, "queue/physical_block_size", facts->physical_block_bytes, IDENTITY_TEXT_BYTES);
}

void identity_gather(struct identity *identity, int dir_fd) {
    char device[BLOCK_PATH_BYTES], disk[BLOCK_PATH_BYTES], member[BLOCK_PATH_BYTES];
    struct mount holder;
    *identity = (struct identity){0};
    (void)read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource", identity->clock_source,
                    sizeof identity->clock_source);
    (void)mount_of(dir_fd, &identity->mount);
    if (!mount_behind_overlay(dir_fd, &holder) || !mount_device(&holder, &identity->number.major, &identity->number.minor) ||
        !block_directory(identity->number, device)) {
        return;
    }
    block_disk(device, disk);
    read_device(&identity->device, device, disk);
    identity->disk = block_number_of(disk);
    if (identity->disk.major == 0) {
        identity->disk = identity->number;
    }
    block_walk(&identity->stack, device);
    if (identity->stack.bottoms_count > 0 && block_directory(identity->stack.bottoms[0], member) && strcmp(member, disk) != 0) {
        read_device(&identity->member, member, member);
    }
}
