// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/payload.h"

#define POOL_MIN_BYTES ((size_t)32 << 10)
#define POOL_MORE_MAX_BYTES ((size_t)1 << 20)

#define SPLITMIX_STEP UINT64_C(0x9E3779B97F4A7C15)

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

// The public-domain generator of Sebastiano Vigna. Its output is well mixed for any seed.
uint64_t splitmix64(uint64_t *state) {
    return mix(*state += SPLITMIX_STEP);
}

// Returns the state of the generator that fills the pool.
static uint64_t pool_state(uint64_t seed, uint32_t worker) {
    uint64_t state = seed ^ (uint64_t)worker << 40;
    return splitmix64(&state);
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
    uint64_t state = pool_state(seed, worker);
    for (size_t i = 0; i < pool_bytes / sizeof state; i++) {
        ((uint64_t *)pool)[i] = splitmix64(&state);
    }
    *payload = (struct payload){.pool = pool, .pool_bytes = pool_bytes,
                                .stamp = ((uint64_t)worker << PAYLOAD_WORKER_SHIFT | 1) * PAYLOAD_STAMP_STEP};
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
    payload->pass_blocks = 0;
    payload->pass_left = UINT64_MAX;
}

// Returns the value that is XORed with the words of a pool.
static uint64_t pass_mask(uint64_t pass) {
    return (pass & 0xFF) * UINT64_C(0x0101010101010101);
}

static void go_to_pass(struct payload *payload, uint64_t pass) {
    uint64_t change = pass_mask(payload->pass) ^ pass_mask(pass), *words = (uint64_t *)payload->pool;
    for (size_t i = 0; i < payload->pool_bytes / sizeof *words; i++) {
        words[i] ^= change;
    }
    payload->pass = pass;
}

void payload_start_passes(struct payload *payload, uint64_t blocks) {
    payload->pass_blocks = payload->pass_left = blocks;
    go_to_pass(payload, 0);
}

void payload_next_pass(struct payload *payload) {
    go_to_pass(payload, payload->pass + 1);
    payload->window = 0;
    payload->pass_left = payload->pass_blocks - 1;
}

const unsigned char *payload_expect(struct payload *payload, uint64_t n) {
    uint64_t in_pass = n;
    if (payload->pass_blocks > 0) {
        go_to_pass(payload, n / payload->pass_blocks);
        in_pass = n % payload->pass_blocks;
        payload->pass_left = payload->pass_blocks - in_pass;
    }
    payload->window = (size_t)(in_pass % payload->windows);
    payload->stamp = payload->step_stamp + PAYLOAD_STAMP_STEP * (n * payload->stamps_a_block);
    return payload_next(payload);
}

bool payload_stamp_of(const unsigned char *sector, uint32_t *worker, uint64_t *number) {
    uint64_t stamp;
    memcpy(&stamp, sector, sizeof stamp);
    uint64_t counted = stamp * PAYLOAD_STAMP_STEP_INVERSE;
    *worker = (uint32_t)(counted >> PAYLOAD_WORKER_SHIFT);
    *number = (counted & ((UINT64_C(1) << PAYLOAD_WORKER_SHIFT) - 1)) - 1;
    return *number != UINT64_MAX;
}

#define SECTOR_WORDS (PAYLOAD_SECTOR_BYTES / sizeof(uint64_t))

// The value that was XORed with the words of a sector, if they come from the given pool. The generator is based on a
// counter, so any word of a pool can be computed without the words before it, and no pool is needed.
static void find_masks(uint64_t masks[SECTOR_WORDS], const unsigned char *sector, uint64_t seed, uint32_t worker,
                       size_t at_bytes) {
    uint64_t state = pool_state(seed, worker) + SPLITMIX_STEP * (at_bytes / sizeof(uint64_t) + 1);
    memcpy(masks, sector, PAYLOAD_SECTOR_BYTES);
    for (size_t i = 1; i < SECTOR_WORDS; i++) {
        masks[i] ^= mix(state + SPLITMIX_STEP * i);
    }
}

bool payload_is_of_pool(const unsigned char *sector, uint64_t seed, uint32_t worker, size_t at_bytes, uint64_t pass) {
    uint64_t masks[SECTOR_WORDS], differences = 0, mask = pass_mask(pass);
    find_masks(masks, sector, seed, worker, at_bytes);
    for (size_t i = 1; i < SECTOR_WORDS; i++) {
        differences |= masks[i] ^ mask;
    }
    return differences == 0;
}

bool payload_has_words_of_pool(const unsigned char *sector, uint64_t seed, uint32_t worker, size_t at_bytes) {
    uint64_t masks[SECTOR_WORDS];
    bool found = false;
    find_masks(masks, sector, seed, worker, at_bytes);
    for (size_t i = 1; i < SECTOR_WORDS; i++) {
        found |= masks[i] == pass_mask(masks[i]);
    }
    return found;
}
