// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --stopAbove=STREAM:OPERATION:FIGURE:TIME: ends the run after a step whose mean is above a limit, because the
// following steps have more load. Only means are supported, because they are exact.
#pragma once

#include "measure/result.h"

struct stop_above {
    const struct text_list *limits;     // as given
    char reason[1024];                  // a sentence; empty: no limit has been broken so far
};

// Returns false, with a failure, if a limit is not well-formed, or names something that the workload does not have.
bool stop_above_open(struct stop_above *stop_above, const struct text_list *limits, const struct workload *workload,
                     struct failure *failure);

// Checks a row of all workers.
void stop_above_look(struct stop_above *stop_above, const struct result *all);
