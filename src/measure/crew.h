// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The writers' threads: whether as many can be made as the greatest load point takes, and what to say where they cannot.
#ifndef LOGDISK_CREW_H
#define LOGDISK_CREW_H

#include "base/failure.h"

#include <stdbool.h>
#include <stdint.h>

// Says what there was too little of for the thread of that queue manager; always false.
bool crew_refuse(struct failure *failure, enum exit_status status, uint32_t queue_manager);

// Makes that many threads at once, which do nothing, and ends them: a run that lacks them is refused before it has
// made a file, not when it comes to its greatest load point.
bool crew_try(uint32_t count, struct failure *failure);

#endif
