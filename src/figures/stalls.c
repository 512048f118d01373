// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "figures/stalls.h"

void stalls_insert(struct stalls *stalls, const struct stall *stall) {
    if (stalls->count == STALLS_KEPT && stall->latency_ns <= stalls->threshold_ns) {
        return;
    }
    size_t at = stalls->count < STALLS_KEPT ? stalls->count++ : STALLS_KEPT - 1;
    for (; at > 0 && stalls->longest[at - 1].latency_ns < stall->latency_ns; at--) {
        stalls->longest[at] = stalls->longest[at - 1];
    }
    stalls->longest[at] = *stall;
    stalls->threshold_ns = stalls->count == STALLS_KEPT ? stalls->longest[STALLS_KEPT - 1].latency_ns : 0;
}
