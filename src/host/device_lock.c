// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/device.h"

#include "base/clock.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PREFIX "mqops-logdisk/"
#define LETTERS "[" OPTIONS_RUN_ID_LETTERS "]"

bool parse_lock_name(const char *line, struct lock_name *name) {
    const char *at = strstr(line, " @" PREFIX);
    *name = (struct lock_name){0};
    return at != NULL && sscanf(at, " @" PREFIX "%" SCNu32 ":%" SCNu32 "/%23" LETTERS "/%64" LETTERS, &name->disk.major,
                                &name->disk.minor, name->instance, name->run_id) >= 3;
}

// The descriptor is never closed: it is the lock.
static int hold(struct block_number disk, const char *run_id, const char *instance) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, PREFIX "%" PRIu32 ":%" PRIu32 "/%s/%s",
                          disk.major, disk.minor, instance, run_id);
    if (length < 0 || (size_t)length >= sizeof address.sun_path - 1) {
        return ENAMETOOLONG;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    return fd >= 0 && bind(fd, (const struct sockaddr *)&address, address_bytes) == 0 ? 0 : errno;
}

static void add_other(struct device_lock *lock, const struct lock_name *name) {
    size_t used = strlen(lock->others);
    int pid_length = (int)strcspn(name->instance, ".");
    (void)snprintf(lock->others + used, sizeof lock->others - used, "%s%s%s, pid %.*s, at disk %" PRIu32 ":%" PRIu32,
                   used > 0 ? "; " : "", name->run_id[0] != '\0' ? "run " : "a run without an id", name->run_id,
                   pid_length, name->instance, name->disk.major, name->disk.minor);
}

static void look_for_others(struct device_lock *lock, const struct disks *disks, const char *run_id,
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
        if (parse_lock_name(line, &name) && disks_contain(disks, name.disk) && strcmp(name.instance, instance) != 0 &&
            (run_id[0] == '\0' || strcmp(name.run_id, run_id) != 0)) {
            add_other(lock, &name);
        }
    }
    free(line);
    (void)fclose(file);
}

void device_lock_take(struct device_lock *lock, const struct disks *disks, const char *run_id) {
    char instance[INSTANCE_BYTES];
    *lock = (struct device_lock){0};
    // Processes in containers that share a network may have equal pids.
    (void)snprintf(instance, sizeof instance, "%d.%06" PRIx64, (int)getpid(), epoch_ns() >> 10 & 0xffffff);
    for (uint32_t i = 0; i < disks->count; i++) {
        int error = hold(disks->numbers[i], run_id, instance);
        if (error != 0) {
            (void)snprintf(lock->problem, sizeof lock->problem, "no socket can be bound: %s", strerror(error));
        }
    }
    look_for_others(lock, disks, run_id, instance);
}
