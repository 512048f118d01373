// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "content.h"

#include <stdlib.h>
#include <string.h>

#define POOL_EXTRA_MIN_BYTES ((size_t)32 << 10)
#define POOL_EXTRA_MAX_BYTES ((size_t)1 << 20)

// Sebastiano Vigna's public-domain generator: well mixed, any seed will do.
uint64_t splitmix64(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

size_t content_pool_bytes(uint64_t block_bytes) {
    size_t extra = block_bytes;
    if (extra < POOL_EXTRA_MIN_BYTES) {
        extra = POOL_EXTRA_MIN_BYTES;
    }
    if (extra > POOL_EXTRA_MAX_BYTES) {
        extra = POOL_EXTRA_MAX_BYTES;
    }
    return block_bytes + extra;
}

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

bool content_open(struct content *content, uint64_t seed, uint32_t queue_manager, uint64_t largest_block_bytes,
                  uint64_t alignment_bytes) {
    size_t capacity = round_up(content_pool_bytes(largest_block_bytes), alignment_bytes);
    void *pool;
    if (posix_memalign(&pool, alignment_bytes, capacity) != 0) {
        return false;
    }
    uint64_t state = seed ^ (uint64_t)queue_manager << 40;
    state = splitmix64(&state);
    for (size_t at = 0; at < capacity; at += sizeof state) {
        uint64_t word = splitmix64(&state);
        size_t left = capacity - at;
        memcpy((unsigned char *)pool + at, &word, left < sizeof word ? left : sizeof word);
    }
    *content = (struct content){.pool = pool, .pool_capacity_bytes = capacity,
                                .stamp = ((uint64_t)queue_manager << 48 | 1) * CONTENT_STAMP_STEP};
    return true;
}

void content_close(struct content *content) {
    free(content->pool);
    content->pool = NULL;
}

void content_start_step(struct content *content, uint64_t block_bytes, uint64_t alignment_bytes) {
    content->block_bytes = block_bytes;
    content->stride_bytes = round_up(block_bytes, alignment_bytes);
    content->windows = 1;
    if (content->pool_capacity_bytes > block_bytes) {
        size_t usable = content_pool_bytes(block_bytes);
        usable = usable < content->pool_capacity_bytes ? usable : content->pool_capacity_bytes;
        content->windows += (usable - block_bytes) / content->stride_bytes;
    }
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
