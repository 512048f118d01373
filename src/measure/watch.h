// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Main's part while writers write: passes cuts for those that are away, takes finished slots over, shows where the step
// stands, and closes the books of writers whose calls do not end when the run is to end.
#ifndef LOGDISK_WATCH_H
#define LOGDISK_WATCH_H

#include "run.h"

// Until every writer of the step has finished, or is closed.
void watch_writers(struct run *run);

#endif
