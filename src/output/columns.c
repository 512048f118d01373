// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/columns.h"

#include "output/run_csv.h"
#include "output/tables.h"

#include <math.h>

void csv_integer_if(struct csv *csv, bool known, uint64_t value) {
    if (known) {
        csv_integer(csv, value);
    } else {
        csv_empty(csv);
    }
}

// The key, and what several tables have after it.

enum key { STEP, BLOCK_SIZE, LOAD_POINT, STREAM, OPERATION, WORKER, NUMBER, PARTIAL, FILE_NAME };

static void put_key(struct csv *csv, const struct table_row *row, uint64_t key) {
    switch ((enum key)key) {
    case STEP: csv_integer(csv, row->key.step); break;
    case BLOCK_SIZE: csv_integer_if(csv, row->key.block_bytes > 0, row->key.block_bytes); break;
    case LOAD_POINT: csv_integer(csv, row->key.load_point); break;
    case STREAM: csv_text(csv, row->key.stream); break;
    case OPERATION: csv_text(csv, row->key.operation); break;
    case WORKER:
        if (row->key.worker == 0) {
            csv_text(csv, "all");
        } else {
            csv_integer(csv, row->key.worker);
        }
        break;
    case NUMBER: csv_integer(csv, row->number); break;
    case PARTIAL: csv_integer(csv, row->partial); break;
    case FILE_NAME: csv_text(csv, row->file); break;
    }
}

// The figures of a distribution of durations.

enum figure { COUNT, SUM, MEAN, DEVIATION, VARIATION, MIN, MIN_WRITE, MAX, TIME_WEIGHTED_MEAN };

static void put_figure(struct csv *csv, const struct distribution *figures, uint64_t figure) {
    bool some = figures != NULL && figures->count > 0;
    double mean_ns = some ? distribution_mean_ns(figures) : NAN;
    switch ((enum figure)figure) {
    case COUNT: csv_integer_if(csv, figures != NULL, some ? figures->count : 0); break;
    case SUM: csv_integer_if(csv, some, some ? figures->sum_ns : 0); break;
    case MEAN: csv_real(csv, mean_ns, 3); break;
    case DEVIATION: csv_real(csv, some ? distribution_deviation_ns(figures) : NAN, 3); break;
    case VARIATION: csv_real(csv, mean_ns > 0 ? distribution_deviation_ns(figures) / mean_ns : NAN, 6); break;
    case MIN: csv_integer_if(csv, some, some ? figures->min_ns : 0); break;
    case MIN_WRITE: csv_integer_if(csv, some, some ? figures->min_ordinal : 0); break;
    case MAX: csv_integer_if(csv, some, some ? figures->max_ns : 0); break;
    case TIME_WEIGHTED_MEAN: csv_real(csv, some ? distribution_time_weighted_mean_ns(figures) : NAN, 3); break;
    }
}

static void put_percentile(struct csv *csv, const struct distribution *figures, uint64_t quantile_ppm) {
    uint64_t ns = 0;
    bool known = figures != NULL && figures->count > 0 && distribution_percentile_ns(figures, quantile_ppm, &ns);
    csv_integer_if(csv, known, ns);
}

#define DISTRIBUTION_OF(name, figures)                                                                                      \
    static void name##_figure(struct csv *csv, const struct table_row *row, uint64_t figure) {                        \
        put_figure(csv, figures, figure);                                                                             \
    }                                                                                                                 \
    static void name##_percentile(struct csv *csv, const struct table_row *row, uint64_t quantile_ppm) {              \
        put_percentile(csv, figures, quantile_ppm);                                                                   \
    }

DISTRIBUTION_OF(latency, row->result->latency)
DISTRIBUTION_OF(flush, row->result->flush)
DISTRIBUTION_OF(response, row->result->response)
DISTRIBUTION_OF(second, row->latency)

static void put_time_weighted(struct csv *csv, const struct table_row *row, uint64_t quantile_ppm) {
    const struct distribution *figures = row->result->latency;
    uint64_t ns = 0;
    bool known = figures->count > 0 && distribution_time_weighted_percentile_ns(figures, quantile_ppm, &ns);
    csv_integer_if(csv, known, ns);
}

// These are 0, not empty, if nothing was written.
static void put_latency_sum(struct csv *csv, const struct table_row *row, uint64_t unused) {
    const struct distribution *figures = row->result != NULL ? row->result->latency : row->latency;
    csv_integer(csv, figures->count > 0 ? figures->sum_ns : 0);
}

