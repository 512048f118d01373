// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every column of every CSV table, and every key of run.csv, is one row in one of the tables of columns (tables.c and
// run_csv.c): its name, its unit, and how to get its value. Header, rows, and --columns are made from them.
#ifndef LOGDISK_COLUMNS_H
#define LOGDISK_COLUMNS_H

#include "output/csv.h"
#include "figures/recorder.h"
#include "figures/stalls.h"
#include "measure/result.h"

#include <stddef.h>
#include <stdint.h>

enum table { TABLE_RESULTS, TABLE_INTERVALS, TABLE_HISTOGRAM, TABLE_STALLS, TABLE_ROUNDS, TABLE_RUN, TABLES };

// What a row of any table but run.csv is made of: its key, and of the rest what the table needs.
struct table_row {
    struct result_key key;
    const struct result *result;        // results.csv
    uint32_t number;                    // the second, batch, rank or round
    bool partial;
    const struct distribution *latency; // intervals.csv: of the second; histogram.csv: of the batch
    unsigned bucket;                    // histogram.csv
    const struct stall *stall;          // stalls.csv
    uint64_t step_start_ns;
    const char *file;
    const struct round_figures *round;  // rounds.csv
};

struct column {
    const char *name;
    const char *unit;                   // ns, us, s, bytes, bytes/s, 1/s, ratio, 0/1, count, number or text
    void (*put)(struct csv *csv, const struct table_row *row, uint64_t argument);
    uint64_t argument;                  // such as a quantile
};

// Puts the value or, if it is not known, an empty field.
void csv_integer_if(struct csv *csv, bool known, uint64_t value);

extern const char *const table_names[TABLES];

// Puts the header or the row of a table that has columns.
void columns_header(struct csv *csv, enum table table);
void columns_row(struct csv *csv, enum table table, const struct table_row *row);

// --columns: table,name,unit of every column and key; one line of it.
void columns_list(struct csv *csv);
void columns_list_row(struct csv *csv, enum table table, const char *name, const char *unit);

#endif
