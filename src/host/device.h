// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Describes the storage under test, as /proc and sysfs show it: the mount, the file system, the block device, and the
// devices below it, because overlays and loop devices may be backed by memory, and any device by shared disks. Values
// that the kernel does not show are empty.
#pragma once

#include "base/options.h"
#include "host/procfs.h"

#define FACT_BYTES 160
#define DISKS_MAX 32                    // further disks are ignored

struct block_number {
    uint32_t major, minor;              // major 0 if there is none
};

// Files of a device in sysfs, and the names of their facts in run.csv.
#define DEVICE_FACTS 9
extern const struct device_fact {
    const char *file, *name, *unit;
} device_facts[DEVICE_FACTS];

struct device {
    char name[FACT_BYTES];              // empty: none
    char facts[DEVICE_FACTS][FACT_BYTES];
};

struct disks {
    uint32_t count;
    struct block_number numbers[DISKS_MAX];
};

struct block_stack {
    char text[1024];                    // from the device down to its disks: dm-1 (log) > dm-0 (mpatha) > sda + sdb
    struct disks tops;                  // the whole disks of the devices of the file system: the top of the stack
    struct disks bottoms;               // the whole disks below these devices
    struct disks levels;                // these disks, and the devices above them, without partitions
};

struct identity {
    struct mount mount;
    // All members describe the file system that holds the written data. For an overlay, this is the file system of its
    // upper directory.
    struct block_number number;         // number of the block device
    struct device device;               // the device that is written to; its facts are those of the whole disk
    struct device member;               // the first device at the bottom of a stack
    struct block_stack stack;
    char clock_source[FACT_BYTES];
};

// fd is open on the file system under test, or is the device itself.
void identity_gather(struct identity *identity, int fd);

struct backing {
    // The type of the file system at the bottom, "none" for a device without one, or "memory" for a disk in memory;
    // memory takes precedence.
    char type[64];
    const char *unknown;        // what could not be seen; NULL if everything was
    struct disks disks;         // whole disks, or the number of a file system without a block device
    struct disks levels;        // every block device that the data pass, without partitions
};

// Adds the disks below the file system of an open file or directory, or below an open device.
void backing_add(struct backing *backing, int fd);

bool disks_contain(const struct disks *disks, struct block_number disk);

// Returns the block device of a file system.
struct block_number device_of_mount(const struct mount *mount);

// The selected word in "none [mq-deadline] kyber"; the text itself if nothing is bracketed.
void parse_chosen(const char *text, char *chosen, size_t size);

// device_use.c.

// Returns whether the text is the kernel's name for the device, such as sda.
bool device_has_name(struct block_number number, const char *name);

struct device_use {
    char what[MOUNT_FIELD_BYTES + 64];  // such as "is mounted at /data"
    const char *next;                   // what to do about it
};

// Looks for reasons not to overwrite a device, as far as the kernel shows them. Returns false if there are none.
bool device_find_use(struct block_number number, struct device_use *use);

// device_lock.c.

// Two testers on one disk would measure each other's load. For every disk under its directories, each tester holds an
// abstract socket with the name mqops-logdisk/<major:minor>/<pid>.<instant>/<run id>, and looks for the sockets of
// other runs. This does not need root, and the kernel releases the socket with the process, however that ends. The lock
// works within a network namespace: it does not see another container or another host with the same disk.

#define INSTANCE_BYTES 24

struct device_lock {
    char others[512];           // testers of other runs that use these disks, as text; empty if there are none
    char problem[128];          // why other testers may not have been found; empty: the search was complete
};

// The parts of such a socket's name.
struct lock_name {
    struct block_number disk;
    char run_id[OPTIONS_RUN_ID_MAX + 1];                // empty if the run has no ID
    char instance[INSTANCE_BYTES];                      // pid.instant
};

// Parses a line of /proc/net/unix; false if it does not describe a tester's socket. The extracted values are printable.
bool parse_lock_name(const char *line, struct lock_name *name);

// Takes the lock and sets the members above. Two testers that do this within milliseconds of each other may both be
// refused.
void device_lock_take(struct device_lock *lock, const struct disks *disks, const char *run_id);
