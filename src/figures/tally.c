// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "figures/tally.h"

#include <string.h>

void tally_carry(struct tally *tally, unsigned bucket) {
    uint32_t at = 0;
    while (at < tally->carries && tally->carry[at].bucket != bucket) {
        at++;
    }
    if (at == TALLY_CARRIES) {
        return;
    }
    if (at == tally->carries) {
        tally->carries++;
        tally->carry[at].bucket = bucket;
        tally->carry[at].times = 0;
    }
    tally->carry[at].times++;
}

void tally_merge(struct tally *into, const struct tally *from) {
    if (from->statistics.count == 0) {
        return;
    }
    struct bucket_range range = statistics_range(&from->statistics);
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        into->counts[bucket] += from->counts[bucket];
        if (into->counts[bucket] < from->counts[bucket]) {
            tally_carry(into, bucket);
        }
    }
    for (uint32_t i = 0; i < from->carries; i++) {
        for (uint32_t times = 0; times < from->carry[i].times; times++) {
            tally_carry(into, from->carry[i].bucket);
        }
    }
    statistics_merge(&into->statistics, &from->statistics);
}

void tally_clear(struct tally *tally) {
    if (tally->statistics.count > 0) {
        struct bucket_range range = statistics_range(&tally->statistics);
        memset(&tally->counts[range.first], 0, (range.last - range.first + 1) * sizeof tally->counts[0]);
    }
    tally->carries = 0;
    statistics_clear(&tally->statistics);
}

void tally_add_to(const struct tally *tally, struct series *series) {
    if (tally->statistics.count == 0) {
        return;
    }
    struct bucket_range range = statistics_range(&tally->statistics);
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        series->histogram.counts[bucket] += tally->counts[bucket];
    }
    for (uint32_t i = 0; i < tally->carries; i++) {
        series->histogram.counts[tally->carry[i].bucket] += (uint64_t)tally->carry[i].times << 32;
    }
    statistics_merge(&series->statistics, &tally->statistics);
}
