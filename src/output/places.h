// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which of the tester's own files are on a file system under test: they hang with it, and writing them disturbs the test.
#ifndef LOGDISK_PLACES_H
#define LOGDISK_PLACES_H

#include "output/progress.h"
#include "output/tables.h"
#include "workload/test_files.h"

struct places {
    char names[128];            // for people; empty: none
    bool progress;              // --progress is among them
    bool console;               // standard output or standard error is among them
};

// Finds out which of --tables, --csvFile, --progress, standard output and standard error are on a file system under test.
// Memory (tmpfs) does not count: it does not hang. May itself hang if a disk does.
void places_find(struct places *places, const struct tables *tables, const struct progress *progress, int csv_fd,
                 const struct workspace *workspace);

#endif
