// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/places.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS 0x01021994         // statfs(2)'s TMPFS_MAGIC

static bool under_test(const struct workspace *workspace, dev_t device) {
    for (uint32_t i = 0; i < workspace->queue_managers; i++) {
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

// Of the directory in which the file is, or is to be.
static bool path_under_test(const struct workspace *workspace, const char *path) {
    char dir[PATH_MAX];
    struct stat status;
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    int length = slash == NULL ? snprintf(dir, sizeof dir, ".")
                               : snprintf(dir, sizeof dir, "%.*s/", (int)(slash - path), path);
    return path != NULL && length > 0 && (size_t)length < sizeof dir && stat(dir, &status) == 0 &&
           under_test(workspace, status.st_dev);
}

static bool file_under_test(const struct workspace *workspace, int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && under_test(workspace, status.st_dev);
}

static void add(char names[PLACES_BYTES], bool shared, const char *name) {
    size_t length = strlen(names);
    if (shared) {
        (void)snprintf(names + length, PLACES_BYTES - length, "%s%s", length > 0 ? ", " : "", name);
    }
}

void places_shared(const struct options *options, const struct tables *tables, int csv_fd,
                   const struct workspace *workspace, char names[PLACES_BYTES]) {
    struct stat status;
    names[0] = '\0';
    add(names, tables->open && fstat(tables->dir_fd, &status) == 0 && under_test(workspace, status.st_dev), "--tables");
    add(names, csv_fd >= 0 && file_under_test(workspace, csv_fd), "--csvFile");
    add(names, path_under_test(workspace, options->progress_file), "--progress");
    add(names, file_under_test(workspace, STDOUT_FILENO), "standard output");
    add(names, file_under_test(workspace, STDERR_FILENO), "standard error");
}
