// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the next operation goes. Ring, as MQ's log: sequential inside a file; a write that would cross the file's end
// goes to the next file instead and leaves the tail unwritten; after the last file, the first again.
#pragma once

#include "base/standard.h"

enum pattern_kind { PATTERN_RING };

struct pattern {
    enum pattern_kind kind;
    uint32_t files;
    uint64_t file_bytes;
    uint64_t block_bytes;       // 0 < block_bytes <= file_bytes
    uint32_t file;              // where the next operation goes
    uint64_t offset_bytes;
    uint32_t first_file;        // of the step
};

static inline void pattern_next_file(struct pattern *pattern) {
    pattern->offset_bytes = 0;
    pattern->file = pattern->file + 1 < pattern->files ? pattern->file + 1 : 0;
}

// random: state of the worker's random numbers, for patterns that need them.
static inline void pattern_advance(struct pattern *pattern, uint64_t *random) {
    (void)random;
    switch (pattern->kind) {
    case PATTERN_RING:
        pattern->offset_bytes += pattern->block_bytes;
        if (__builtin_expect(pattern->offset_bytes + pattern->block_bytes > pattern->file_bytes, 0)) {
            pattern_next_file(pattern);
        }
        break;
    }
}

// Starts a step in the file after the last one used, so that short steps do not rewrite the same megabytes.
static inline void pattern_start_step(struct pattern *pattern, uint64_t block_bytes) {
    if (pattern->offset_bytes > 0) {
        pattern_next_file(pattern);
    }
    pattern->block_bytes = block_bytes;
    pattern->first_file = pattern->file;
}

// Operations in one pass over all files; 0: the pattern has no passes.
static inline uint64_t pattern_pass_operations(const struct pattern *pattern) {
    return pattern->kind == PATTERN_RING ? pattern->file_bytes / pattern->block_bytes * pattern->files : 0;
}

// Where operation number n (from 0) of the step went; only for a pattern with passes.
static inline void pattern_position(const struct pattern *pattern, uint64_t n, uint32_t *file, uint64_t *offset_bytes) {
    uint64_t in_file = pattern->file_bytes / pattern->block_bytes;
    *file = (uint32_t)((pattern->first_file + n / in_file) % pattern->files);
    *offset_bytes = n % in_file * pattern->block_bytes;
}
