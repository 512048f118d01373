// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Patterns determine the place of the next operation in a sequence of files of the same size.
//
// Ring, like MQ's log: sequential inside a file. A write that would cross the file's end goes to the next file instead
// and leaves the tail unwritten. The first file follows the last. Varying: the same for writes of different sizes; the
// caller places them. The patterns of --stream choose each place at random; see pattern_draw.
#pragma once

#include "base/standard.h"

#include <stdatomic.h>

#define SHARE_PPM UINT32_C(1000000)

enum pattern_kind { PATTERN_RING, PATTERN_RANDOM, PATTERN_WALK, PATTERN_RUNS, PATTERN_VARYING };
extern const char *const pattern_names[];       // the names of the kinds that --stream allows

// A hierarchical random walk over the leaves of a region, as in goioworkload's spc1.c (HRRW_V2). A leaf has eight
// blocks. Each step goes to a leaf of a subtree that contains the previous leaf. The subtree is WALK_HEIGHT_MIN high.
// With a probability of WALK_CLIMB_PPM it is one level higher, and so on up to the top. If the leaf is beyond the
// region, another one is drawn. Writes go to every eighth leaf only. Reads take the blocks of a leaf in turn, whichever
// worker reads; half of the writes go to the block that was read last. A share of WALK_REWRITE_PPM of the writes is
// followed by a rewrite: the next write goes to the same block.
#define WALK_BLOCKS_A_LEAF 8
#define WALK_HEIGHT_MIN 6
#define WALK_CLIMB_PPM 440000
#define WALK_REWRITE_PPM 150000
#define WALK_READ_BLOCK_PPM 500000
#define WALK_LEAVES_A_WRITE 8
#define WALK_DRAWS_MAX 101

struct walk {
    uint64_t first_leaf;        // the first leaf of the region, counted from the start of the place
    uint64_t leaves;            // number of leaves in the region
    uint32_t top;               // height of the smallest tree that holds the region
    uint64_t leaf;              // where the walk is, counted from the start of the region
    uint64_t written_leaf, written_block;
    bool rewrites;              // true if the next write goes to the same block
};

// Sequential runs, in units of the smallest size.
struct runs {
    uint64_t from, to;          // a run begins in this range (inclusive)
    uint64_t length;
    uint64_t next, end;         // the rest of the current run
};

struct pattern {
    enum pattern_kind kind;
    uint32_t files;
    uint64_t file_bytes;
    uint64_t block_bytes;       // 0 < block_bytes <= file_bytes
    uint32_t file;              // the file of the next operation
    uint64_t offset_bytes;
    uint32_t first_file;        // the file in which the step began
    uint64_t unit_bytes;        // for the patterns of --stream: their smallest size
    uint64_t align_bytes;       // random: alignment of offsets; 0: the operation's size
    // walk: number of reads of each leaf so far, shared by the workers of the stream
    _Atomic uint8_t *leaf_reads;
    struct walk walk;
    struct runs runs;
};

static inline void pattern_next_file(struct pattern *pattern) {
    pattern->offset_bytes = 0;
    pattern->file = pattern->file + 1 < pattern->files ? pattern->file + 1 : 0;
}

// For a ring whose operations all have one size.
static inline void pattern_advance(struct pattern *pattern) {
    pattern->offset_bytes += pattern->block_bytes;
    if (__builtin_expect(pattern->offset_bytes + pattern->block_bytes > pattern->file_bytes, 0)) {
        pattern_next_file(pattern);
    }
}

// Starts a step in the file after the last one that was used, so that short steps do not rewrite the same data.
static inline void pattern_start_step(struct pattern *pattern, uint64_t block_bytes) {
    if (pattern->offset_bytes > 0) {
        pattern_next_file(pattern);
    }
    pattern->block_bytes = block_bytes;
    pattern->first_file = pattern->file;
}

// Operations in one pass over all files of a ring whose operations all have one size; 0 for other patterns.
static inline uint64_t pattern_pass_operations(const struct pattern *pattern) {
    bool has_passes = pattern->kind == PATTERN_RING && pattern->block_bytes > 0;
    return has_passes ? pattern->file_bytes / pattern->block_bytes * pattern->files : 0;
}

// The place of operation n (from 0) of a step in such a ring.
static inline void pattern_position(const struct pattern *pattern, uint64_t n, uint32_t *file, uint64_t *offset_bytes) {
    uint64_t in_file = pattern->file_bytes / pattern->block_bytes;
    *file = (uint32_t)((pattern->first_file + n / in_file) % pattern->files);
    *offset_bytes = n % in_file * pattern->block_bytes;
}

// The patterns of --stream. All shares are in millionths of the total size of the files.

struct pattern_terms {
    uint32_t start_from_ppm, start_to_ppm;      // walk: start of the region (from); runs: range of starts
    uint32_t extent_ppm;                        // walk: width of the region; runs: length of a run
    uint64_t align_bytes;                       // random: alignment of offsets; 0: the operation's size
};

// How many leaves the region of a walk has, in files of the given size.
uint64_t
pattern_walk_leaves(const struct pattern_terms *terms, uint64_t files, uint64_t file_bytes, uint64_t unit_bytes);

// For a pattern whose kind, files, file_bytes, unit_bytes and leaf_reads are set. random: the state of the worker's
// random number generator.
void pattern_open(struct pattern *pattern, const struct pattern_terms *terms, uint64_t *random);

// Chooses the file, offset and block_bytes of the next operation. Its size is a multiple of unit_bytes. No operation
// crosses the end of a file.
void pattern_draw(struct pattern *pattern, uint64_t bytes, bool writes, uint64_t *random);
