// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --progress=FILE: one line of key=value pairs, replaced atomically once per second. It is optional: a line that cannot
// be written is left out, and the run continues.
#pragma once

#include "base/failure.h"
#include "base/supervisor.h"
#include "base/text.h"

#include <sys/types.h>

struct progress {
    const char *path;                   // NULL: not requested
    char path_aside[PATH_MAX + 8];      // the temporary name under which it is written
    mode_t mode;                        // mode of the existing file; 0: there is none
    dev_t file_system;                  // number of the file system that holds it (file_system_of); 0: not requested
    atomic_bool busy;                   // true while the thread that writes files uses the line
    struct text line;
};

// Refuses, before the test, a name that belongs to something other than a progress file of this user, and a directory
// in which the file cannot be created.
bool progress_open(struct progress *progress, const char *path, struct failure *failure);

// Returns the line to fill in. Returns NULL if it should be left out because no progress was requested or an earlier
// line is still being written.
struct text *progress_line(struct progress *progress);
// Hands the line to the thread that writes files.
void progress_write(struct progress *progress, struct job_thread *files);
