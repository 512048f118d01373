// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a writer counts in: a series (series.h) in half the memory. Buckets count in 32 bits; where one overflows, a
// carry keeps its upper part, so that nothing is ever lost.
#ifndef LOGDISK_TALLY_H
#define LOGDISK_TALLY_H

#include "figures/series.h"

#include <stdint.h>

#define TALLY_CARRIES 512               // buckets above 2^32 writes: 2 * 10^12 writes at the least before it is full

struct tally {
    struct statistics statistics;
    uint32_t carries;
    uint32_t counts[HISTOGRAM_BUCKETS];
    struct {
        uint32_t bucket, times;         // bucket has times x 2^32 more
    } carry[TALLY_CARRIES];
};

void tally_carry(struct tally *tally, unsigned bucket);

static inline void tally_add(struct tally *tally, uint64_t ns, uint64_t write) {
    unsigned bucket = histogram_bucket(ns);
    statistics_add(&tally->statistics, ns, write);
    if (__builtin_expect(++tally->counts[bucket] == 0, 0)) {
        tally_carry(tally, bucket);
    }
}

void tally_merge(struct tally *into, const struct tally *from);
// Clears only what is occupied; a tally of zeros (calloc) has to be cleared once before its first use.
void tally_clear(struct tally *tally);
// Adds a tally to a series.
void tally_add_to(const struct tally *tally, struct series *series);

#endif
