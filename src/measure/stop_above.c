// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/stop_above.h"

#include "base/units.h"

#define PART_BYTES 64

static const char whole[] = "all";
static const char *const figures[] = {"latency_mean", "response_mean", NULL};
enum { LATENCY, RESPONSE };

struct limit {
    char stream[PART_BYTES], operation[PART_BYTES], figure[PART_BYTES];
    bool is_response;
    uint64_t ns;
};

// Copies the text before the next colon; NULL if it is missing or too long.
static const char *take(const char *text, char part[PART_BYTES]) {
    size_t length = strcspn(text, ":");
    if (length == 0 || length >= PART_BYTES || text[length] != ':') {
        return NULL;
    }
    (void)snprintf(part, PART_BYTES, "%.*s", (int)length, text);
    return text + length + 1;
}

static bool parse(const char *text, struct limit *limit) {
    const char *rest = take(text, limit->stream);
    rest = rest != NULL ? take(rest, limit->operation) : NULL;
    rest = rest != NULL ? take(rest, limit->figure) : NULL;
    limit->is_response = rest != NULL && strcmp(limit->figure, figures[RESPONSE]) == 0;
    return rest != NULL && (limit->is_response || strcmp(limit->figure, figures[LATENCY]) == 0) &&
           parse_duration(rest, &limit->ns) && limit->ns > 0;
}

static bool has(const struct stream *stream, const struct limit *limit) {
    for (int operation = 0; operation < OPERATION_COMMIT; operation++) {
        if (strcmp(limit->stream, stream->name) == 0 && strcmp(limit->operation, operation_name(operation)) == 0) {
            return stream_has(stream, operation) && (!limit->is_response || stream_is_open_loop(stream));
        }
    }
    return false;
}

// Returns whether the workload has the row and the figure that a limit names.
static bool is_known(const struct limit *limit, const struct workload *workload) {
    bool is_whole = strcmp(limit->stream, whole) == 0, one = false, every = true;
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        one |= has(&workload->streams[i], limit);
        every &= !limit->is_response || stream_is_open_loop(&workload->streams[i]);
    }
    return is_whole ? strcmp(limit->operation, whole) == 0 && every : one;
}

bool stop_above_open(struct stop_above *stop_above, const struct text_list *limits, const struct workload *workload,
                     struct failure *failure) {
    stop_above->limits = limits;
    for (size_t i = 0; i < limits->count; i++) {
        struct limit limit;
        if (!parse(limits->values[i], &limit)) {
            return failure_set(failure, EXIT_USAGE,
                               "--stopAbove: '%.200s' is not allowed; allowed: STREAM:OPERATION:FIGURE:TIME, with the "
                               "figure %s or %s; try --stopAbove=db:read:latency_mean:20ms",
                               limits->values[i], figures[LATENCY], figures[RESPONSE]);
        }
        if (!is_known(&limit, workload)) {
            return failure_set(
                failure, EXIT_USAGE,
                "--stopAbove: '%.200s': the workload does not have this stream with this operation and figure; "
                "allowed: a stream and read or write, or all:all; response_mean only of streams with a rate",
                limits->values[i]);
        }
    }
    return true;
}

void stop_above_look(struct stop_above *stop_above, const struct result *all) {
    for (size_t i = 0; i < stop_above->limits->count && stop_above->reason[0] == '\0'; i++) {
        struct limit limit;
        if (!parse(stop_above->limits->values[i], &limit) || strcmp(limit.stream, all->key.stream) != 0 ||
            strcmp(limit.operation, all->key.operation) != 0) {
            continue;
        }
        const struct distribution *times = limit.is_response ? all->response : all->latency;
        double mean_ns = times != NULL ? distribution_mean_ns(times) : 0;
        if (mean_ns > (double)limit.ns) {
            (void)snprintf(stop_above->reason, sizeof stop_above->reason,
                           "%s of %s, %s was %.0f ns at load point %" PRIu32 ", above the %" PRIu64
                           " ns of --stopAbove: no further steps were made",
                           limit.figure, limit.stream, limit.operation, mean_ns, all->key.load_point, limit.ns);
        }
    }
}
