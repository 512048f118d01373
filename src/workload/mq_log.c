// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/workload.h"

bool mq_log_open(struct workload *workload, const struct options *options) {
    *workload = (struct workload){
        .name = "mq-log",
        .load_unit = "queue managers",
        .step_size = "block",
        .step_title = "write blocksize",
        .sizes = &options->block_sizes,
        .load_points = &options->load_points,
        .write_option = "--bsize",
        .load_option = "--qm",
        .worker_title = "queue manager",
        .writes = options->block_sizes,
        .streams_count = 1,
        .streams = {{
            .name = "log",
            .pattern = PATTERN_RING,
            .sync = (enum sync_mode)options->sync,
            .arrival = {.pause_ns = options->delay_us * 1000, .rate_micro_per_s = options->rate_micro_per_s},
            .workers = 1,
            .scales = true,
        }},
    };
    return places_open(workload, options);
}
