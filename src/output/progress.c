// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "state="
#define OPEN_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

// 0 if nothing exists at the path, or a regular file of this user that is empty or begins as ours do; EEXIST if it is
// anything else.
static int look_at_existing(struct progress *progress) {
    struct stat status;
    char start[sizeof PREFIX] = "";
    if (lstat(progress->path, &status) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    int fd = S_ISREG(status.st_mode) && status.st_uid == geteuid() ? open(progress->path, O_RDONLY | OPEN_FLAGS) : -1;
    ssize_t length = fd >= 0 ? read(fd, start, sizeof PREFIX - 1) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    progress->mode = status.st_mode & 0777;
    return length < 0 || (length > 0 && strcmp(start, PREFIX) != 0) ? EEXIST : 0;
}

static int open_aside(const struct progress *progress) {
    return open(progress->path_aside, O_WRONLY | O_CREAT | O_EXCL | OPEN_FLAGS, 0644);
}

bool progress_open(struct progress *progress, const char *path, struct failure *failure) {
    struct stat status;
    if (path == NULL) {
        return true;
    }
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    (void)snprintf(progress->path_aside, sizeof progress->path_aside, "%.*s.%s.tmp", (int)(name - path), path, name);
    progress->path = path;
    int error = look_at_existing(progress);
    if (error == EEXIST) {
        return failure_set(failure, EXIT_REFUSED, "--progress=%s already exists and is not a progress file of yours; name "
                           "another file", path);
    }
    int fd = error == 0 ? open_aside(progress) : -1;
    error = fd < 0 && error == 0 ? errno : error;
    if (error == EEXIST) {
        return failure_set(failure, EXIT_REFUSED, "--progress=%s: %s already exists, from a run that was killed or is still "
                           "going on; remove it, or name another file", path, progress->path_aside);
    }
    if (error != 0) {
        return failure_set(failure, EXIT_REFUSED, "--progress=%s cannot be written: %s", path, strerror(error));
    }
    progress->device = fstat(fd, &status) == 0 ? status.st_dev : 0;
    (void)close(fd);
    (void)unlink(progress->path_aside);
    return true;
}

static void replace_file(void *argument) {
    struct progress *progress = argument;
    int fd = open_aside(progress);
    if (fd >= 0) {
        bool good = text_write(&progress->line, fd) == 0 && (progress->mode == 0 || fchmod(fd, progress->mode) == 0);
        (void)close(fd);
        // A file of another origin may have appeared under the name.
        if (!good || look_at_existing(progress) != 0 || rename(progress->path_aside, progress->path) != 0) {
            (void)unlink(progress->path_aside);
        }
    }
    atomic_store(&progress->busy, false);
}

static void add_writes(struct text *line, const struct distribution *writes) {
    uint64_t p99_ns;
    text_printf(line, " writes=%" PRIu64, writes != NULL ? writes->count : 0);
    if (writes != NULL && distribution_percentile_ns(writes, BY_COUNT, 990000, &p99_ns)) {
        text_printf(line, " latency_p99_ns=%" PRIu64, p99_ns);
    }
    if (writes != NULL && writes->count > 0) {
        text_printf(line, " latency_max_ns=%" PRIu64, writes->max_ns);
    }
}

void progress_write(struct progress *progress, struct job_thread *files) {
    if (progress->path == NULL || atomic_load(&progress->busy)) {
        return;
    }
    struct text *line = &progress->line;
    text_cut(line, 0);
    text_printf(line, "state=%s step=%" PRIu32 " steps=%" PRIu32 " percent=%.1f elapsed_s=%" PRIu64 " remaining_s=%" PRIu64
                " block_size_bytes=%" PRIu64 " queue_managers=%" PRIu32, progress->state, progress->step, progress->steps,
                progress->percent, progress->elapsed_s, progress->remaining_s, progress->block_bytes,
                progress->queue_managers);
    add_writes(line, progress->writes);
    text_printf(line, " error=%d\n", progress->error);
    atomic_store(&progress->busy, true);
    if (!job_thread_add(files, replace_file, progress)) {
        atomic_store(&progress->busy, false);
    }
}
