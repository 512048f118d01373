// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which of the tester's own files are on a file system under test: they hang with it, and writing them disturbs the test.
#ifndef LOGDISK_PLACES_H
#define LOGDISK_PLACES_H

#include "workload/test_files.h"

struct places {
    char names[128];            // for people; empty: none
    bool progress;              // --progress is among them
    bool console;               // standard output or standard error is among them
};

// Memory (tmpfs) does not count: it does not hang. May itself hang if a disk does. The descriptors are -1 and progress,
// the device that its file is on, is 0 if the user did not ask for them.
void places_find(struct places *places, int tables_fd, int csv_fd, dev_t progress, const struct workspace *workspace);

#endif
