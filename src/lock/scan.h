// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `scan` finds out whose writes are in the ring. It reads the whole ring with O_DIRECT, and uses the seeds
// of the writers A and B to decide for each sector whether A, B or neither of them wrote it. A sector of A is late if A
// wrote it after B had written to the same place. B writes the pages in order, beginning with the first one, so
// the newest write of B that is found shows which pages B has reached.
#pragma once

#include "lock/locker.h"

void scan_ring(struct locker *locker, const struct command *command);
