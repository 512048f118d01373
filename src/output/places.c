// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/places.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS 0x01021994         // statfs(2)'s TMPFS_MAGIC

static bool under_test(const struct workspace *workspace, dev_t device) {
    for (uint32_t i = 0; i < workspace->places; i++) {
        const struct directory *directory = &workspace->directories[i];
        struct statfs system;
        if (directory->device == device && fstatfs(directory->fd, &system) == 0 && system.f_type != TMPFS) {
            return true;
        }
    }
    return false;
}

// Of the file system that a regular file or a directory is on; 0: it is neither.
static dev_t device_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) ? status.st_dev : 0;
}

static bool add(struct places *places, const struct workspace *workspace, const char *name, dev_t device) {
    size_t length = strlen(places->names);
    bool is_under_test = device != 0 && under_test(workspace, device);
    if (is_under_test) {
        (void)snprintf(places->names + length, sizeof places->names - length, "%s%s", length > 0 ? ", " : "", name);
    }
    return is_under_test;
}

void places_find(struct places *places, int tables_fd, int csv_fd, dev_t progress, const struct workspace *workspace) {
    (void)add(places, workspace, "--tables", device_of(tables_fd));
    (void)add(places, workspace, "--csvFile", device_of(csv_fd));
    places->progress = add(places, workspace, "--progress", progress);
    places->console = add(places, workspace, "standard output", device_of(STDOUT_FILENO));
    places->console |= add(places, workspace, "standard error", device_of(STDERR_FILENO));
}
