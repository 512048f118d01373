// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --progress=FILE: one line of key=value pairs, replaced atomically once per second. It is a convenience: a line that
// cannot be written is left out, and never stops or fails a run.
#ifndef LOGDISK_PROGRESS_H
#define LOGDISK_PROGRESS_H

#include "base/failure.h"
#include "base/job.h"
#include "base/text.h"
#include "figures/distribution.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct progress {
    const char *path;                   // NULL: not asked for
    const char *state;                  // preparing waiting warmup measuring verifying finished
    uint32_t step, steps;
    double percent;                     // of the planned time
    uint64_t elapsed_s, remaining_s;
    uint64_t block_bytes;
    uint32_t queue_managers;
    const struct distribution *writes;        // of the step so far; NULL: none
    bool error;
    // Set by progress_open:
    char path_aside[PATH_MAX + 8];      // the name under which the file is written before it is renamed
    mode_t mode;                        // of the file that exists; 0: none does
    dev_t device;                       // of the file system that it is on; 0: not asked for
    atomic_bool busy;                   // the thread that writes files has the line
    struct text line;
};

// Refuses, before the test, a place that already holds something other than a progress file of this user, or where the
// file cannot be created.
bool progress_open(struct progress *progress, const char *path, struct failure *failure);

// Hands the line to the thread that writes files; leaves it out if that still has an earlier one.
void progress_write(struct progress *progress, struct job_thread *files);

#endif
