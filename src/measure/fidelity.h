// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Compares the operations of a step with those that --place and --stream request: shares of capacity, reads, sizes and
// operations, and rates. Differences are only reported, not judged.
#pragma once

#include "measure/worker.h"

struct fidelity {
    const char *stream;                 // NULL: all streams
    const char *property, *item;        // the size or place; empty if there is only one
    double asked, achieved;
    uint64_t operations;                // operations behind the achieved figure; 0 if the figure is a size
};

typedef void fidelity_put(void *context, const struct fidelity *row);

// Adds the rows of a step that has ended.
void fidelity_each(const struct workers *workers, fidelity_put *put, void *context);
