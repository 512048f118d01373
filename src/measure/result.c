// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/result.h"

#include <math.h>

#define STEADY_MIN_DURATION_NS (60 * NS_PER_S)
#define STEADY_SPREAD_SHARE 0.20
#define STEADY_SLOPE_SHARE 0.10

static uint64_t since(uint64_t later_ns, uint64_t earlier_ns) {
    return later_ns > earlier_ns ? later_ns - earlier_ns : 0;
}

struct result_key result_key_of(const struct stream_step *stream, enum operation operation) {
    return (struct result_key){.step = stream->plan->key.step, .load_point = stream->plan->key.load_point,
                               .block_bytes = stream->block_bytes,
                               .stream = operation == OPERATION_COMMIT ? "commit" : stream->stream->name,
                               .operation = operation_name(operation)};
}

static struct result start_result(const struct stream_step *stream, enum operation operation,
                                  const struct figures *figures, const struct seconds *seconds) {
    return (struct result){
        .key = result_key_of(stream, operation),
        .start_epoch_ns = stream->plan->start_epoch_ns,
        .has_intervals = seconds->count > 0,
        .interval_bytes_max = seconds->bytes_max,
        .interval_bytes_min = seconds->bytes_min,
        .latency = &figures->latency,
        .flush = figures->flush,
        .response = figures->response,
        .sizes = figures->sizes,
        .messages_per_s = NAN,
        .utilisation_share = NAN,
    };
}

static void set_rates(struct result *result, const struct stream_step *stream, enum operation operation,
                      uint64_t operations) {
    double elapsed_s = (double)result->elapsed_ns / 1e9;
    result->bytes_per_s = result->elapsed_ns > 0 ? (double)result->bytes / elapsed_s : 0;
    result->operations_per_s = result->elapsed_ns > 0 ? (double)operations / elapsed_s : 0;
    if (operation == OPERATION_COMMIT) {
        result->messages_per_s = result->operations_per_s * (double)stream->stream->commits.puts;
    }
}

static double ring_passes(const struct worker *worker, uint64_t operations, uint64_t bytes) {
    const struct pattern *pattern = &worker->pattern;
    if (worker->pass_operations > 0) {
        return (double)operations / (double)worker->pass_operations;
    }
    bool goes_round = pattern->kind == PATTERN_VARYING || pattern->kind == PATTERN_RING;
    return goes_round ? (double)bytes / (double)(pattern->file_bytes * pattern->files) : NAN;
}

// If a write hangs at the end, its age is counted.
static double utilisation_share(const struct worker *worker, const struct figures *figures, uint64_t elapsed_ns) {
    uint64_t hung_ns = figures->in_flight.in_flight ? figures->in_flight.latency_ns : 0;
    double busy_ns = (double)(figures->latency.sum_ns + worker->remote_ns + hung_ns);
    return elapsed_ns > 0 ? fmin(busy_ns / (double)elapsed_ns, 1) : NAN;
}

struct result result_of_worker(const struct worker *worker, enum operation operation) {
    const struct figures *figures = worker->figures[operation];
    const struct stall *in_flight = &figures->in_flight;
    struct result result = start_result(worker->stream, operation, figures, &figures->seconds);
    uint64_t operations = figures->latency.count;
    result.key.worker = result.min_worker = result.max_worker = worker->number;
    result.elapsed_ns = since(worker->finish_ns, worker->stream->plan->timeline.start_ns);
    result.bytes = figures->latency.bytes;
    if (figures->sizes != NULL) {
        result.record_bytes = worker->record_bytes;
        result.utilisation_share = utilisation_share(worker, figures, result.elapsed_ns);
    }
    set_rates(&result, worker->stream, operation, operations);
    result.worker_second_max = result.has_intervals ? result.interval_bytes_max : (uint64_t)result.bytes_per_s;
    result.worker_second_min = result.has_intervals ? result.interval_bytes_min : (uint64_t)result.bytes_per_s;
    result.max_in_flight = in_flight->in_flight && in_flight->latency_ns > figures->latency.max_ns;
    result.max_ns = result.max_in_flight ? in_flight->latency_ns : figures->latency.max_ns;
    result.max_ordinal = result.max_in_flight ? in_flight->ordinal : figures->latency.max_ordinal;
    result.ring_passes = operation == OPERATION_COMMIT ? NAN : ring_passes(worker, operations, result.bytes);
    result.operations_not_started = figures->not_started;
    result.counts_over = stream_counts_workers(worker->stream, operation);
    result.over_counted = !worker->stream->over_too_many;
    bool described = stream_is_described(worker->stream->stream);
    result.start_skew_ns =
        since(worker->first_start_ns, described ? worker->first_due_ns : worker_schedule(worker).origin_ns);
    if (figures->first_pass_operations > 0) {
        result.first_pass_operations = figures->first_pass_operations;
        result.first_pass_sum_ns = figures->first_pass_sum_ns;
        result.later_operations = operations - figures->first_pass_operations;
        result.later_sum_ns = figures->latency.sum_ns - figures->first_pass_sum_ns;
    }
    return result;
}

