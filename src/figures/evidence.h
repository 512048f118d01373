// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Evidence, from the seconds of a step, that more than an allowed share of the writes, or of their time, is over a
// threshold. It may end a step at any time.
//
// The seconds form blocks, and the evidence is a product of one bet per block, as in
// plugins/plugin_utils/_judge/statistics.py: if the limit is kept and blocks are independent, the probability that it
// ever reaches x is at most 1/x, however often it is checked (Ville). Disks are slow in bursts, so seconds may not be
// independent. The judge chooses the length of blocks by their correlation, which can change each time. The evidence
// here is the least over all lengths that the judge may choose, so it holds if one of them is right, and the judge
// reaches the same conclusion whichever it chooses.
#pragma once

#include "base/standard.h"

// The writes of a second, or the nanoseconds that they took.
struct evidence_second {
    uint64_t total, over;
};

// The claim that at most part/whole of the total is over the threshold. fastest_ns: the shortest write of these
// writers; 0 if the total is time.
struct evidence_claim {
    uint64_t part, whole;
    uint64_t writers, fastest_ns;
};

// The natural logarithm of the evidence against the claim, with blocks of block_s seconds. The first block may be
// shorter (first_s; 0: it is not). -INFINITY if no more than the allowed share is over.
double evidence_of_blocks(const struct evidence_claim *claim, const struct evidence_second *seconds, size_t count,
                          size_t block_s, size_t first_s);

// The least evidence over all blocks that the judge may form from these seconds, or from one more second.
double evidence_against(const struct evidence_claim *claim, const struct evidence_second *seconds, size_t count);

// Moves time back from the second in which a write returned to those in which it was spent.
void evidence_move_back(struct evidence_second *seconds, size_t count, uint64_t writers);
