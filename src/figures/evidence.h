// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Evidence from the seconds of a step that more than an allowed share of the writes, or of their time, is over a
// threshold. It may end a step at any time.
//
// For blocks of some seconds each it is a product of bets, as in plugins/plugin_utils/_judge/statistics.py: if the
// share is allowed and blocks are independent, it ever reaches x with a probability of at most 1/x, however often it
// is looked at (Ville). Disks are slow in bursts, so seconds may not be independent. The judge chooses the length of
// blocks by their correlation, which changes from look to look. The evidence here is the least that any such choice
// leads to, so only one of them has to be right, and the judge comes to the same result whatever it chooses.
#pragma once

#include "base/standard.h"

// A second: writes, or nanoseconds that they took.
struct evidence_second {
    uint64_t total, over;
};

// That at most part/whole of the total is over, of that many writers whose shortest write took that long. fastest_ns
// is 0 if the total is time.
struct evidence_claim {
    uint64_t part, whole;
    uint64_t writers, fastest_ns;
};

// The natural logarithm of the evidence against the claim if blocks of that many seconds are formed, of which the first
// one may be shorter (first_s; 0: it is not). -INFINITY if no more than the allowed share is over.
double evidence_of_blocks(const struct evidence_claim *claim, const struct evidence_second *seconds, size_t count,
                          size_t block_s, size_t first_s);

// The least of all blocks that the judge may form from these seconds, and from one more.
double evidence_against(const struct evidence_claim *claim, const struct evidence_second *seconds, size_t count);

// Moves time back from the second in which a write returned to those in which it was spent.
void evidence_move_back(struct evidence_second *seconds, size_t count, uint64_t writers);
