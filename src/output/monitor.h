// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --monitor: the table that people know from tracing MQPUT on AIX (ProbeVue), in microseconds. A row for every few
// seconds of a step, a line if the maximum grew, and a histogram at the end of the step. All workers together.
#pragma once

#include "figures/distribution.h"

struct monitor_figures {
    uint64_t count, sum_ns, min_ns, max_ns;     // the extremes are undefined if count is 0
};

struct monitor {
    uint64_t every_s;                   // seconds in a row; 0: not requested
    uint64_t start_epoch_ns;            // of the measured time
    uint32_t seconds;                   // whole seconds of the step so far
    uint32_t rows;                      // shown
    uint32_t max_second;                // the second in which the longest operation of the next row ended
    struct monitor_figures row, step;   // row: the next row; step: all rows shown
};

// These functions do nothing if not requested.
void monitor_start_step(struct monitor *monitor, uint64_t start_epoch_ns);
// A row appears when the second after it is complete, so that the partial second at the end of a step joins the last
// row.
void monitor_second(struct monitor *monitor, uint32_t second, bool partial, const struct distribution *latency);
void monitor_end_step(struct monitor *monitor, const struct distribution *step);
