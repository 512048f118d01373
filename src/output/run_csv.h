// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// run.csv: what was run, where, how it ended. One row a fact; unknown is empty, never guessed.
#ifndef LOGDISK_RUN_CSV_H
#define LOGDISK_RUN_CSV_H

#include "run.h"

// tables_missing: the names of those that could not be written.
void run_table_write(struct run *run, const char *tables_missing);

#endif
