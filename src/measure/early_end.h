// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --failAbove=FIGURE:TIME[:SIZES[:LOADS]]: ends a step of the log, and the run with it, as soon as its writes show that
// this limit is broken. For a percentile, the evidence (figures/evidence.h) must beat the odds of --failOdds even if
// the rest of the planned time were quick; for latency_max, a single write is enough. The tester only decides when to
// stop. The verdict is based on the tables.
//
// --passAfter=SECONDS: also ends a step, but not the run, if all of these limits are certainly kept: after that many
// seconds, none of which broke a limit, with evidence that beats the odds of --passOdds. Once a second has broken a
// limit, the step is measured to its end. Therefore, a step can end in this way at one instant only, and repeated
// checks do not make a wrong pass more likely. The step does not end before its files have been written once, while it
// is slower than it was before (a limit of the volume may slow it down), or if several queue managers write.
#pragma once

#include "base/options.h"
#include "base/text.h"
#include "figures/distribution.h"
#include "figures/evidence.h"

// Ending a step sooner would save little.
#define EARLY_END_SECONDS_MIN 60
#define EARLY_END_SECONDS_MAX 7200      // so that memory and processor time are bounded

struct early_end_limit {
    const char *given;                  // as given
    char figure[40];
    enum early_end_method { BY_LONGEST, BY_SHARE_OF_WRITES, BY_SHARE_OF_TIME } method;
    uint64_t part, whole;               // the allowed share
    uint64_t above_ns;
    uint64_t bytes_min, bytes_max, load_min, load_max;          // of the steps that it judges
    bool applies;                       // to the step that runs
    struct evidence_second *seconds;    // of that step
};

struct early_end {
    struct early_end_limit limits[OPTIONS_TEXTS_MAX];
    size_t count;
    double evidence;                    // logarithm of the evidence that breaks a limit on a share
    double evidence_kept;               // and of the evidence that one is kept
    uint64_t pass_after_s;              // 0: kept limits end no step
    uint64_t ring_bytes;                // the size of all files of a queue manager
    uint64_t block_bytes;               // of the step that runs
    uint64_t *writes;                   // in each second of that step
    struct evidence_second *copy;       // of the seconds of a limit, to work on
    size_t seconds, next_look, planned_s;       // of the step that runs
    size_t room;                        // how many seconds fit; later ones do not end a step
    const struct early_end_limit *broken;       // NULL: none so far
    uint32_t step;                      // which it ended
    char reason[512];                   // a sentence; empty: no limit is broken so far
    uint32_t kept_step;                 // the last step that ended because all limits were kept; 0: none
    struct text kept_steps;             // the numbers of all of them, separated by spaces
};

// Returns false, with a failure, if a limit is not well-formed, or if there is not enough memory.
bool early_end_open(struct early_end *early_end, const struct options *options, struct failure *failure);

void early_end_begin_step(struct early_end *early_end, uint64_t block_bytes, uint64_t load_point);

// Takes the next whole second of the step. fastest_ns is the shortest write of these writers so far. Returns true if
// the step should end.
bool early_end_second(struct early_end *early_end, uint32_t step, const struct distribution *latency, uint32_t writers,
                      uint64_t fastest_ns);
