// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The writers and all the memory that the greatest step of the run takes, got before the first file is made.
#ifndef LOGDISK_STEP_ROOM_H
#define LOGDISK_STEP_ROOM_H

#include "base/failure.h"

#include <stdbool.h>

// Of a struct run whose workspace knows its alignment. False: there is not enough memory, and failure says so.
bool step_room(void *run, struct failure *failure);

#endif
