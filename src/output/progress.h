// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --progress=FILE: one line of key=value pairs, replaced atomically once a second. It is a convenience: a line that
// cannot be written is left out, and never stops or fails a run.
#ifndef LOGDISK_PROGRESS_H
#define LOGDISK_PROGRESS_H

#include "base/failure.h"
#include "figures/series.h"

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *path;                   // NULL: not asked for
    const char *state;                  // preparing waiting warmup measuring writing finished
    uint32_t step, steps;
    double percent;                     // of the planned time
    uint64_t elapsed_s, remaining_s;
    uint64_t block_bytes;
    uint32_t queue_managers;
    const struct series *writes;        // of the step so far; NULL: none
    bool error;
};

// False: refuses, before the test, a place where the file could not be put.
bool progress_check(const char *path, struct failure *failure);

// A thread of its own writes the file, which may lie on a disk that hangs. False where it cannot be made.
bool progress_start(const struct progress *progress);
// Hands the line over; one that has not been written yet is left out in its favour.
void progress_write(const struct progress *progress);
// The last line is written.
bool progress_idle(void);
// Ends the thread, which must be idle.
void progress_end(void);

#endif
