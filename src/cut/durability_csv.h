// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// durability.csv, the table of a check, with its columns (see output/csv.h).
#pragma once

#include "cut/verdict.h"
#include "output/csv.h"

struct durability_row {
    const struct durability *durability;
    const char *file, *from_file;       // the files that the finding names; empty: none
};

// Writes all columns. row may be NULL if the form contains no values.
void durability_csv_put(struct csv *csv, const struct durability_row *row);
