// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/payload.h"

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

size_t payload_pool_bytes(uint64_t block_bytes, uint64_t alignment_bytes) {
    size_t stride = round_up(block_bytes, alignment_bytes);
    size_t more = stride < POOL_MORE_MAX_BYTES ? stride : POOL_MORE_MAX_BYTES;
    size_t pool = stride + more > POOL_MIN_BYTES ? stride + more : POOL_MIN_BYTES;
    return round_up(pool, alignment_bytes);
}

void payload_open(struct payload *payload, void *pool, size_t pool_bytes, uint64_t seed, uint32_t worker) {
    uint64_t state = seed ^ (uint64_t)worker << 40;
    state = splitmix64(&state);
    for (size_t i = 0; i < pool_bytes / sizeof state; i++) {
        ((uint64_t *)pool)[i] = splitmix64(&state);
    }
    *payload = (struct payload){.pool = pool, .pool_bytes = pool_bytes,
                                .stamp = ((uint64_t)worker << 48 | 1) * PAYLOAD_STAMP_STEP};
}

void payload_start_step(struct payload *payload, uint64_t block_bytes, uint64_t alignment_bytes) {
    payload->block_bytes = block_bytes;
    payload->alignment_bytes = alignment_bytes;
    payload->next_at = 0;
    payload->stride_bytes = round_up(block_bytes, alignment_bytes);
    size_t usable = payload_pool_bytes(block_bytes, alignment_bytes);
    usable = usable < payload->pool_bytes ? usable : payload->pool_bytes;
    payload->windows = 1 + (usable - block_bytes) / payload->stride_bytes;
    payload->window = 0;
    payload->step_stamp = payload->stamp;
    payload->stamps_a_block = (block_bytes - sizeof payload->stamp) / PAYLOAD_SECTOR_BYTES + 1;
}

const unsigned char *payload_expect(struct payload *payload, uint64_t n) {
    payload->window = (size_t)(n % payload->windows);
    payload->stamp = payload->step_stamp + PAYLOAD_STAMP_STEP * (n * payload->stamps_a_block);
    return payload_next(payload);
}
