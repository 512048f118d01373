// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/progress.h"

#include "host/procfs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "state="
#define OPEN_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

// Returns 0 if nothing exists at the path, or if it is a regular file of this user that is empty or begins like a
// progress file. Otherwise, returns EEXIST.
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
    if (path == NULL) {
        return true;
    }
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    (void)snprintf(progress->path_aside, sizeof progress->path_aside, "%.*s.%s.tmp", (int)(name - path), path, name);
    progress->path = path;
    int error = look_at_existing(progress);
    if (error == EEXIST) {
        return failure_set(failure, EXIT_REFUSED,
                           "--progress=%s already exists and is not a progress file of yours; name another file", path);
    }
    int fd = error == 0 ? open_aside(progress) : -1;
    error = fd < 0 && error == 0 ? errno : error;
    if (error == EEXIST) {
        return failure_set(failure, EXIT_REFUSED,
                           "--progress=%s: %s already exists, from a run that was killed or is still running; remove "
                           "it, or name another file",
                           path, progress->path_aside);
    }
    if (error != 0) {
        return failure_set(failure, EXIT_REFUSED, "--progress=%s cannot be written: %s", path, strerror(error));
    }
    progress->file_system = file_system_of(fd);
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
        // Another program may have created a file with this name.
        if (!good || look_at_existing(progress) != 0 || rename(progress->path_aside, progress->path) != 0) {
            (void)unlink(progress->path_aside);
        }
    }
    atomic_store(&progress->busy, false);
}

struct text *progress_line(struct progress *progress) {
    if (progress->path == NULL || atomic_load(&progress->busy)) {
        return NULL;
    }
    text_cut(&progress->line, 0);
    return &progress->line;
}

void progress_write(struct progress *progress, struct job_thread *files) {
    atomic_store(&progress->busy, true);
    if (!job_thread_add(files, replace_file, progress)) {
        atomic_store(&progress->busy, false);
    }
}
