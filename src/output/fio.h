// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --showFio: prints the closest fio job, for comparisons. Comments in the job list what fio cannot express.
#pragma once

#include "workload/workload.h"

void fio_print(FILE *out, const struct workload *workload, const struct options *options);
