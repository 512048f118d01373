// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// One step: a block size at a load point. Starts the workers together, monitors them, writes seconds and batches to the
// tables meanwhile, and their figures at the end.
#ifndef LOGDISK_STEP_H
#define LOGDISK_STEP_H

#include "run.h"

#include <stdbool.h>
#include <stdint.h>

// Runs step number (from 1). False if the run is to end: run->failure tells why.
bool step_run(struct run *run, uint32_t number, uint64_t block_bytes, uint32_t load_point);

#endif
