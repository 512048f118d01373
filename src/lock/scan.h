// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `scan`: whose writes are in the ring? Reads all of it with O_DIRECT, and finds for each sector whether
// it is of writer A, of writer B or of none of them, by the seeds of both. A sector of A is late if it stands where B
// has already written: B's writes follow each other from the first page on, so its newest write that is found says
// which pages these are.
#pragma once

#include "lock/locker.h"

void scan_ring(struct locker *locker, const struct command *command);