// results.csv

enum member { START, ELAPSED, BYTES, BYTES_PER_S, OPERATIONS_PER_S, INTERVAL_MAX, INTERVAL_MIN, MAX_NS, MAX_WRITE,
              MAX_IN_FLIGHT, RING_PASSES, MIN_WORKER, MAX_WORKER, FIRST_PASS, LATER_PASSES, START_SKEW, ROUND_SPREAD,
              ROUND_SLOPE, LATE_TO_EARLY, STEADY, NOT_STARTED };

static void put_result(struct csv *csv, const struct table_row *row, uint64_t member) {
    const struct result *result = row->result;
    bool measured = result->latency->count > 0;
    bool has_max = result->max_ordinal > 0;
    bool compared = result->first_pass_operations > 0 && result->later_operations > 0;
    switch ((enum member)member) {
    case START: csv_real(csv, (double)(result->start_epoch_ns / 1000) / 1e6, 6); break;
    case ELAPSED: csv_integer(csv, result->elapsed_ns); break;
    case BYTES: csv_integer(csv, result->bytes); break;
    case BYTES_PER_S: csv_real(csv, result_bytes_per_s(result), 0); break;
    case OPERATIONS_PER_S: csv_real(csv, result_operations_per_s(result), 3); break;
    case INTERVAL_MAX: csv_integer_if(csv, result->has_intervals, result->interval_bytes_max); break;
    case INTERVAL_MIN: csv_integer_if(csv, result->has_intervals, result->interval_bytes_min); break;
    case MAX_NS: csv_integer_if(csv, has_max, result->max_ns); break;
    case MAX_WRITE: csv_integer_if(csv, has_max, result->max_ordinal); break;
    case MAX_IN_FLIGHT: csv_integer(csv, result->max_in_flight); break;
    case RING_PASSES: csv_real(csv, result->ring_passes, 3); break;
    case MIN_WORKER: csv_integer_if(csv, measured, result->min_worker); break;
    case MAX_WORKER: csv_integer_if(csv, has_max, result->max_worker); break;
    case FIRST_PASS: csv_real(csv, compared ? (double)result->first_pass_sum_ns / (double)result->first_pass_operations : NAN, 3); break;
    case LATER_PASSES: csv_real(csv, compared ? (double)result->later_sum_ns / (double)result->later_operations : NAN, 3); break;
    case START_SKEW: csv_integer(csv, result->start_skew_ns); break;
    case ROUND_SPREAD: csv_real(csv, result->has_rounds ? result->round_spread_share : NAN, 6); break;
    case ROUND_SLOPE: csv_real(csv, result->has_rounds ? result->round_slope_share : NAN, 6); break;
    case LATE_TO_EARLY: csv_real(csv, result->has_rounds ? result->late_to_early_ratio : NAN, 6); break;
    case STEADY: csv_integer_if(csv, result->has_rounds, result->steady); break;
    case NOT_STARTED: csv_integer_if(csv, result->response != NULL, result->operations_not_started); break;
    }
}

// The other tables.

static void put_second_bytes(struct csv *csv, const struct table_row *row, uint64_t unused) {
    csv_integer(csv, row->latency->count * row->key.block_bytes);
}

static void put_bucket(struct csv *csv, const struct table_row *row, uint64_t count) {
    csv_integer(csv, count ? row->latency->buckets[row->bucket] : distribution_upper_ns(row->bucket));
}

enum stall_member { STALL_WRITE, STALL_START, STALL_LATENCY, STALL_IN_FLIGHT, STALL_OFFSET };

static void put_stall(struct csv *csv, const struct table_row *row, uint64_t member) {
    const struct stall *stall = row->stall;
    switch ((enum stall_member)member) {
    case STALL_WRITE: csv_integer(csv, stall->ordinal); break;
    case STALL_START: csv_integer(csv, stall->start_ns > row->step_start_ns ? stall->start_ns - row->step_start_ns : 0); break;
    case STALL_LATENCY: csv_integer(csv, stall->latency_ns); break;
    case STALL_IN_FLIGHT: csv_integer(csv, stall->in_flight); break;
    case STALL_OFFSET: csv_integer(csv, stall->offset_bytes); break;
    }
}

