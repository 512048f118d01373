// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/workload.h"

static bool open_place(struct place *place, const struct options *options, uint32_t queue_manager) {
    char path[PATH_MAX];
    *place = (struct place){
        .path = options_directory(options, queue_manager, path, sizeof path) ? strdup(path) : NULL,
        .file_prefix = options->file_prefix,
        .files = options->files,
        .file_bytes = options->file_bytes,
        .sync = (enum sync_mode)options->sync,
        .direct = options->direct != 0,
        .fd = -1,
        .fds = malloc(options->files * sizeof *place->fds),
    };
    for (uint64_t file = 0; place->fds != NULL && file < place->files; file++) {
        place->fds[file] = -1;
    }
    return place->path != NULL && place->fds != NULL;
}

bool places_open(struct workload *workload, const struct options *options) {
    workload->places = calloc(options->queue_managers, sizeof *workload->places);
    bool good = workload->places != NULL;
    while (good && workload->places_count < options->queue_managers) {
        good = open_place(&workload->places[workload->places_count], options, workload->places_count + 1);
        workload->places_count++;
    }
    return good;
}

uint64_t workload_footprint(const struct workload *workload) {
    uint128 bytes = 0;
    for (uint32_t i = 0; i < workload->places_count; i++) {
        bytes += (uint128)workload->places[i].file_bytes * workload->places[i].files;
    }
    return bytes < UINT64_MAX ? (uint64_t)bytes : UINT64_MAX;
}

uint64_t workload_load_max(const struct workload *workload) {
    uint64_t max = 0;
    for (size_t i = 0; i < workload->load_points->count; i++) {
        max = workload->load_points->values[i] > max ? workload->load_points->values[i] : max;
    }
    return max;
}
