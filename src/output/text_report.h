// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The output for people: the options, a live line during the measurement (plain lines if the output is not a terminal),
// and after each step mqldt's figures under mqldt's names, and percentiles.
#pragma once

#include "output/mqldt_csv.h"
#include "workload/workload.h"

struct screen {
    const struct workload *workload;
    bool terminal;
    uint64_t duration_s;
    uint64_t size_bytes;
    uint32_t load_point;
    uint64_t shown_s;
    struct text summary;        // a row for each step so far
};

void screen_options(const struct options *options);
void screen_initial_write(const struct initial_write *initial_write);
void screen_start_step(struct screen *screen, const struct result_key *step, uint64_t duration_s);
// Updates the live line at most once per second. If the output is not a terminal, prints about ten lines per step.
void screen_elapsed(struct screen *screen, uint64_t elapsed_s);
void screen_end_step(struct screen *screen, uint64_t elapsed_s);
void screen_result(const struct mqldt_row *row, const struct result *all);
void screen_queue_manager(const struct result *one);
// Prints one line for each operation of a stream of --stream, or of all streams together.
void screen_stream(const struct result *all);
void screen_commits(const struct result *all);
void screen_log_of_commits(const struct result *all);

// Prints all steps again at the end, one row each, so that they are the last lines of a log.
void screen_summarize(struct screen *screen, const struct result *all);
void screen_summary(const struct screen *screen);
