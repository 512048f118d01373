// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "measure/result.h"

#include "base/clock.h"

#include <math.h>

#define STEADY_MIN_DURATION_NS (60 * NS_PER_S)
#define STEADY_SPREAD_SHARE 0.20
#define STEADY_SLOPE_SHARE 0.10

static uint64_t since(uint64_t later_ns, uint64_t earlier_ns) {
    return later_ns > earlier_ns ? later_ns - earlier_ns : 0;
}

static void merge(struct distribution *into, const struct distribution *from) {
    if (into != NULL) {
        distribution_merge(into, from);
    }
}

struct result_key result_key_of(const struct stream_step *stream, enum operation operation,
                                const struct result_key *step) {
    return (struct result_key){.step = step->step, .block_bytes = stream->block_bytes, .load_point = step->load_point,
                               .stream = stream->stream->name, .operation = operation_name(operation)};
}

// In an open loop the workers' first operations are shifted against each other on purpose.
static uint64_t planned_start_ns(const struct worker *worker) {
    return worker->stream->stream->arrival.rate_micro_per_s > 0 ? worker_schedule(worker).origin_ns
                                                                : worker->stream->plan->begin_ns;
}

struct result result_of_worker(const struct worker *worker, enum operation operation, const struct result_key *step,
                               uint64_t start_epoch_ns) {
    const struct stream_step *stream = worker->stream;
    const struct figures *figures = worker->figures[operation];
    uint64_t operations = figures->latency.count;
    bool passed = worker->first_pass_ended && figures->first_pass_operations > 0;
    struct result result = {
        .key = result_key_of(stream, operation, step),
        .start_epoch_ns = start_epoch_ns,
        .elapsed_ns = since(worker->finish_ns, stream->plan->timeline.start_ns),
        .bytes = operations * stream->block_bytes,
        .has_intervals = worker->whole_seconds > 0,
        .interval_bytes_max = figures->second_operations_max * stream->block_bytes,
        .interval_bytes_min = worker->whole_seconds > 0 ? figures->second_operations_min * stream->block_bytes : 0,
        .latency = &figures->latency,
        .flush = figures->flush,
        .response = figures->response,
        .min_worker = worker->number,
        .max_worker = worker->number,
        .ring_passes = worker->pass_operations > 0 ? (double)operations / (double)worker->pass_operations : NAN,
        .first_pass_operations = passed ? figures->first_pass_operations : 0,
        .first_pass_sum_ns = passed ? figures->first_pass_sum_ns : 0,
        .later_operations = passed ? operations - figures->first_pass_operations : 0,
        .later_sum_ns = passed ? figures->latency.sum_ns - figures->first_pass_sum_ns : 0,
        .operations_not_started = figures->not_started,
        .start_skew_ns = since(worker->first_start_ns, planned_start_ns(worker)),
    };
    result.key.worker = worker->number;
    return result;
}

// SNIA's steady state over the five rounds: spread and the rise of the fitted line, as shares of the mean; and the
// last two rounds against the first two, which shows burst credits running out.
static void judge_rounds(struct result *result, const struct recorder *recorder) {
    if (recorder->rounds_done < TIMELINE_ROUNDS || recorder->rounds[TIMELINE_ROUNDS - 1].partial ||
        recorder->timeline.duration_ns < STEADY_MIN_DURATION_NS) {
        return;
    }
    double mean[TIMELINE_ROUNDS], sum = 0, moment = 0, min = INFINITY, max = 0;
    for (int i = 0; i < TIMELINE_ROUNDS; i++) {
        if (recorder->rounds[i].operations == 0) {
            return;
        }
        mean[i] = (double)recorder->rounds[i].latency_sum_ns / (double)recorder->rounds[i].operations;
        sum += mean[i];
        moment += mean[i] * (i - (TIMELINE_ROUNDS - 1) / 2);
        min = fmin(min, mean[i]);
        max = fmax(max, mean[i]);
    }
    double average = sum / TIMELINE_ROUNDS;
    double slope = moment / 10;         // the sum of (i - 2)^2 over five rounds
    result->has_rounds = true;
    result->round_spread_share = (max - min) / average;
    result->round_slope_share = slope * (TIMELINE_ROUNDS - 1) / average;
    result->late_to_early_ratio = (mean[3] + mean[4]) / (mean[0] + mean[1]);
    result->steady = result->round_spread_share <= STEADY_SPREAD_SHARE &&
                     fabs(result->round_slope_share) <= STEADY_SLOPE_SHARE;
}

