// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What is refused before the first byte is written. The parts that touch files run in a thread that may hang.
#ifndef LOGDISK_PREFLIGHT_H
#define LOGDISK_PREFLIGHT_H

#include "run.h"

#include <stdbool.h>

// Checks everything that does not touch the file system under test, and opens the tester's own files.
bool preflight_surroundings(struct run *run, struct failure *failure);

// Checks the disks, the memory and other testers while the directories are open and before any file is made in them.
// The context is a struct run; see struct workspace.
bool preflight_disks(void *context, struct failure *failure);

// What is not refused, but worth a warning.
void preflight_warn_early(struct run *run);
void preflight_warn_of_disks(struct run *run);

#endif
