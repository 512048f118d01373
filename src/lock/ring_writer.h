// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `write` starts a thread that writes a file as MQ's logger writes its log, one block at a time at full
// speed, from the first page to the last and then again from the first. The blocks are those of a run of --acknowledge
// with one queue manager and the given seed (workload/geometry.h), so that each sector shows which write it belongs to.
// The shared memory contains the number of writes that have returned, and the longest pause. If PAUSE is not 0, the
// thread ends after the first write whose return follows more than PAUSE milliseconds after the one before: what was
// acknowledged before the pause is then still in the file, because nothing overwrites it.
#pragma once

#include "lock/locker.h"
#include "workload/geometry.h"

void ring_writer_start(struct locker *locker, const struct command *command);

// Describes the content of a ring with the given size after writes with the given seed.
void ring_geometry(struct geometry *geometry, uint64_t seed, uint64_t file_bytes);
