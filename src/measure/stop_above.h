// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --stopAbove=STREAM:OPERATION:FIGURE:TIME: no further step is made once a step has a mean above a limit, because those
// that follow have more load. Only means: they are exact.
#pragma once

#include "measure/result.h"

struct stop_above {
    const struct text_list *limits;     // as given
    char reason[1024];                  // a sentence; empty: no limit was broken so far
};

// False with a failure if a limit is not well-formed, or names what the workload does not have.
bool stop_above_open(struct stop_above *stop_above, const struct text_list *limits, const struct workload *workload,
                     struct failure *failure);

// Looks at a row of all workers.
void stop_above_look(struct stop_above *stop_above, const struct result *all);
