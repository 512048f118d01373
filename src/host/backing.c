// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "host/backing.h"

#include "host/mounts.h"
#include "base/units.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DEPTH_MAX 8                     // loop devices on files on loop devices ...

static void look(struct backing *backing, int fd, int depth);

static bool is_memory(const char *type) {
    static const char *const types[] = {"memory", "tmpfs", "ramfs", "rootfs", "devtmpfs"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(type, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void add_type(struct backing *backing, const char *type) {
    if (backing->type[0] == '\0' || (is_memory(type) && !is_memory(backing->type))) {
        (void)snprintf(backing->type, sizeof backing->type, "%s", type);
    }
}

static void add_disk(struct backing *backing, struct block_number disk) {
    for (uint32_t i = 0; i < backing->disks_count; i++) {
        if (backing->disks[i].major == disk.major && backing->disks[i].minor == disk.minor) {
            return;
        }
    }
    if (backing->disks_count < BACKING_DISKS_MAX) {
        backing->disks[backing->disks_count++] = disk;
    }
}

// The number that tells a file system without a block device from others.
static void add_file_system(struct backing *backing, int fd) {
    struct stat status;
    if (fstat(fd, &status) == 0) {
        add_disk(backing, (struct block_number){major(status.st_dev), minor(status.st_dev)});
    }
}

static void add_unknown(struct backing *backing, const char *what) {
    if (backing->unknown == NULL) {
        backing->unknown = what;
    }
}

static uint64_t number_fact(const char *directory, const char *name) {
    char text[BLOCK_FACT_BYTES];
    uint64_t value = 0;
    block_fact(directory, name, text, sizeof text);
    return parse_integer(text, &value) ? value : 0;
}

// The path is one of the namespace that set the loop device up: it is believed only if a file of the device's size lies there.
static int open_backing_file(const char *loop) {
    char path[PATH_MAX];
    struct stat status;
    block_fact(loop, "loop/backing_file", path, sizeof path);
    int fd = path[0] == '/' ? open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0) {
        return -1;
    }
    uint64_t offset = number_fact(loop, "loop/offset"), limit = number_fact(loop, "loop/sizelimit");
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size >= offset;
    uint64_t bytes = regular ? (uint64_t)status.st_size - offset : 0;
    bytes = limit > 0 && limit < bytes ? limit : bytes;
    if (!regular || bytes / 512 != number_fact(loop, "size")) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

// number is a whole disk at the bottom of a stack; type that of the file system above.
static void add_bottom(struct backing *backing, struct block_number number, const char *type, int depth) {
    char disk[BLOCK_PATH_BYTES];
    const char *name = block_directory(number, disk) ? block_name(disk) : "";
    if (strncmp(name, "loop", 4) == 0) {
        int file = depth < DEPTH_MAX ? open_backing_file(disk) : -1;
        if (file >= 0) {
            look(backing, file, depth + 1);
            (void)close(file);
            return;
        }
        add_unknown(backing, "the file behind a loop device");
    }
    bool memory = strncmp(name, "ram", 3) == 0 || strncmp(name, "zram", 4) == 0 || strncmp(name, "nullb", 5) == 0;
    add_type(backing, memory ? "memory" : type);
    add_disk(backing, number);
}

static void look(struct backing *backing, int fd, int depth) {
    static const char fuse[] = "fuse";
    struct mount mount;
    struct block_number number;
    struct block_stack stack;
    char device[BLOCK_PATH_BYTES];
    if (!mount_behind_overlay(fd, &mount)) {
        add_unknown(backing, mount.id == 0 ? "the mount" : "the upper directory of an overlay");
        add_file_system(backing, fd);
        return;
    }
    if (strncmp(mount.type, fuse, sizeof fuse - 1) == 0) {
        add_unknown(backing, "what a FUSE file system stands on");
    }
    if (!mount_device(&mount, &number.major, &number.minor)) {
        add_type(backing, mount.type);
        add_file_system(backing, fd);
        return;
    }
    if (!block_directory(number, device)) {
        add_unknown(backing, "the block device");
        add_type(backing, mount.type);
        add_disk(backing, number);
        return;
    }
    block_walk(&stack, device);
    for (uint32_t i = 0; i < stack.bottoms_count; i++) {
        add_bottom(backing, stack.bottoms[i], mount.type, depth);
    }
}

void backing_add(struct backing *backing, int fd) {
    look(backing, fd, 0);
}
