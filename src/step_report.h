// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The end of a step: closes its books, and gives its figures out to the tables, the screen and mqldt's table.
#ifndef LOGDISK_STEP_REPORT_H
#define LOGDISK_STEP_REPORT_H

#include "run.h"

#include <stdint.h>

// All workers have finished or are abandoned. An error of theirs becomes run->failure.
void step_report(struct run *run);

#endif
