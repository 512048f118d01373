// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "progress.h"

#include "aside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const prefixes[] = {"state=", NULL};

bool progress_check(const char *path, struct failure *failure) {
    int error = aside_may_replace(path, prefixes);
    if (error == EEXIST) {
        return failure_set(failure, EXIT_REFUSED, "--progress=%s is there already and is no progress file of yours; name "
                           "another file", path);
    }
    struct aside aside;
    if (error == 0) {
        error = aside_open_path(&aside, path);
        if (error == 0) {
            aside_discard(&aside);
        }
    }
    if (error == EEXIST) {
        char name[PATH_MAX + 8];
        aside_path(path, name);
        return failure_set(failure, EXIT_REFUSED, "--progress=%s: %s is there already, of a run that was killed or still "
                           "goes on; remove it, or name another file", path, name);
    }
    if (error != 0) {
        return failure_set(failure, EXIT_REFUSED, "--progress=%s cannot be written: %s", path, strerror(error));
    }
    return true;
}

void progress_write(const struct progress *progress) {
    struct aside aside;
    bool taken;
    if (progress->path == NULL || aside_open_over(&aside, progress->path, prefixes, &taken) != 0) {
        return;
    }
    (void)fprintf(aside.file, "state=%s step=%" PRIu32 " steps=%" PRIu32 " percent=%.1f elapsed_s=%" PRIu64
                  " remaining_s=%" PRIu64 " block_size_bytes=%" PRIu64 " queue_managers=%" PRIu32, progress->state,
                  progress->step, progress->steps, progress->percent, progress->elapsed_s, progress->remaining_s,
                  progress->block_bytes, progress->queue_managers);
    if (progress->writes != NULL) {
        const struct statistics *figures = &progress->writes->statistics;
        uint64_t p99_ns;
        (void)fprintf(aside.file, " writes=%" PRIu64, figures->count);
        if (series_percentile_ns(progress->writes, 990000, &p99_ns)) {
            (void)fprintf(aside.file, " latency_p99_ns=%" PRIu64, p99_ns);
        }
        if (figures->count > 0) {
            (void)fprintf(aside.file, " latency_max_ns=%" PRIu64, figures->max_ns);
        }
    } else {
        (void)fprintf(aside.file, " writes=0");
    }
    (void)fprintf(aside.file, " error=%d\n", progress->error);
    (void)aside_commit_quickly(&aside);
}
