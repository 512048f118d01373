// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/fidelity.h"

#include "measure/result.h"

static uint64_t count_of(const struct stream_step *stream, enum operation operation) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < stream->workers && stream->recorders[operation] != NULL; i++) {
        count += stream->first_worker[i].figures[operation]->latency.count;
    }
    return count;
}

static uint64_t operations_of(const struct stream_step *stream) {
    return count_of(stream, OPERATION_READ) + count_of(stream, OPERATION_WRITE);
}

static uint64_t elapsed_ns(const struct stream_step *stream) {
    uint64_t end_ns = stream->plan->timeline.start_ns;
    for (uint32_t i = 0; i < stream->workers; i++) {
        end_ns = stream->first_worker[i].finish_ns > end_ns ? stream->first_worker[i].finish_ns : end_ns;
    }
    return end_ns - stream->plan->timeline.start_ns;
}

static double share(uint64_t part, uint64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void put_sizes(const struct stream_step *stream, struct fidelity row, fidelity_put *put, void *context) {
    const struct stream_terms *terms = &stream->stream->terms;
    row.property = "size_share";
    for (uint32_t i = 0; i < terms->sizes_count && terms->sizes_count > 1; i++) {
        char bytes[24];
        uint64_t count = 0;
        for (uint32_t n = 0; n < stream->workers; n++) {
            count += stream->first_worker[n].size_counts[i];
        }
        (void)snprintf(bytes, sizeof bytes, "%" PRIu64, terms->sizes[i]);
        row.item = bytes;
        row.asked = (double)(terms->upto_ppm[i] - (i > 0 ? terms->upto_ppm[i - 1] : 0)) / SHARE_PPM;
        row.achieved = share(count, row.operations);
        put(context, &row);
    }
}

static void put_rate(const struct stream_step *stream, double all_rates, uint64_t all_operations, struct fidelity row,
                     fidelity_put *put, void *context) {
    uint64_t elapsed = elapsed_ns(stream);
    double rate = (double)stream_rate_micro_per_s(stream->stream, stream->plan->key.load_point) / 1e6;
    if (stream->stream->terms.process == ARRIVAL_CLOSED) {
        return;
    }
    row.property = "operations_per_s";
    row.asked = rate;
    row.achieved = elapsed > 0 ? (double)row.operations * 1e9 / (double)elapsed : 0;
    put(context, &row);
    if (all_rates > 0) {
        row.property = "operations_share";
        row.asked = rate / all_rates;
        row.achieved = share(row.operations, all_operations);
        put(context, &row);
    }
}

static void put_stream(const struct stream_step *stream, double all_rates, uint64_t all_operations, fidelity_put *put,
                       void *context) {
    struct fidelity row = {.stream = stream->stream->name, .property = "read_share", .item = "",
                           .operations = operations_of(stream)};
    row.asked = (double)stream->stream->read_ppm / SHARE_PPM;
    row.achieved = share(count_of(stream, OPERATION_READ), row.operations);
    put(context, &row);
    put_sizes(stream, row, put, context);
    put_rate(stream, all_rates, all_operations, row, put, context);
}

// A place may be several directories, one after the other.
static void put_places(const struct workload *workload, fidelity_put *put, void *context) {
    uint64_t all = workload_footprint(workload), bytes = 0;
    for (uint32_t i = 0; i < workload->places_count; i++) {
        const struct place *place = &workload->places[i];
        bytes += place->files * place->file_bytes;
        if (i + 1 < workload->places_count && strcmp(place->name, workload->places[i + 1].name) == 0) {
            continue;
        }
        put(context, &(struct fidelity){.property = "capacity_share",
                                        .item = place->name,
                                        .achieved = share(bytes, all),
                                        .asked = (double)place->share_ppm / SHARE_PPM});
        bytes = 0;
    }
}

void fidelity_each(const struct workers *workers, fidelity_put *put, void *context) {
    const struct workload *workload = workers->workspace->workload;
    double all_rates = 0;
    uint64_t all_operations = 0;
    bool open_loop = true;
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        const struct stream_step *stream = &workers->streams[i];
        all_rates += (double)stream_rate_micro_per_s(stream->stream, stream->plan->key.load_point) / 1e6;
        all_operations += operations_of(stream);
        open_loop = open_loop && stream->stream->terms.process != ARRIVAL_CLOSED;
    }
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        put_stream(&workers->streams[i], open_loop ? all_rates : 0, all_operations, put, context);
    }
    put_places(workload, put, context);
}
