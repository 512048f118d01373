// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Compares the operations of a step with those that --place and --stream request: shares of capacity, reads, sizes and
// operations, and rates. Whoever reads the table judges the differences.
#pragma once

#include "measure/worker.h"

struct fidelity {
    const char *stream;                 // NULL: of all
    const char *property, *item;        // item: which size or place; empty: there is only one
    double asked, achieved;
    uint64_t operations;                // that the achieved figure is made of; 0: none, it is a size
};

typedef void fidelity_put(void *context, const struct fidelity *row);

// For a step that has ended.
void fidelity_each(const struct workers *workers, fidelity_put *put, void *context);
