// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --monitor: the table that is familiar from tracing MQPUT on AIX (ProbeVue), in microseconds. It has a row for every
// few seconds of a step, a line each time the maximum increases, and a histogram at the end of the step. All workers
// are counted together.
#pragma once

#include "figures/distribution.h"

struct monitor_figures {
    uint64_t count, sum_ns, min_ns, max_ns;     // if count is 0, the extremes are undefined
};

struct monitor {
    uint64_t every_s;                   // seconds in a row; 0: not requested
    uint64_t start_epoch_ns;            // start of the measured time
    uint32_t seconds;                   // whole seconds of the step so far
    uint32_t rows;                      // number of rows shown
    uint32_t max_second;                // the second in which the longest operation of the next row ended
    struct monitor_figures row, step;   // row: the next row; step: all rows shown
};

// These functions do nothing if --monitor was not given.
void monitor_start_step(struct monitor *monitor, uint64_t start_epoch_ns);
// A row is shown one second after it is complete, so that the partial second at the end of a step can be added to the
// last row.
void monitor_second(struct monitor *monitor, uint32_t second, bool partial, const struct distribution *latency);
void monitor_end_step(struct monitor *monitor, const struct distribution *step);
