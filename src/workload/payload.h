// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The data that is written: incompressible, and different in every write. Each worker has a pool of pseudo-random
// bytes, and every write takes the next window of it. Therefore, no data repeats within 32 KiB or within a block. Before
// each write, every 512 bytes of the window are given a new 64-bit stamp. Stamps are a Weyl sequence (a counter times
// an odd constant), so no two of 2^64 stamps are equal, even across workers. Pools differ by seed and worker. The bytes
// of write number n of a step can be generated again afterwards (payload_expect): --verify compares with them.
//
// If the step has passes (payload_start_passes), each position has the same window in every pass over the files. In
// pass p (from 0), all bytes except the stamps are those of the pool XOR p mod 256. Therefore, blocks of different
// passes differ in every byte, and a mixture of two blocks cannot be mistaken for either of them. The pool is changed
// once per pass.
#pragma once

#include "base/standard.h"

#define PAYLOAD_SECTOR_BYTES 512
#define PAYLOAD_STAMP_STEP UINT64_C(0x9E3779B97F4A7C15)
#define PAYLOAD_STAMP_STEP_INVERSE UINT64_C(0xF1DE83E19937733D)         // modulo 2^64
#define PAYLOAD_WORKER_SHIFT 48         // each worker numbers its stamps from 1 in the bits below

struct payload {
    unsigned char *pool;
    size_t pool_bytes;
    size_t block_bytes;
    size_t stride_bytes;        // distance from one window to the next
    size_t windows;             // number of windows in the pool
    size_t window;              // number of the next window
    size_t alignment_bytes;
    size_t next_at;             // position from which payload_next_of continues
    uint64_t stamp;             // the next stamp
    uint64_t step_stamp;        // the first stamp of the step
    size_t stamps_a_block;
    uint64_t pass_blocks;       // blocks in a pass; 0 if there are no passes
    uint64_t pass_left;         // blocks that remain in the current pass
    uint64_t pass;              // the pass that the pool was last changed to
};

// Returns the size of a pool, in bytes, for blocks of the given size: two blocks, but at least 32 KiB and at most one
// block plus 1 MiB. It is a multiple of the alignment.
size_t payload_pool_bytes(uint64_t block_bytes, uint64_t alignment_bytes);

// Fills the pool, which belongs to the caller and is large enough for the largest block. Workers are numbered in the
// whole run, not in each stream. Worker 0 is for preformatting.
void payload_open(struct payload *payload, void *pool, size_t pool_bytes, uint64_t seed, uint32_t worker);

void payload_start_step(struct payload *payload, uint64_t block_bytes, uint64_t alignment_bytes);

// Divides the step into passes of the given number of blocks. Call it before the first block.
void payload_start_passes(struct payload *payload, uint64_t blocks);
void __attribute__((cold)) payload_next_pass(struct payload *payload);

// Returns the stamped block for the next write.
static inline unsigned char *payload_next(struct payload *payload) {
    if (__builtin_expect(payload->pass_left-- == 0, 0)) {
        payload_next_pass(payload);
    }
    unsigned char *block = payload->pool + payload->window * payload->stride_bytes;
    uint64_t stamp = payload->stamp;
    for (size_t at = 0; at + sizeof stamp <= payload->block_bytes; at += PAYLOAD_SECTOR_BYTES) {
        __builtin_memcpy(block + at, &stamp, sizeof stamp);
        stamp += PAYLOAD_STAMP_STEP;
    }
    payload->stamp = stamp;
    payload->window = payload->window + 1 < payload->windows ? payload->window + 1 : 0;
    return block;
}

// Does the same for writes of any size up to the step's block size.
static inline unsigned char *payload_next_of(struct payload *payload, size_t bytes) {
    size_t at = payload->next_at + bytes <= payload->pool_bytes ? payload->next_at : 0;
    unsigned char *block = payload->pool + at;
    for (size_t in_block = 0; in_block + sizeof payload->stamp <= bytes; in_block += PAYLOAD_SECTOR_BYTES) {
        __builtin_memcpy(block + in_block, &payload->stamp, sizeof payload->stamp);
        payload->stamp += PAYLOAD_STAMP_STEP;
    }
    payload->next_at =
        (at + bytes + payload->alignment_bytes - 1) / payload->alignment_bytes * payload->alignment_bytes;
    return block;
}

// Returns the bytes of write n (from 0) of the step; valid until the next call.
const unsigned char *payload_expect(struct payload *payload, uint64_t n);

// Identifies the stamp in a sector: reports whose stamp it is, and its number (from 0). Returns false if there is none.
bool payload_stamp_of(const unsigned char *sector, uint32_t *worker, uint64_t *number);
// Returns whether a sector, apart from its stamp, equals the worker's pool from the given byte on, as it was in the
// given pass.
bool payload_is_of_pool(const unsigned char *sector, uint64_t seed, uint32_t worker, size_t at_bytes, uint64_t pass);
// Returns whether any word of the sector, apart from the stamp, is the worker's data from any pass.
bool payload_has_words_of_pool(const unsigned char *sector, uint64_t seed, uint32_t worker, size_t at_bytes);

uint64_t splitmix64(uint64_t *state);
