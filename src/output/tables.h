// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The full result as CSV tables in a directory; docs/columns.md explains every column. The files are created exclusively
// at the start. run.csv gets its name last: if it exists, the tables are complete, and it names those that could not be
// written. Such a table is given up at once and costs no other. results.csv and run.csv, which are small, have their
// space reserved from the start.
//
// The main thread collects rows in memory; the thread that writes files (job.h) does everything else.
#ifndef LOGDISK_TABLES_H
#define LOGDISK_TABLES_H

#include "base/failure.h"
#include "base/job.h"
#include "output/columns.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct table_file {
    const char *name;
    int dir_fd, fd;                     // fd -1: not open
    struct csv rows;                    // collected by the main thread
    struct text writing;                // taken over by the thread that writes files while it is busy
    atomic_bool busy;
    atomic_int error;                   // 0: written so far
    bool reported;
};

struct tables {
    const char *path;                   // NULL: nobody asked for tables, and every call does nothing
    bool made_directory;
    int dir_fd;
    struct table_file files[TABLES];
};

// Creates the directory (mode 0700) if its parent exists, refuses if a table exists in it, and creates all tables.
// result_rows: how many results.csv will have.
bool tables_open(struct tables *tables, const char *path, uint64_t result_rows, struct failure *failure);
// Removes what tables_open made.
void tables_discard(struct tables *tables);

void tables_result(struct tables *tables, const struct result *result);
void tables_interval(struct tables *tables, const struct result_key *key, uint32_t second, bool partial,
                     const struct distribution *latency);
void tables_batch(struct tables *tables, const struct result_key *key, uint32_t batch, const struct distribution *latency);
void tables_stall(struct tables *tables, const struct result_key *key, uint32_t rank, const struct stall *stall,
                  uint64_t step_start_ns, const char *file);
void tables_round(struct tables *tables, const struct result_key *key, uint32_t round,
                  const struct round_figures *figures);

// Of a second: a row for the threshold if an operation took longer.
void tables_over(struct tables *tables, const struct result_key *key, uint32_t second, uint64_t over_ns,
                 const struct distribution *latency);

// Hands collected rows over to the thread that writes files, and reports tables that could not be written.
void tables_flush(struct tables *tables, struct worker_thread *files);

#define TABLES_NAMES_BYTES 80
// For the thread that writes files: writes the rest of all tables but run.csv. False: names those that are missing and
// sets *error to the error of the first.
bool tables_complete(struct tables *tables, char missing[TABLES_NAMES_BYTES], int *error);
// Writes run.csv, whose rows are in files[TABLE_RUN].rows, and gives it its name; false if that fails.
bool tables_complete_run(struct tables *tables);
// For the main thread, once the others are done: reports tables that could not be written.
void tables_report(struct tables *tables);

#endif
