// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --progress=FILE: one line of key=value pairs, replaced atomically once per second. It is optional: a line that
// cannot be written is left out, and never stops or fails a run.
#pragma once

#include "base/failure.h"
#include "base/supervisor.h"
#include "base/text.h"

#include <sys/types.h>

struct progress {
    const char *path;                   // NULL: not requested
    char path_aside[PATH_MAX + 8];      // under which it is written before it is renamed
    mode_t mode;                        // of the file that exists; 0: none does
    dev_t device;                       // of the file system that it is on; 0: not requested
    atomic_bool busy;                   // the thread that writes files has the line
    struct text line;
};

// Refuses, before the test, a name that belongs to something other than a progress file of this user, and a directory
// in which the file cannot be created.
bool progress_open(struct progress *progress, const char *path, struct failure *failure);

// The line to fill; NULL if it is to be left out: not requested, or an earlier one is still being written.
struct text *progress_line(struct progress *progress);
// Hands it to the thread that writes files.
void progress_write(struct progress *progress, struct job_thread *files);
