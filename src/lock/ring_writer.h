// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `write`: a thread writes a file as MQ's logger writes its log, one block at a time at full speed, from
// the first page to the last and then again from the first. The blocks are those of a run of --acknowledge with one
// queue manager and that seed (workload/geometry.h), so that each sector says which write it belongs to. The shared
// memory has the number of writes that have returned, and the longest pause.
#pragma once

#include "lock/locker.h"
#include "workload/geometry.h"

void ring_writer_start(struct locker *locker, const struct command *command);

// What a ring of that many bytes contains after writes with that seed.
void ring_geometry(struct geometry *geometry, uint64_t seed, uint64_t file_bytes);
