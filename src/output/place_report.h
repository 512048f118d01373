// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The output about the places of --place: reads and writes of all streams of a place together, and of all places
// together. It is printed after each step and, with --monitor, for every few seconds of the step.
#pragma once

#include "measure/result.h"

#define PLACE_PERIODS (RECORDER_PENDING + 1)    // no stream gets this far ahead of another

struct place_figures {
    uint64_t count, sum_ns, max_ns;
    uint64_t response_count, response_sum_ns;
};

struct place_period {
    uint32_t delivered;                 // seconds delivered so far, by all streams and operations together
    uint32_t seconds;                   // seconds of the period that have passed
    struct place_figures of[WORKLOAD_STREAMS_MAX][OPERATIONS];
};

struct place_report {
    const struct workload *workload;
    uint64_t every_s;                   // seconds in a period; 0: no periods are shown
    uint32_t sources;                   // how many pairs of a stream and an operation deliver seconds
    uint32_t next;                      // number of the next period to be shown, from 0
    struct place_period periods[PLACE_PERIODS];
    struct place_figures step[WORKLOAD_STREAMS_MAX][OPERATIONS];
};

// Shows nothing if the workload was not defined with --stream.
void place_report_start_step(struct place_report *report, const struct workload *workload, uint64_t every_s);
// Adds a whole second (numbered from 1) of one operation of a stream. Streams may be some seconds apart: a period is
// shown when all streams have completed it.
void place_report_second(struct place_report *report, const struct stream *stream, enum operation operation,
                         uint32_t second, const struct distribution *latency);
// Shows the last period if it is shorter than the others.
void place_report_end_periods(struct place_report *report);
// Adds a whole step of one operation of a stream.
void place_report_add(struct place_report *report, const struct stream *stream, enum operation operation,
                      const struct result *all);
void place_report_end_step(struct place_report *report, uint64_t elapsed_ns);
