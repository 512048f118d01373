// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "host/device_lock.h"

#include "base/clock.h"
#include "host/procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char prefix[] = "mqops-logdisk/";

// Copies up to the end character, which must come, and returns what is behind it; NULL if it does not fit.
static const char *take_part(const char *text, const char *end, char *part, size_t part_bytes) {
    size_t length = text != NULL ? strcspn(text, end) : 0;
    if (text == NULL || text[length] == '\0' || length >= part_bytes) {
        return NULL;
    }
    memcpy(part, text, length);
    part[length] = '\0';
    return text + length + 1;
}

bool parse_lock_name(const char *line, struct lock_name *name) {
    char disk[24];
    struct lock_name found = {0};
    const char *at = strstr(line, " @");
    if (at == NULL || strncmp(at + 2, prefix, sizeof prefix - 1) != 0) {
        return false;
    }
    at = take_part(at + 2 + sizeof prefix - 1, "/", disk, sizeof disk);
    at = take_part(at, "/", found.run_id, sizeof found.run_id);
    at = take_part(at, "\n", found.instance, sizeof found.instance);
    if (at == NULL || !parse_device_number(disk, &found.disk.major, &found.disk.minor) ||
        found.run_id[strspn(found.run_id, OPTIONS_RUN_ID_LETTERS)] != '\0' || found.instance[strspn(found.instance, OPTIONS_RUN_ID_LETTERS)] != '\0') {
        return false;
    }
    *name = found;
    return true;
}

// The descriptor is never closed: it is the lock.
static int hold(struct block_number disk, const char *run_id, const char *instance) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s%" PRIu32 ":%" PRIu32 "/%s/%s", prefix,
                          disk.major, disk.minor, run_id, instance);
    if (length < 0 || (size_t)length >= sizeof address.sun_path - 1) {
        return ENAMETOOLONG;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    return fd >= 0 && bind(fd, (const struct sockaddr *)&address, address_bytes) == 0 ? 0 : errno;
}

static bool at_our_disks(const struct backing *backing, struct block_number disk) {
    for (uint32_t i = 0; i < backing->disks_count; i++) {
        if (backing->disks[i].major == disk.major && backing->disks[i].minor == disk.minor) {
            return true;
        }
    }
    return false;
}

static void add_other(struct device_lock *lock, const struct lock_name *name) {
    size_t used = strlen(lock->others);
    int pid_length = (int)strcspn(name->instance, ".");
    (void)snprintf(lock->others + used, sizeof lock->others - used, "%s%s%s, pid %.*s, at disk %" PRIu32 ":%" PRIu32,
                   used > 0 ? "; " : "", name->run_id[0] != '\0' ? "run " : "a run without an id", name->run_id,
                   pid_length, name->instance, name->disk.major, name->disk.minor);
}

static void look_for_others(struct device_lock *lock, const struct backing *backing, const char *run_id,
                            const char *instance) {
    FILE *file = fopen("/proc/net/unix", "re");
    char *line = NULL;
    size_t size = 0;
    if (file == NULL) {
        (void)snprintf(lock->problem, sizeof lock->problem, "/proc/net/unix cannot be read: %s", strerror(errno));
        return;
    }
    while (getline(&line, &size, file) > 0) {
        struct lock_name name;
        if (parse_lock_name(line, &name) && at_our_disks(backing, name.disk) && strcmp(name.instance, instance) != 0 &&
            (run_id[0] == '\0' || strcmp(name.run_id, run_id) != 0)) {
            add_other(lock, &name);
        }
    }
    free(line);
    (void)fclose(file);
}

void device_lock_take(struct device_lock *lock, const struct backing *backing, const char *run_id) {
    char instance[DEVICE_LOCK_INSTANCE_BYTES];
    *lock = (struct device_lock){0};
    // Pids alone may be alike in containers that share a network.
    (void)snprintf(instance, sizeof instance, "%d.%06" PRIx64, (int)getpid(), epoch_ns() >> 10 & 0xffffff);
    for (uint32_t i = 0; i < backing->disks_count; i++) {
        int error = hold(backing->disks[i], run_id, instance);
        if (error != 0) {
            (void)snprintf(lock->problem, sizeof lock->problem, "no socket can be bound: %s", strerror(error));
        }
    }
    look_for_others(lock, backing, run_id, instance);
}
