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

static void clear_room(struct result_room *room) {
    series_clear(&room->latency);
    if (room->flush != NULL) {
        series_clear(room->flush);
    }
    if (room->response != NULL) {
        series_clear(room->response);
    }
}

static void add_writer(const struct writer *writer, struct result_room *room) {
    tally_add_to(&writer->totals.latency, &room->latency);
    if (room->flush != NULL) {
        tally_add_to(writer->flush, room->flush);
    }
    if (room->response != NULL) {
        struct schedule schedule = writer_schedule(writer);
        tally_add_to(writer->response, room->response);
        schedule_add_waits(&schedule, writer->totals.first_not_started, writer->totals.not_started,
                           writer->totals.end_ns, room->response);
    }
}

// In an open loop the queue managers' first writes are shifted against each other on purpose.
static uint64_t planned_start_ns(const struct writer *writer) {
    return writer->plan->rate_micro_per_s > 0 ? writer_schedule(writer).origin_ns : writer->plan->begin_ns;
}

// Everything but the series.
static struct result figures_of(const struct writer *writer, uint32_t step, uint64_t start_epoch_ns) {
    const struct step_plan *plan = writer->plan;
    const struct writer_totals *totals = &writer->totals;
    uint64_t writes = totals->latency.statistics.count;
    bool passed = totals->first_pass_ended && totals->first_pass_writes > 0;
    return (struct result){
        .step = step,
        .block_bytes = plan->block_bytes,
        .queue_managers = plan->queue_managers,
        .queue_manager = writer->queue_manager,
        .start_epoch_ns = start_epoch_ns,
        .elapsed_ns = since(totals->end_ns, plan->timeline.start_ns),
        .bytes = writes * plan->block_bytes,
        .has_intervals = totals->whole_seconds > 0,
        .interval_bytes_max = totals->second_writes_max * plan->block_bytes,
        .interval_bytes_min = totals->whole_seconds > 0 ? totals->second_writes_min * plan->block_bytes : 0,
        .min_queue_manager = writer->queue_manager,
        .max_queue_manager = writer->queue_manager,
        .ring_passes = (double)writes / (double)writer->pass_writes,
        .first_pass_writes = passed ? totals->first_pass_writes : 0,
        .first_pass_sum_ns = passed ? totals->first_pass_sum_ns : 0,
        .later_writes = passed ? writes - totals->first_pass_writes : 0,
        .later_sum_ns = passed ? totals->latency.statistics.sum_ns - totals->first_pass_sum_ns : 0,
        .writes_not_started = totals->not_started,
        .start_skew_ns = since(totals->first_start_ns, planned_start_ns(writer)),
    };
}

static void point_at(struct result *result, const struct result_room *room) {
    result->latency = &room->latency;
    result->flush = room->flush;
    result->response = room->response;
}

struct result result_of_writer(const struct writer *writer, uint32_t step, uint64_t start_epoch_ns,
                               struct result_room *room) {
    struct result result = figures_of(writer, step, start_epoch_ns);
    clear_room(room);
    add_writer(writer, room);
    point_at(&result, room);
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
        if (recorder->rounds[i].writes == 0) {
            return;
        }
        mean[i] = (double)recorder->rounds[i].latency_sum_ns / (double)recorder->rounds[i].writes;
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

// Whose minimum and maximum the row all has: the first of equals, as in statistics_merge.
static void note_extremes(struct result *all, const struct writer *writer, const struct statistics *before) {
    const struct statistics *figures = &writer->totals.latency.statistics;
    if (figures->count > 0 && (before->count == 0 || figures->min_ns < before->min_ns)) {
        all->min_queue_manager = writer->queue_manager;
    }
    if (figures->count > 0 && (before->count == 0 || figures->max_ns > before->max_ns)) {
        all->max_queue_manager = writer->queue_manager;
    }
}

struct result result_of_all(const struct writer *writers, uint32_t count, uint32_t step, uint64_t start_epoch_ns,
                            const struct recorder *recorder, struct result_room *room) {
    struct result all = figures_of(&writers[0], step, start_epoch_ns);
    all.queue_manager = 0;
    all.bytes = 0;
    all.ring_passes = 0;
    all.first_pass_writes = 0;
    all.first_pass_sum_ns = 0;
    all.later_writes = 0;
    all.later_sum_ns = 0;
    all.writes_not_started = 0;
    clear_room(room);
    for (uint32_t i = 0; i < count; i++) {
        struct result one = figures_of(&writers[i], step, start_epoch_ns);
        note_extremes(&all, &writers[i], &room->latency.statistics);
        add_writer(&writers[i], room);
        all.elapsed_ns = one.elapsed_ns > all.elapsed_ns ? one.elapsed_ns : all.elapsed_ns;
        all.bytes += one.bytes;
        all.ring_passes += one.ring_passes / count;
        all.first_pass_writes += one.first_pass_writes;
        all.first_pass_sum_ns += one.first_pass_sum_ns;
        all.later_writes += one.later_writes;
        all.later_sum_ns += one.later_sum_ns;
        all.writes_not_started += one.writes_not_started;
        all.start_skew_ns = one.start_skew_ns > all.start_skew_ns ? one.start_skew_ns : all.start_skew_ns;
    }
    point_at(&all, room);
    all.has_intervals = recorder->whole_seconds > 0;
    all.interval_bytes_max = recorder->second_writes_max * all.block_bytes;
    all.interval_bytes_min = all.has_intervals ? recorder->second_writes_min * all.block_bytes : 0;
    judge_rounds(&all, recorder);
    return all;
}

void result_note_in_flight(struct result *result, const struct stall *stall) {
    if (stall->latency_ns > result_max_ns(result)) {
        result->max_in_flight = true;
        result->in_flight_max_ns = stall->latency_ns;
        result->in_flight_write = stall->write;
        result->max_queue_manager = stall->queue_manager;
    }
}

uint64_t result_max_ns(const struct result *result) {
    return result->max_in_flight ? result->in_flight_max_ns : result->latency->statistics.max_ns;
}

double result_bytes_per_s(const struct result *result) {
    return result->elapsed_ns > 0 ? (double)result->bytes * (double)NS_PER_S / (double)result->elapsed_ns : 0;
}

double result_writes_per_s(const struct result *result) {
    return result_bytes_per_s(result) / (double)result->block_bytes;
}
