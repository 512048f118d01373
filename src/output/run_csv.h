// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// run.csv: what was run, where, and how it ended, one key per row. Unknown is empty, never guessed; keys that do not
// apply, such as those of an error, are left out.
#pragma once

#include "output/csv.h"
#include "run.h"

// Writes all rows, or lists all keys. The "_n" of a listed key stands for numbers from 1.
void run_csv_put(struct csv *csv, const struct run *run);