// SNIA's steady state over the five rounds: the spread, and the rise of the fitted line, as shares of the mean. Also
// compares the last two rounds with the first two, to show whether burst credits ran out.
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

// If several extremes are equal, the first one counts, as in distribution_merge.
static void add_worker(struct result *all, struct figures *figures, const struct result *one, uint32_t workers) {
    if (one->latency->min_ns < figures->latency.min_ns) {
        all->min_worker = one->key.worker;
    }
    if (one->max_ordinal > 0 && (all->max_ordinal == 0 || one->max_ns > all->max_ns)) {
        all->max_ns = one->max_ns;
        all->max_ordinal = one->max_ordinal;
        all->max_in_flight = one->max_in_flight;
        all->max_worker = one->key.worker;
    }
    distribution_merge(&figures->latency, one->latency);
    distribution_merge(figures->flush, one->flush);
    distribution_merge(figures->response, one->response);
    distribution_merge(figures->sizes, one->sizes);
    if (one->worker_second_max > all->worker_second_max) {
        all->worker_second_max = one->worker_second_max;
    }
    if (one->worker_second_min < all->worker_second_min) {
        all->worker_second_min = one->worker_second_min;
    }
    all->elapsed_ns = one->elapsed_ns > all->elapsed_ns ? one->elapsed_ns : all->elapsed_ns;
    all->bytes += one->bytes;
    all->record_bytes += one->record_bytes;
    all->utilisation_share += one->utilisation_share / workers;
    all->ring_passes += one->ring_passes / workers;
    all->first_pass_operations += one->first_pass_operations;
    all->first_pass_sum_ns += one->first_pass_sum_ns;
    all->later_operations += one->later_operations;
    all->later_sum_ns += one->later_sum_ns;
    all->operations_not_started += one->operations_not_started;
    all->start_skew_ns = one->start_skew_ns > all->start_skew_ns ? one->start_skew_ns : all->start_skew_ns;
}

struct result result_of_all(const struct stream_step *stream, enum operation operation) {
    const struct recorder *recorder = stream->recorders[operation];
    struct figures *figures = stream->all[operation];
    struct result all = start_result(stream, operation, figures, &recorder->seconds);
    all.worker_second_min = UINT64_MAX;
    all.utilisation_share = figures->sizes != NULL ? 0 : NAN;
    all.counts_over = all.over_counted = true;
    figures_clear(figures, NULL);
    for (uint32_t i = 0; i < stream->workers; i++) {
        struct result one = result_of_worker(&stream->first_worker[i], operation);
        const struct stalls *stalls = &stream->first_worker[i].figures[operation]->stalls;
        add_worker(&all, figures, &one, stream->workers);
        for (size_t j = 0; j < stalls->count; j++) {
            stalls_insert(&figures->stalls, &stalls->longest[j]);
        }
    }
    set_rates(&all, stream, operation, figures->latency.count);
    judge_rounds(&all, recorder);
    return all;
}

struct result result_of_workload(const struct workers *workers) {
    struct figures *figures = workers->whole;
    struct result whole = {
        .key = {.step = workers->plan.key.step,
                .load_point = workers->plan.key.load_point,
                .stream = "all",
                .operation = "all"},
        .start_epoch_ns = workers->plan.start_epoch_ns,
        .latency = &figures->latency,
        .response = figures->response,
        .messages_per_s = NAN,
        .utilisation_share = NAN,
        .ring_passes = NAN};
    figures_clear(figures, NULL);
    for (uint32_t i = 0; i < workers->workspace->workload->streams_count; i++) {
        const struct stream_step *stream = &workers->streams[i];
        for (enum operation operation = 0; operation < OPERATIONS; operation++) {
            if (stream->recorders[operation] != NULL) {
                struct result one = result_of_all(stream, operation);
                add_worker(&whole, figures, &one, 1);
                whole.ring_passes = NAN;
            }
        }
    }
    whole.first_pass_operations = 0;
    double elapsed_s = (double)whole.elapsed_ns / 1e9;
    whole.bytes_per_s = elapsed_s > 0 ? (double)whole.bytes / elapsed_s : 0;
    whole.operations_per_s = elapsed_s > 0 ? (double)figures->latency.count / elapsed_s : 0;
    return whole;
}
