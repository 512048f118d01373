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
    char path_aside[PATH_MAX + 8];      // the name under which it is written before it is renamed
    mode_t mode;                        // mode of the existing file; 0: there is none
    dev_t device;                       // the file system that holds it; 0: not requested
    atomic_bool busy;                   // the line belongs to the thread that writes files
    struct text line;
};

// Refuses, before the test, a name that belongs to something other than a progress file of this user, and a directory
// in which the file cannot be created.
bool progress_open(struct progress *progress, const char *path, struct failure *failure);

// The line to fill; NULL if it is to be left out: not requested, or an earlier one is still being written.
struct text *progress_line(struct progress *progress);
// Hands it to the thread that writes files.
void progress_write(struct progress *progress, struct job_thread *files);
