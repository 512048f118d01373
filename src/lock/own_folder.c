// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/own_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK_TEXT "{\"kind\": \"mqops.logdisk\"}\n"

static int write_mark(const char *mark) {
    int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno;
    }
    ssize_t written = write(fd, MARK_TEXT, strlen(MARK_TEXT));
    int error = written < 0 ? errno : written < (ssize_t)strlen(MARK_TEXT) ? ENOSPC : 0;
    error = error == 0 && fsync(fd) != 0 ? errno : error;
    return close(fd) != 0 && error == 0 ? errno : error;
}

int own_folder_make(const char *path) {
    char aside[PATH_MAX], mark[PATH_MAX + 32];
    struct stat status;
    if (lstat(path, &status) == 0) {
        return 0;                               // the keeper checks whether it has the mark
    }
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    if (length + sizeof ".XXXXXX" > sizeof aside) {
        return ENAMETOOLONG;
    }
    (void)snprintf(aside, sizeof aside, "%.*s.XXXXXX", (int)length, path);
    if (mkdtemp(aside) == NULL) {
        return errno;
    }
    (void)snprintf(mark, sizeof mark, "%s/.mqops-logdisk.json", aside);
    int error = write_mark(mark);
    if (error == 0 && rename(aside, path) == 0) {
        return 0;
    }
    bool is_there = error == 0 && (errno == EEXIST || errno == ENOTEMPTY);
    error = error == 0 ? errno : error;
    (void)unlink(mark);
    (void)rmdir(aside);
    return is_there ? 0 : error;                // another machine was faster
}
