// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the next log write goes: sequential inside a file; a write that would cross the file's end goes to the next
// file instead and leaves the tail unwritten; after the last file, the first again.
#ifndef LOGDISK_PATTERN_H
#define LOGDISK_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

struct ring {
    uint32_t files;
    uint64_t file_bytes;
    uint64_t block_bytes;       // 0 < block_bytes <= file_bytes
    uint32_t file;              // where the next write goes
    uint64_t offset_bytes;
};

static inline void ring_advance(struct ring *ring) {
    ring->offset_bytes += ring->block_bytes;
    if (__builtin_expect(ring->offset_bytes + ring->block_bytes > ring->file_bytes, 0)) {
        ring->offset_bytes = 0;
        ring->file = ring->file + 1 < ring->files ? ring->file + 1 : 0;
    }
}

// Starts a step in the file after the last one written to, so that short steps do not rewrite the same megabytes.
static inline void ring_start_step(struct ring *ring, uint64_t block_bytes) {
    if (ring->offset_bytes > 0) {
        ring->file = ring->file + 1 < ring->files ? ring->file + 1 : 0;
        ring->offset_bytes = 0;
    }
    ring->block_bytes = block_bytes;
}

// Writes in one pass over all files.
static inline uint64_t ring_pass_writes(const struct ring *ring) {
    return ring->file_bytes / ring->block_bytes * ring->files;
}

// Where write number n (from 0) of a step went that started at the ring's first_file.
static inline void ring_position(const struct ring *ring, uint32_t first_file, uint64_t n, uint32_t *file,
                                 uint64_t *offset_bytes) {
    uint64_t in_file = ring->file_bytes / ring->block_bytes;
    *file = (uint32_t)((first_file + n / in_file) % ring->files);
    *offset_bytes = n % in_file * ring->block_bytes;
}

#endif
