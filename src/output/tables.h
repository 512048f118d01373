// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The full result as CSV tables in a directory; docs/columns.md explains every column. The files are created
// exclusively at the start. run.csv is given its name last. If it exists, the tables are complete, except for any that
// it lists as missing. If a table cannot be written, it is abandoned at once, and the others are not affected. For the
// small tables results.csv and run.csv, space is reserved at the start.
//
// With --tables=- (in a container, only the log is kept) and with --json, the files are in memory (memfd_create), and they
// are printed at the end.
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

#define TABLES_PRINTED "-"              // used instead of a directory

// The content of a row in any table of a measurement: the key, and the members that this table needs.
struct table_row {
    struct result_key key;
    const struct result *result;        // results.csv
    const struct io_limit_used *io_limit;       // results.csv: NULL if no limit is known
    uint32_t number;                    // number of the second, batch, rank or round
    bool partial;
    // for intervals.csv: the second; for histogram.csv: the batch; for responses.csv: response times
    const struct distribution *latency;
    unsigned bucket;                    // histogram.csv and responses.csv
    const struct stall *stall;          // stalls.csv
    uint64_t step_start_ns;
    const char *file;
    const struct round_figures *round;  // rounds.csv
    uint64_t over_ns;                   // over.csv: the threshold, and the operations that took longer
    struct distribution_over over;
    struct batch_sums batch;            // batches.csv
    const struct fidelity *fidelity;    // fidelity.csv
};

// columns.c declares each column of these tables once (see csv.h). The header, the rows and the output of --columns are
// generated from these declarations. The columns of durability.csv and run.csv are declared in cut/durability_csv.c and
// run_csv.c. Writes all columns of a table. row may be NULL if the form contains no values.
void columns_put(struct csv *csv, enum table table, const struct table_row *row);

struct table_file {
    int fd;                             // -1: not open, because this kind of run does not have the table
    struct csv rows;                    // collected by the main thread
    struct text writing;                // text that the thread that writes files is writing
    atomic_bool busy;
    atomic_int error;                   // 0 if all writes have succeeded
    bool reported;
};

struct tables {
    const char *path;                   // NULL if no tables were requested; all calls then do nothing
    bool printed;                       // there is no directory
    bool json;                          // what is printed is one JSON document
    bool made_directory;
    int dir_fd;
    struct table_file files[TABLES];
    // Set by tables_complete:
    char missing[120];                  // names of tables that could not be written; empty if there are none
    struct failure failure;             // EXIT_MEASURED if no table is missing
};

// Creates the directory (mode 0700) if its parent exists, refuses if a table exists in it, and creates all tables.
// path: --tables; NULL if no tables were requested. json: path is ignored, and one JSON document will be printed.
bool tables_open(struct tables *tables, const char *path, bool json, enum tables_kind kind, struct failure *failure);
// Removes everything that tables_open created.
void tables_discard(struct tables *tables);

void tables_add(struct tables *tables, enum table table, const struct table_row *row);
// For durability.csv, whose header and rows the caller writes. Returns NULL if no tables were requested.
struct csv *tables_rows(struct tables *tables, enum table table);

// Hands collected rows over to the thread that writes files, and reports tables that could not be written.
void tables_flush(struct tables *tables, struct job_thread *files);

// For the thread that writes files: writes the rest of all tables except run.csv. Returns false if any table is
// missing.
bool tables_complete(struct tables *tables);
// Writes run.csv, whose rows are in files[TABLE_RUN].rows, and gives it its name; returns false on failure.
bool tables_complete_run(struct tables *tables);

// Prints the complete tables as results, piece by piece. It calls wait(context) to make room for the next piece. If wait returns
// false or a table cannot be read, it stops and returns false. Every line begins with "|" and contains several rows
// separated by tabs, or the tables are members of one JSON document; docs/columns.md describes both formats.
bool tables_print(struct tables *tables, bool (*wait)(void *context), void *context);
