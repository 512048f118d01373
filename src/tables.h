// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The full result as CSV tables in a directory: run, results, intervals, histogram, stalls, rounds; docs/columns.md and
// logdisk(1) explain every column. Rows go to files aside while the run goes on; tables_commit renames them, run.csv
// last, so that run.csv says that all are there and complete. A table that cannot be written is given up at once and costs
// no other: run.csv says which are missing. results.csv and run.csv, which are small, have their space from the start.
#ifndef LOGDISK_TABLES_H
#define LOGDISK_TABLES_H

#include "output/replace_file.h"
#include "output/csv.h"
#include "base/failure.h"
#include "measure/result.h"

#include <stdbool.h>
#include <stdint.h>

enum table { TABLE_RESULTS, TABLE_INTERVALS, TABLE_HISTOGRAM, TABLE_STALLS, TABLE_ROUNDS, TABLE_RUN, TABLES };

struct tables {
    bool open;                          // false: nobody asked for tables, and every call does nothing
    bool made_dir;
    const char *path;
    int dir_fd;
    struct aside asides[TABLES];
    struct csv csv[TABLES];
    int errors[TABLES];                 // 0: written so far
};

// What every row of a step begins with.
struct table_step {
    uint32_t step;
    uint64_t block_bytes;
    uint32_t queue_managers;
};

// Makes the directory (mode 0700) where its parent exists, refuses where one of the tables is there, and opens all.
// result_rows: how many results.csv will have.
bool tables_open(struct tables *tables, const char *path, uint64_t result_rows, struct failure *failure);

// Hands over what is buffered at the end of a step.
void tables_end_step(struct tables *tables);

void tables_result(struct tables *tables, const struct result *result);
void tables_interval(struct tables *tables, const struct table_step *step, uint32_t second, bool partial,
                     const struct series *writes);
void tables_batch(struct tables *tables, const struct table_step *step, uint32_t batch, const struct series *writes);
void tables_stall(struct tables *tables, const struct table_step *step, uint32_t rank, const struct stall *stall,
                  uint64_t step_start_ns, const char *file);
void tables_round(struct tables *tables, const struct table_step *step, uint32_t round,
                  const struct round_figures *figures);

// Rows of run.csv.
void tables_run_text(struct tables *tables, const char *key, const char *value);
void tables_run_integer(struct tables *tables, const char *key, uint64_t value);
void tables_run_real(struct tables *tables, const char *key, double value, int places);

#define TABLES_NAMES_BYTES 80
// Puts all but run.csv in their places. False: names those that are missing and the first one's error, which has been
// said on standard error.
bool tables_commit(struct tables *tables, char missing[TABLES_NAMES_BYTES], int *error);
// Ends run.csv with complete=1 (0 if tables are missing) and puts it in its place; false if that cannot be written.
bool tables_commit_run(struct tables *tables, bool complete);
void tables_discard(struct tables *tables);

#endif
