// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `scan` finds out whose writes are in the ring. It reads the whole ring with O_DIRECT, and uses the seeds
// of the writers A and B to decide for each sector whether A, B or neither of them wrote it. Its numbers are:
//
//   1. how many writes of A were acknowledged. In a page that B has not written, the last of them for this page must be
//      there, or a later one. Otherwise, the write is lost.
//   2. the newest write of A that may be there. A sector of a later write is late.
//   3. how many writes of B have returned. B writes the pages in order, beginning with the first one. A sector of A in
//      a page that B has written is late, too.
#pragma once

#include "lock/locker.h"

void scan_ring(struct locker *locker, const struct command *command);
