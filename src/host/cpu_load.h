// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --backgroundThreads: threads that keep processors busy from before the files are made to the end.
#ifndef LOGDISK_CPU_LOAD_H
#define LOGDISK_CPU_LOAD_H

#include <stdbool.h>
#include <stdint.h>

// False where not all could be made. They run until the process ends.
bool background_start(uint64_t threads);

#endif