// Whose minimum and maximum the row of all has: the first of equals, as in distribution_merge.
static void note_extremes(struct result *all, const struct result *one) {
    if (one->latency->count > 0 && (all->latency->count == 0 || one->latency->min_ns < all->latency->min_ns)) {
        all->min_worker = one->key.worker;
    }
    if (one->latency->count > 0 && (all->latency->count == 0 || one->latency->max_ns > all->latency->max_ns)) {
        all->max_worker = one->key.worker;
    }
}

static void add_worker(struct result *all, struct figures *figures, const struct result *one, uint32_t workers) {
    note_extremes(all, one);
    merge(&figures->latency, one->latency);
    merge(figures->flush, one->flush);
    merge(figures->response, one->response);
    all->elapsed_ns = one->elapsed_ns > all->elapsed_ns ? one->elapsed_ns : all->elapsed_ns;
    all->bytes += one->bytes;
    all->ring_passes += one->ring_passes / workers;
    all->first_pass_operations += one->first_pass_operations;
    all->first_pass_sum_ns += one->first_pass_sum_ns;
    all->later_operations += one->later_operations;
    all->later_sum_ns += one->later_sum_ns;
    all->operations_not_started += one->operations_not_started;
    all->start_skew_ns = one->start_skew_ns > all->start_skew_ns ? one->start_skew_ns : all->start_skew_ns;
}

struct result result_of_all(const struct stream_step *stream, enum operation operation, const struct result_key *step,
                            uint64_t start_epoch_ns) {
    const struct recorder *recorder = stream->recorders[operation];
    struct figures *figures = stream->all[operation];
    bool has_intervals = recorder->whole_seconds > 0;
    struct result all = {
        .key = result_key_of(stream, operation, step),
        .start_epoch_ns = start_epoch_ns,
        .latency = &figures->latency,
        .flush = figures->flush,
        .response = figures->response,
        .min_worker = 1,
        .max_worker = 1,
        .has_intervals = has_intervals,
        .interval_bytes_max = recorder->second_operations_max * stream->block_bytes,
        .interval_bytes_min = has_intervals ? recorder->second_operations_min * stream->block_bytes : 0,
    };
    figures_clear(figures);
    for (uint32_t i = 0; i < stream->workers; i++) {
        struct result one = result_of_worker(&stream->first_worker[i], operation, step, start_epoch_ns);
        add_worker(&all, figures, &one, stream->workers);
    }
    judge_rounds(&all, recorder);
    return all;
}

void result_note_in_flight(struct result *result, const struct stall *stall) {
    if (stall->latency_ns > result_max_ns(result)) {
        result->max_in_flight = true;
        result->in_flight_max_ns = stall->latency_ns;
        result->in_flight_ordinal = stall->ordinal;
        result->max_worker = stall->worker;
    }
}

uint64_t result_max_ns(const struct result *result) {
    return result->max_in_flight ? result->in_flight_max_ns : result->latency->max_ns;
}

double result_bytes_per_s(const struct result *result) {
    return result->elapsed_ns > 0 ? (double)result->bytes * (double)NS_PER_S / (double)result->elapsed_ns : 0;
}

double result_operations_per_s(const struct result *result) {
    return result_bytes_per_s(result) / (double)result->key.block_bytes;
}
