// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --showFio: the nearest job of fio, for whoever wants to compare. What it cannot express stands beside it as comments.
#pragma once

#include "workload/workload.h"

void fio_print(FILE *out, const struct workload *workload, const struct options *options);
