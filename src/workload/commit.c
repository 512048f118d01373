// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/workload.h"

bool commit_open(struct workload *workload, const struct options *options) {
    *workload = (struct workload){
        .name = "commit",
        .load_unit = "applications",
        .step_size = "message",
        .step_title = "messages of",
        .sizes = &options->message_sizes,
        .load_points = &options->applications,
        .write_option = "--logBuffer",
        .load_option = "--qm",
        .worker_title = "queue manager",
        .writes = {.count = 2, .values = {LOG_PAGE_BYTES, options->log_buffer_bytes}},
        .streams_count = 1,
        .streams = {{
            .name = "log",
            .pattern = PATTERN_VARYING,
            .sync = (enum sync_mode)options->sync,
            .workers = (uint32_t)options->queue_managers,
            .commits = {
                .buffer_bytes = options->log_buffer_bytes,
                .puts = options->puts_per_commit,
                .rewrites_page = options->triple_write,
                .think_ns = options->think_us * 1000,
                .remote_delay_ns = options->remote_delay_us * 1000,
            },
        }},
    };
    return places_open(workload, options);
}
