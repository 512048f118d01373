// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "identity.h"

#include "log_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define STACK_DEPTH_MAX 8
#define SYSFS_PATH_BYTES 4096

static void find_mount(struct identity *identity, int dir_fd) {
    char path[64], text[1024];
    uint32_t id;
    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", dir_fd);
    if (!read_text(path, text, sizeof text) || !parse_fdinfo_mount(text, &id)) {
        return;
    }
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t size = 0;
    while (file != NULL && getline(&line, &size, file) > 0) {
        struct mount mount;
        if (parse_mountinfo_line(line, &mount) && mount.id == id) {
            identity->mount = mount;
            break;
        }
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
}

// Some file systems (btrfs) have no device of their own in mountinfo; then the source tells.
static void find_device(struct identity *identity) {
    struct stat status;
    identity->major = identity->mount.major;
    identity->minor = identity->mount.minor;
    if (identity->major == 0 && strncmp(identity->mount.source, "/dev/", 5) == 0 &&
        stat(identity->mount.source, &status) == 0 && S_ISBLK(status.st_mode)) {
        identity->major = major(status.st_rdev);
        identity->minor = minor(status.st_rdev);
    }
}

static void read_fact(const char *directory, const char *name, char fact[IDENTITY_TEXT_BYTES]) {
    char path[SYSFS_PATH_BYTES + 64];
    fact[0] = '\0';
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!read_text(path, fact, IDENTITY_TEXT_BYTES)) {
        fact[0] = '\0';
    }
}

static bool has(const char *directory, const char *name) {
    char path[SYSFS_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

// disk is the whole disk's directory in sysfs.
static void read_device(struct device_facts *facts, const char *device, const char *disk) {
    char scheduler[IDENTITY_TEXT_BYTES];
    const char *slash = strrchr(device, '/');
    (void)snprintf(facts->name, sizeof facts->name, "%.150s", slash != NULL ? slash + 1 : device);
    read_fact(disk, "device/model", facts->model);
    read_fact(disk, "queue/scheduler", scheduler);
    parse_chosen(scheduler, facts->scheduler, sizeof facts->scheduler);
    read_fact(disk, "queue/write_cache", facts->write_cache);
    read_fact(disk, "queue/rotational", facts->rotational);
    read_fact(disk, "queue/nomerges", facts->nomerges);
    read_fact(disk, "queue/wbt_lat_usec", facts->wbt_lat_us);
    read_fact(disk, "queue/logical_block_size", facts->logical_block_bytes);
    read_fact(disk, "queue/physical_block_size", facts->physical_block_bytes);
}

// The directory of the whole disk: the parent where the device is a partition.
static void whole_disk(const char *device, char disk[SYSFS_PATH_BYTES]) {
    (void)snprintf(disk, SYSFS_PATH_BYTES, "%s", device);
    char *slash = strrchr(disk, '/');
    if (has(device, "partition") && slash != NULL) {
        *slash = '\0';
    }
}

static void append(char stack[IDENTITY_STACK_BYTES], const char *text) {
    size_t used = strlen(stack);
    (void)snprintf(stack + used, IDENTITY_STACK_BYTES - used, "%s", text);
}

static void append_name(struct identity *identity, const char *device) {
    char label[IDENTITY_TEXT_BYTES];
    const char *slash = strrchr(device, '/');
    append(identity->stack, slash != NULL ? slash + 1 : device);
    read_fact(device, "dm/name", label);
    if (label[0] != '\0') {
        append(identity->stack, " (");
        append(identity->stack, label);
        append(identity->stack, ")");
    }
}

// Follows what a device stands on: the disk of a partition, the slaves of a mapped device. The first device at the
// bottom is kept as the member.
static void walk_down(struct identity *identity, const char *device, int depth) {
    char disk[SYSFS_PATH_BYTES], slaves[SYSFS_PATH_BYTES + 16];
    append_name(identity, device);
    whole_disk(device, disk);
    if (strcmp(disk, device) != 0) {
        append(identity->stack, " > ");
        append_name(identity, disk);
    }
    (void)snprintf(slaves, sizeof slaves, "%s/slaves", disk);
    DIR *directory = depth < STACK_DEPTH_MAX ? opendir(slaves) : NULL;
    struct dirent *entry;
    int members = 0;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char link[SYSFS_PATH_BYTES + 300], below[SYSFS_PATH_BYTES];
        (void)snprintf(link, sizeof link, "%s/%s", slaves, entry->d_name);
        if (entry->d_name[0] == '.' || realpath(link, below) == NULL) {
            continue;
        }
        append(identity->stack, members++ == 0 ? " > " : " + ");
        walk_down(identity, below, depth + 1);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    if (members == 0 && depth > 0 && identity->member.name[0] == '\0') {
        read_device(&identity->member, disk, disk);
    }
}

void identity_gather(struct identity *identity, int dir_fd, int file_fd) {
    char link[64], device[SYSFS_PATH_BYTES], disk[SYSFS_PATH_BYTES], number[IDENTITY_TEXT_BYTES];
    *identity = (struct identity){0};
    (void)read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource", identity->clock_source,
                    sizeof identity->clock_source);
    identity->direct_io_alignment_bytes = file_fd >= 0 ? log_file_told_alignment(file_fd) : 0;
    find_mount(identity, dir_fd);
    find_device(identity);
    (void)snprintf(link, sizeof link, "/sys/dev/block/%u:%u", identity->major, identity->minor);
    if (identity->major == 0 || realpath(link, device) == NULL) {
        return;
    }
    whole_disk(device, disk);
    read_device(&identity->device, device, disk);
    read_fact(disk, "dev", number);
    if (!parse_device_number(number, &identity->disk_major, &identity->disk_minor)) {
        identity->disk_major = identity->major;
        identity->disk_minor = identity->minor;
    }
    walk_down(identity, device, 0);
}
