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
        struct stat status;
        struct statfs system;
        int fd = workspace->directories[i].fd;
        if (fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == device && fstatfs(fd, &system) == 0 &&
            system.f_type != TMPFS) {
            return true;
        }
    }
    return false;
}

static bool file_under_test(const struct workspace *workspace, int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && under_test(workspace, status.st_dev);
}

static void add(struct places *places, bool shared, const char *name) {
    size_t length = strlen(places->names);
    if (shared) {
        (void)snprintf(places->names + length, sizeof places->names - length, "%s%s", length > 0 ? ", " : "", name);
    }
}

void places_find(struct places *places, const struct tables *tables, const struct progress *progress, int csv_fd,
                 const struct workspace *workspace) {
    struct stat status;
    bool in_tables = tables->path != NULL && fstat(tables->dir_fd, &status) == 0 && under_test(workspace, status.st_dev);
    bool screen = file_under_test(workspace, STDOUT_FILENO), complaints = file_under_test(workspace, STDERR_FILENO);
    add(places, in_tables, "--tables");
    add(places, csv_fd >= 0 && file_under_test(workspace, csv_fd), "--csvFile");
    places->progress = progress->path != NULL && under_test(workspace, progress->device);
    add(places, places->progress, "--progress");
    add(places, screen, "standard output");
    add(places, complaints, "standard error");
    places->console = screen || complaints;
}