enum round_member { ROUND_WRITES, ROUND_BYTES, ROUND_ELAPSED, ROUND_MEAN, ROUND_P99, ROUND_PARTIAL };

static void put_round(struct csv *csv, const struct table_row *row, uint64_t member) {
    const struct round_figures *round = row->round;
    switch ((enum round_member)member) {
    case ROUND_WRITES: csv_integer(csv, round->operations); break;
    case ROUND_BYTES: csv_integer(csv, round->operations * row->key.block_bytes); break;
    case ROUND_ELAPSED: csv_integer(csv, round->elapsed_ns); break;
    case ROUND_MEAN: csv_real(csv, round->operations > 0 ? (double)round->latency_sum_ns / (double)round->operations : NAN, 3); break;
    case ROUND_P99: csv_integer_if(csv, round->has_p99, round->latency_p99_ns); break;
    case ROUND_PARTIAL: csv_integer(csv, round->partial); break;
    }
}

#define KEY                                                                                                           \
    {"step", "number", put_key, STEP}, {"block_size_bytes", "bytes", put_key, BLOCK_SIZE},                                \
    {"load_point", "number", put_key, LOAD_POINT}, {"stream", "text", put_key, STREAM},                                   \
    {"operation", "text", put_key, OPERATION}, {"worker", "text", put_key, WORKER}

static const struct column results[] = {
    KEY,
    {"start_time_epoch_s", "s", put_result, START},
    {"elapsed_ns", "ns", put_result, ELAPSED},
    {"operations", "count", latency_figure, COUNT},
    {"bytes", "bytes", put_result, BYTES},
    {"bytes_per_s", "bytes/s", put_result, BYTES_PER_S},
    {"operations_per_s", "1/s", put_result, OPERATIONS_PER_S},
    {"interval_bytes_per_s_max", "bytes/s", put_result, INTERVAL_MAX},
    {"interval_bytes_per_s_min", "bytes/s", put_result, INTERVAL_MIN},
    {"latency_sum_ns", "ns", put_latency_sum, 0},
    {"latency_mean_ns", "ns", latency_figure, MEAN},
    {"latency_stddev_ns", "ns", latency_figure, DEVIATION},
    {"latency_cv", "ratio", latency_figure, VARIATION},
    {"latency_min_ns", "ns", latency_figure, MIN},
    {"latency_min_operation_number", "number", latency_figure, MIN_WRITE},
    {"latency_max_ns", "ns", put_result, MAX_NS},
    {"latency_max_operation_number", "number", put_result, MAX_WRITE},
    {"latency_max_in_flight", "0/1", put_result, MAX_IN_FLIGHT},
    {"latency_p50_ns", "ns", latency_percentile, 500000},
    {"latency_p90_ns", "ns", latency_percentile, 900000},
    {"latency_p99_ns", "ns", latency_percentile, 990000},
    {"latency_p99_9_ns", "ns", latency_percentile, 999000},
    {"latency_p99_99_ns", "ns", latency_percentile, 999900},
    {"latency_p99_999_ns", "ns", latency_percentile, 999990},
    {"latency_time_weighted_mean_ns", "ns", latency_figure, TIME_WEIGHTED_MEAN},
    {"latency_time_weighted_p50_ns", "ns", put_time_weighted, 500000},
    {"latency_time_weighted_p99_ns", "ns", put_time_weighted, 990000},
    {"latency_time_weighted_p99_9_ns", "ns", put_time_weighted, 999000},
    {"ring_passes", "number", put_result, RING_PASSES},
    {"latency_min_worker", "number", put_result, MIN_WORKER},
    {"latency_max_worker", "number", put_result, MAX_WORKER},
    {"flush_sum_ns", "ns", flush_figure, SUM},
    {"flush_mean_ns", "ns", flush_figure, MEAN},
    {"flush_min_ns", "ns", flush_figure, MIN},
    {"flush_max_ns", "ns", flush_figure, MAX},
    {"flush_p50_ns", "ns", flush_percentile, 500000},
    {"flush_p99_ns", "ns", flush_percentile, 990000},
    {"flush_p99_9_ns", "ns", flush_percentile, 999000},
    {"response_sum_ns", "ns", response_figure, SUM},
    {"response_mean_ns", "ns", response_figure, MEAN},
    {"response_min_ns", "ns", response_figure, MIN},
    {"response_max_ns", "ns", response_figure, MAX},
    {"response_p50_ns", "ns", response_percentile, 500000},
    {"response_p99_ns", "ns", response_percentile, 990000},
    {"response_p99_9_ns", "ns", response_percentile, 999000},
    {"first_pass_latency_mean_ns", "ns", put_result, FIRST_PASS},
    {"later_passes_latency_mean_ns", "ns", put_result, LATER_PASSES},
    {"start_skew_ns", "ns", put_result, START_SKEW},
    {"round_spread_share", "ratio", put_result, ROUND_SPREAD},
    {"round_slope_share", "ratio", put_result, ROUND_SLOPE},
    {"late_to_early_latency_ratio", "ratio", put_result, LATE_TO_EARLY},
    {"steady_state", "0/1", put_result, STEADY},
    {"operations_not_started", "count", put_result, NOT_STARTED},
};

