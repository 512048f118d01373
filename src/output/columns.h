// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every column of every CSV table but run.csv. One function per table declares each of them once, as csv.h says; header,
// rows and --columns are made from it.
#pragma once

#include "figures/recorder.h"
#include "figures/stalls.h"
#include "measure/result.h"
#include "output/csv.h"

#include <stdint.h>

enum table { TABLE_RESULTS, TABLE_INTERVALS, TABLE_HISTOGRAM, TABLE_STALLS, TABLE_ROUNDS, TABLE_OVER, TABLE_RUN,
             TABLES };

extern const char *const table_names[TABLES];

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
    uint64_t over_ns;                   // over.csv: the threshold, and what was above it
    struct distribution_over over;
};

// Writes all columns of a table. row may be NULL if the form wants no values.
void columns_put(struct csv *csv, enum table table, const struct table_row *row);
