// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Determines which write each sector of an acknowledged run belongs to, by the sector's own stamp. Writes of a queue
// manager are numbered from 1; 0 stands for the preformat. Write w goes to position (w - 1) mod R of the queue
// manager's ring, where R is the number of positions, which is also the number of writes in a pass.
#pragma once

#include "cut/mark.h"
#include "workload/payload.h"

// A place of 512 bytes in the files of a queue manager.
struct spot {
    uint32_t worker;                    // whose files, from 1
    uint64_t file, offset_bytes;
};

struct geometry {
    uint64_t seed, block_bytes, file_bytes, files;
    uint32_t queue_managers;
    uint64_t blocks_a_file, positions;
    struct payload writes, preformat;   // used only for the positions of their windows, so they have no pools
};

// The geometry of a run with that mark.
void geometry_of(struct geometry *geometry, const struct mark *mark);

// Where a position begins.
struct spot geometry_spot(const struct geometry *geometry, uint32_t worker, uint64_t position);

// False if the sector is not from this run. Otherwise reports which write it is from, and where that write put it.
bool geometry_trace(const struct geometry *geometry, const unsigned char *sector, uint64_t *write, struct spot *spot);

// Whether a sector that cannot be traced holds some of the run's data for that spot, from any pass. If so, it is
// damaged, not foreign.
bool geometry_is_damaged(const struct geometry *geometry, const unsigned char *sector, const struct spot *at);

// The greatest number of writes whose stamps can be distinguished.
uint64_t geometry_writes_max(const struct geometry *geometry);
