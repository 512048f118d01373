// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Uses the stamp in each sector of a run with passes to determine which write it belongs to. Writes of a queue
// manager are numbered from 1; 0 stands for the preformat. Write w goes to position (w - 1) mod R of the queue
// manager's ring, where R is the number of positions, which is also the number of writes in a pass.
#pragma once

#include "workload/payload.h"

// A sector of 512 bytes in the files of a queue manager.
struct spot {
    uint32_t worker;                    // the queue manager, from 1
    uint64_t file, offset_bytes;
};

struct geometry {
    uint64_t seed, block_bytes, file_bytes, files;
    uint32_t queue_managers;
    uint64_t blocks_a_file, positions;
    struct payload writes, preformat;   // without pools, because only the positions of windows are needed
};

// Completes a geometry whose members up to queue_managers are set.
void geometry_complete(struct geometry *geometry);

// Returns the place at which a position begins.
struct spot geometry_spot(const struct geometry *geometry, uint32_t worker, uint64_t position);

// Returns false if the sector is not from this run. Otherwise, returns which write it is from, and the place to which
// this write put it.
bool geometry_trace(const struct geometry *geometry, const unsigned char *sector, uint64_t *write, struct spot *spot);

// Returns whether an unidentified sector contains some of the run's data for this spot, from any pass. If so, it is
// damaged, not foreign.
bool geometry_is_damaged(const struct geometry *geometry, const unsigned char *sector, const struct spot *at);

// Returns the greatest number of writes whose stamps can be distinguished.
uint64_t geometry_writes_max(const struct geometry *geometry);