static const struct column intervals[] = {
    KEY,
    {"second", "number", put_key, NUMBER},
    {"partial", "0/1", put_key, PARTIAL},
    {"operations", "count", second_figure, COUNT},
    {"bytes", "bytes", put_second_bytes, 0},
    {"latency_sum_ns", "ns", put_latency_sum, 0},
    {"latency_min_ns", "ns", second_figure, MIN},
    {"latency_p50_ns", "ns", second_percentile, 500000},
    {"latency_p99_ns", "ns", second_percentile, 990000},
    {"latency_p99_9_ns", "ns", second_percentile, 999000},
    {"latency_max_ns", "ns", second_figure, MAX},
};

static const struct column histogram[] = {
    KEY,
    {"batch", "number", put_key, NUMBER},
    {"latency_upper_ns", "ns", put_bucket, 0},
    {"operations", "count", put_bucket, 1},
};

static const struct column stalls[] = {
    KEY,
    {"rank", "number", put_key, NUMBER},
    {"operation_number", "number", put_stall, STALL_WRITE},
    {"start_offset_ns", "ns", put_stall, STALL_START},
    {"latency_ns", "ns", put_stall, STALL_LATENCY},
    {"in_flight", "0/1", put_stall, STALL_IN_FLIGHT},
    {"file", "text", put_key, FILE_NAME},
    {"offset_bytes", "bytes", put_stall, STALL_OFFSET},
};

static const struct column rounds[] = {
    KEY,
    {"round", "number", put_key, NUMBER},
    {"operations", "count", put_round, ROUND_WRITES},
    {"bytes", "bytes", put_round, ROUND_BYTES},
    {"elapsed_ns", "ns", put_round, ROUND_ELAPSED},
    {"latency_mean_ns", "ns", put_round, ROUND_MEAN},
    {"latency_p99_ns", "ns", put_round, ROUND_P99},
    {"partial", "0/1", put_round, ROUND_PARTIAL},
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const struct {
    const struct column *columns;
    size_t count;
} tables[TABLE_RUN] = {
    [TABLE_RESULTS] = {results, LENGTH(results)}, [TABLE_INTERVALS] = {intervals, LENGTH(intervals)},
    [TABLE_HISTOGRAM] = {histogram, LENGTH(histogram)}, [TABLE_STALLS] = {stalls, LENGTH(stalls)},
    [TABLE_ROUNDS] = {rounds, LENGTH(rounds)},
};

void columns_header(struct csv *csv, enum table table) {
    for (size_t i = 0; i < tables[table].count; i++) {
        csv_text(csv, tables[table].columns[i].name);
    }
    csv_end_row(csv);
}

void columns_row(struct csv *csv, enum table table, const struct table_row *row) {
    for (size_t i = 0; i < tables[table].count; i++) {
        const struct column *column = &tables[table].columns[i];
        column->put(csv, row, column->argument);
    }
    csv_end_row(csv);
}

void columns_list_row(struct csv *csv, enum table table, const char *name, const char *unit) {
    csv_text(csv, table_names[table]);
    csv_text(csv, name);
    csv_text(csv, unit);
    csv_end_row(csv);
}

void columns_list(struct csv *csv) {
    csv_text(csv, "table");
    csv_text(csv, "name");
    csv_text(csv, "unit");
    csv_end_row(csv);
    for (int table = 0; table < TABLE_RUN; table++) {
        for (size_t i = 0; i < tables[table].count; i++) {
            columns_list_row(csv, (enum table)table, tables[table].columns[i].name, tables[table].columns[i].unit);
        }
    }
    run_csv_list(csv);
}
