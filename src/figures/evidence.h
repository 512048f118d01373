// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Measures the evidence, from the seconds of a step, that more than an allowed share of the writes, or of their time,
// is over a threshold. It is used to end a step early, and is the evidence of the whole step if all of its other
// seconds were quick: whatever they would have been, the whole step would have had at least as much.
//
// Seconds are grouped into blocks, and the evidence is the product of one bet per block, as in
// plugins/plugin_utils/_judge/statistics.py. Disks are slow in bursts, so statistics.py chooses the length of blocks by
// their correlation, which is not known before the step has ended. The evidence here is the smallest over all lengths
// and offsets that statistics.py may choose, for the whole step or for the seconds so far.
//
// There is also evidence that the claim is kept, but only from steps in which every second keeps it. statistics.py then
// uses blocks of one second.
#pragma once

#include "base/standard.h"

// The number of writes in a second, or the nanoseconds that they took.
struct evidence_second {
    uint64_t total, over;
};

// The claim that at most part/whole of the total is over the threshold. fastest_ns: the shortest write of these
// writers; 0 if the total is time. threshold_ns is used only for evidence that the claim is kept.
struct evidence_claim {
    uint64_t part, whole;
    uint64_t writers, fastest_ns;
    uint64_t threshold_ns;
};

// The seconds so far, and the length of the whole step. running: the sums up to the end of each second. quick: the
// total of each second that is not measured yet, in which nothing is over the threshold.
struct evidence_step {
    const struct evidence_second *running;
    size_t seconds, planned_s;
    uint64_t quick;
};

// Returns the natural logarithm of the evidence against the claim, with blocks of block_s seconds. If first_s is not 0,
// the first block has only that many seconds. Returns -INFINITY if the share over the threshold is allowed.
double evidence_of_blocks(const struct evidence_claim *claim, const struct evidence_step *step, size_t block_s,
                          size_t first_s);

// Returns the smallest evidence over all blocks that statistics.py may form.
double evidence_against(const struct evidence_claim *claim, const struct evidence_step *step);

// Replaces each second with the sum of the seconds up to its end.
void evidence_add_up(struct evidence_second *seconds, size_t count);

// Returns the natural logarithm of the evidence that the claim is kept. Returns -INFINITY if one of the seconds does
// not keep it.
double evidence_for(const struct evidence_claim *claim, const struct evidence_second *seconds, size_t count);

// Moves time from the second in which a write returned to the seconds in which it was spent.
void evidence_move_back(struct evidence_second *seconds, size_t count, uint64_t writers);
