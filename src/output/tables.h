// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The full result as CSV tables in a directory; docs/columns.md explains every column. The files are created
// exclusively at the start. run.csv gets its name last: if it exists, the tables are complete, and it names those that
// could not be written. If a table cannot be written, it is abandoned at once, and the others are not affected.
// results.csv and run.csv, which are small, have their space reserved from the start.
//
// In a container, only the log is kept. There the files are in memory (memfd_create), and they are printed at the end.
//
// The main thread collects rows in memory; the thread that writes files (base/supervisor.h) does everything else.
#pragma once

#include "base/supervisor.h"
#include "measure/fidelity.h"
#include "measure/result.h"
#include "output/csv.h"

enum table { TABLE_RESULTS, TABLE_INTERVALS, TABLE_HISTOGRAM, TABLE_STALLS, TABLE_ROUNDS, TABLE_OVER,
             TABLE_BATCHES, TABLE_RESPONSES, TABLE_FIDELITY, TABLE_DURABILITY, TABLE_RUN, TABLES };

enum tables_kind { TABLES_OF_LOG, TABLES_OF_STREAMS, TABLES_OF_CHECK };

extern const char *const table_names[TABLES];

#define TABLES_PRINTED "-"              // instead of a directory

// The content of a row of a table of a measurement: its key, and the other members that the table needs.
struct table_row {
    struct result_key key;
    const struct result *result;        // results.csv
    uint32_t number;                    // number of the second, batch, rank or round
    bool partial;
    // intervals.csv: of the second; histogram.csv: of the batch; responses.csv: response
    const struct distribution *latency;
    unsigned bucket;                    // histogram.csv and responses.csv
    const struct stall *stall;          // stalls.csv
    uint64_t step_start_ns;
    const char *file;
    const struct round_figures *round;  // rounds.csv
    uint64_t over_ns;                   // over.csv: the threshold, and the operations above it
    struct distribution_over over;
    struct batch_sums batch;            // batches.csv
    const struct fidelity *fidelity;    // fidelity.csv
};

// columns.c declares each column of these tables once, as csv.h says; header, rows and --columns are made from it.
// Those of durability.csv and run.csv are declared in cut/durability_csv.c and run_csv.c.
// Writes all columns of a table. row may be NULL if the form wants no values.
void columns_put(struct csv *csv, enum table table, const struct table_row *row);

struct table_file {
    int fd;                             // -1: not open, because another kind of run has this table
    struct csv rows;                    // collected by the main thread
    struct text writing;                // text that the thread that writes files has taken over while it is busy
    atomic_bool busy;
    atomic_int error;                   // 0: written so far
    bool reported;
};

struct tables {
    const char *path;                   // NULL: no tables were requested, and every call does nothing
    bool printed;                       // path is TABLES_PRINTED, so there is no directory
    bool made_directory;
    int dir_fd;
    struct table_file files[TABLES];
    // Of tables_complete:
    char missing[120];                  // names of tables that could not be written; empty: none
    struct failure failure;             // status EXIT_MEASURED: none is missing
};

// Creates the directory (mode 0700) if its parent exists, refuses if a table exists in it, and creates all tables.
bool tables_open(struct tables *tables, const char *path, enum tables_kind kind, struct failure *failure);
// Removes everything that tables_open created.
void tables_discard(struct tables *tables);

void tables_add(struct tables *tables, enum table table, const struct table_row *row);
// For durability.csv, whose header and rows the caller writes. NULL if the table was not requested.
struct csv *tables_rows(struct tables *tables, enum table table);

// Hands collected rows over to the thread that writes files, and reports tables that could not be written.
void tables_flush(struct tables *tables, struct job_thread *files);

// For the thread that writes files: writes the rest of all tables but run.csv; false if any is missing.
bool tables_complete(struct tables *tables);
// Writes run.csv, whose rows are in files[TABLE_RUN].rows, and gives it its name; false if that fails.
bool tables_complete_run(struct tables *tables);

// Prints the complete tables piece by piece, and calls wait(context) to make room for the next piece. Ends early and
// returns false if wait does, or if a table cannot be read. Every line begins with "|", with tabs between its rows.
// docs/columns.md describes the frame.
bool tables_print(struct tables *tables, bool (*wait)(void *context), void *context);
