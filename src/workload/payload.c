// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "workload/payload.h"

#include <string.h>

#define POOL_MIN_BYTES ((size_t)32 << 10)
#define POOL_MORE_MAX_BYTES ((size_t)1 << 20)

// Sebastiano Vigna's public-domain generator: well mixed, any seed will do.
uint64_t splitmix64(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

size_t content_pool_bytes(uint64_t block_bytes, uint64_t alignment_bytes) {
    size_t stride = round_up(block_bytes, alignment_bytes);
    size_t more = stride < POOL_MORE_MAX_BYTES ? stride : POOL_MORE_MAX_BYTES;
    size_t pool = stride + more > POOL_MIN_BYTES ? stride + more : POOL_MIN_BYTES;
    return round_up(pool, alignment_bytes);
}

void content_open(struct content *content, void *pool, size_t pool_bytes, uint64_t seed, uint32_t queue_manager) {
    uint64_t state = seed ^ (uint64_t)queue_manager << 40;
    state = splitmix64(&state);
    for (size_t at = 0; at < pool_bytes; at += sizeof state) {
        uint64_t word = splitmix64(&state);
        size_t left = pool_bytes - at;
        memcpy((unsigned char *)pool + at, &word, left < sizeof word ? left : sizeof word);
    }
    *content = (struct content){.pool = pool, .pool_bytes = pool_bytes,
                                .stamp = ((uint64_t)queue_manager << 48 | 1) * CONTENT_STAMP_STEP};
}

void content_start_step(struct content *content, uint64_t block_bytes, uint64_t alignment_bytes) {
    content->block_bytes = block_bytes;
    content->stride_bytes = round_up(block_bytes, alignment_bytes);
    size_t usable = content_pool_bytes(block_bytes, alignment_bytes);
    usable = usable < content->pool_bytes ? usable : content->pool_bytes;
    content->windows = 1 + (usable - block_bytes) / content->stride_bytes;
    content->window = 0;
    content->step_stamp = content->stamp;
    content->stamps_a_block = 0;
    for (size_t at = 0; at + sizeof content->stamp <= block_bytes; at += CONTENT_SECTOR_BYTES) {
        content->stamps_a_block++;
    }
}

const unsigned char *content_expect(struct content *content, uint64_t n) {
    content->window = (size_t)(n % content->windows);
    content->stamp = content->step_stamp + CONTENT_STAMP_STEP * (n * content->stamps_a_block);
    return content_next(content);
}
