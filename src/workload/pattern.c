// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/pattern.h"

#include "workload/payload.h"

__extension__ typedef unsigned __int128 wide;

const char *const pattern_names[] = {"ring", "random", "walk", "runs", NULL};

// The bias is too small to measure.
static uint64_t random_below(uint64_t *random, uint64_t end) {
    return (uint64_t)((wide)splitmix64(random) * end >> 64);
}

static bool happens(uint64_t *random, uint32_t ppm) {
    return random_below(random, SHARE_PPM) < ppm;
}

static uint64_t share_of(uint64_t whole, uint32_t ppm) {
    return (uint64_t)((wide)whole * ppm / SHARE_PPM);
}

// Moves to unit number n. Every file holds a whole number of units.
static void go_to(struct pattern *pattern, uint64_t n, uint64_t unit_bytes) {
    uint64_t in_file = pattern->file_bytes / unit_bytes;
    pattern->file = (uint32_t)(n / in_file);
    pattern->offset_bytes = n % in_file * unit_bytes;
}

static uint64_t leaves_of(uint64_t files, uint64_t file_bytes, uint64_t unit_bytes) {
    return file_bytes / (unit_bytes * WALK_BLOCKS_A_LEAF) * files;
}

uint64_t
pattern_walk_leaves(const struct pattern_terms *terms, uint64_t files, uint64_t file_bytes, uint64_t unit_bytes) {
    uint64_t region = share_of(leaves_of(files, file_bytes, unit_bytes), terms->extent_ppm);
    return region > 0 ? region : 1;
}

static void open_walk(struct pattern *pattern, const struct pattern_terms *terms, uint64_t *random) {
    struct walk *walk = &pattern->walk;
    uint64_t leaves = leaves_of(pattern->files, pattern->file_bytes, pattern->unit_bytes);
    uint64_t region = pattern_walk_leaves(terms, pattern->files, pattern->file_bytes, pattern->unit_bytes);
    uint64_t first = share_of(leaves, terms->start_from_ppm);
    *walk = (struct walk){.leaves = region, .top = region > 1 ? 64 - (uint32_t)__builtin_clzll(region - 1) : 0};
    walk->first_leaf = first + region <= leaves ? first : leaves - region;
    walk->leaf = random_below(random, region);
}

static void open_runs(struct pattern *pattern, const struct pattern_terms *terms) {
    uint64_t units = pattern->file_bytes / pattern->unit_bytes * pattern->files;
    pattern->runs = (struct runs){
        .from = share_of(units, terms->start_from_ppm),
        .to = share_of(units, terms->start_to_ppm),
        .length = share_of(units, terms->extent_ppm),
    };
}

void pattern_open(struct pattern *pattern, const struct pattern_terms *terms, uint64_t *random) {
    pattern->align_bytes = terms->align_bytes;
    if (pattern->kind == PATTERN_WALK) {
        open_walk(pattern, terms, random);
    } else if (pattern->kind == PATTERN_RUNS) {
        open_runs(pattern, terms);
    }
}

static void draw_ring(struct pattern *pattern, uint64_t bytes) {
    pattern->offset_bytes += pattern->block_bytes;
    if (pattern->offset_bytes + bytes > pattern->file_bytes) {
        pattern_next_file(pattern);
    }
}

static void draw_random(struct pattern *pattern, uint64_t bytes, uint64_t *random) {
    uint64_t step = pattern->align_bytes > 0 ? pattern->align_bytes : bytes;
    go_to(pattern, random_below(random, pattern->file_bytes / step * pattern->files), step);
}

static uint64_t next_leaf(const struct walk *walk, bool writes, uint64_t *random) {
    uint64_t leaf = walk->leaf;
    for (int draw = 0; draw < WALK_DRAWS_MAX; draw++) {
        uint32_t height = WALK_HEIGHT_MIN;
        while (height < walk->top && happens(random, WALK_CLIMB_PPM)) {
            height++;
        }
        leaf = (leaf >> height << height) + random_below(random, UINT64_C(1) << height);
        leaf -= writes ? leaf % WALK_LEAVES_A_WRITE : 0;
        if (leaf < walk->leaves) {
            return leaf;
        }
    }
    return random_below(random, walk->leaves);
}

static uint64_t next_block(struct pattern *pattern, bool writes, uint64_t *random) {
    _Atomic uint8_t *reads = &pattern->leaf_reads[pattern->walk.leaf];
    if (!writes) {
        return atomic_fetch_add_explicit(reads, 1, memory_order_relaxed) % WALK_BLOCKS_A_LEAF;
    }
    if (happens(random, WALK_READ_BLOCK_PPM)) {
        return (uint8_t)(atomic_load_explicit(reads, memory_order_relaxed) - 1) % WALK_BLOCKS_A_LEAF;
    }
    return random_below(random, WALK_BLOCKS_A_LEAF);
}

static void draw_walk(struct pattern *pattern, bool writes, uint64_t *random) {
    struct walk *walk = &pattern->walk;
    uint64_t block = walk->written_block;
    if (writes && walk->rewrites) {
        walk->rewrites = false;
        walk->leaf = walk->written_leaf;
    } else {
        walk->leaf = next_leaf(walk, writes, random);
        block = next_block(pattern, writes, random);
        if (writes) {
            walk->rewrites = happens(random, WALK_REWRITE_PPM);
            walk->written_leaf = walk->leaf;
            walk->written_block = block;
        }
    }
    go_to(pattern, walk->first_leaf + walk->leaf, pattern->unit_bytes * WALK_BLOCKS_A_LEAF);
    pattern->offset_bytes += block * pattern->unit_bytes;
}

// Returns the first unit, starting from the given one, that is followed by enough units in the same file. In the last
// file, it may be before the given one.
static uint64_t fit(const struct pattern *pattern, uint64_t at, uint64_t units) {
    uint64_t in_file = pattern->file_bytes / pattern->unit_bytes, all = in_file * pattern->files;
    uint64_t fits = at % in_file + units <= in_file ? at : at - at % in_file + in_file;
    return fits + units <= all ? fits : all - units;
}

static void draw_run(struct pattern *pattern, uint64_t bytes, uint64_t *random) {
    struct runs *runs = &pattern->runs;
    uint64_t units = bytes / pattern->unit_bytes, at = fit(pattern, runs->next, units);
    if (runs->end == 0 || at < runs->next || at + units > runs->end) {
        at = runs->from + random_below(random, runs->to - runs->from + 1);
        runs->end = at + runs->length;
        at = fit(pattern, at, units);
    }
    runs->next = at + units;
    go_to(pattern, at, pattern->unit_bytes);
}

void pattern_draw(struct pattern *pattern, uint64_t bytes, bool writes, uint64_t *random) {
    switch (pattern->kind) {
    case PATTERN_RANDOM: draw_random(pattern, bytes, random); break;
    case PATTERN_WALK: draw_walk(pattern, writes, random); break;
    case PATTERN_RUNS: draw_run(pattern, bytes, random); break;
    default: draw_ring(pattern, bytes); break;
    }
    pattern->block_bytes = bytes;
}
