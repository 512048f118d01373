// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/io_limit.h"
#include "output/tables.h"

#include <math.h>

const char *const table_names[TABLES] = {
    "results.csv", "intervals.csv", "histogram.csv", "stalls.csv",     "rounds.csv", "over.csv",
    "batches.csv", "responses.csv", "fidelity.csv",  "durability.csv", "run.csv"};

static void put_key(struct csv *csv, const struct result_key *key) {
    csv_integer(csv, "step", "number", key->step);
    csv_integer_if(csv, "block_size_bytes", "bytes", key->block_bytes > 0, key->block_bytes);
    csv_integer(csv, "load_point", "number", key->load_point);
    csv_text(csv, "stream", "text", key->stream);
    csv_text(csv, "operation", "text", key->operation);
    csv_worker(csv, key->worker);
}

static void put_percentile(struct csv *csv, const char *name, const struct distribution *figures, enum weight weight,
                           uint64_t quantile_ppm) {
    uint64_t ns = 0;
    bool known = distribution_percentile_ns(figures, weight, quantile_ppm, &ns);
    csv_integer_if(csv, name, "ns", known, ns);
}

static void put_figures(struct csv *csv, const char *prefix, const struct distribution *figures) {
    static const struct distribution none;
    figures = figures != NULL ? figures : &none;
    bool some = figures->count > 0;
    csv->prefix = prefix;
    csv_integer_if(csv, "sum_ns", "ns", some, figures->sum_ns);
    csv_real(csv, "mean_ns", "ns", some ? distribution_mean_ns(figures) : NAN, 3);
    csv_integer_if(csv, "min_ns", "ns", some, figures->min_ns);
    csv_integer_if(csv, "max_ns", "ns", some, figures->max_ns);
    put_percentile(csv, "p50_ns", figures, BY_COUNT, 500000);
    put_percentile(csv, "p99_ns", figures, BY_COUNT, 990000);
    put_percentile(csv, "p99_9_ns", figures, BY_COUNT, 999000);
    csv->prefix = NULL;
}

// The bounds of buckets are not whole numbers of pages, but the sizes of writes are, so the value is rounded to whole
// pages.
static void put_size(struct csv *csv, const char *name, const struct distribution *sizes, uint64_t quantile_ppm) {
    uint64_t bytes = 0;
    bool known = distribution_percentile_ns(sizes, BY_COUNT, quantile_ppm, &bytes);
    csv_integer_if(csv, name, "bytes", known, bytes / LOG_PAGE_BYTES * LOG_PAGE_BYTES);
}

// Columns of a logger that gathers commits.
static void put_group_commit(struct csv *csv, const struct result *result) {
    static const struct distribution none;
    const struct distribution *sizes = result->sizes != NULL ? result->sizes : &none;
    bool some = sizes->count > 0;
    csv_real(csv, "messages_per_s", "1/s", result->messages_per_s, 3);
    csv_integer_if(csv, "log_record_bytes", "bytes", result->sizes != NULL, result->record_bytes);
    csv_real(csv, "write_size_mean_bytes", "bytes", some ? distribution_mean_ns(sizes) : NAN, 0);
    csv_integer_if(csv, "write_size_min_bytes", "bytes", some, sizes->min_ns);
    csv_integer_if(csv, "write_size_max_bytes", "bytes", some, sizes->max_ns);
    put_size(csv, "write_size_p50_bytes", sizes, 500000);
    put_size(csv, "write_size_p99_bytes", sizes, 990000);
    csv_real(csv, "logger_utilisation_share", "ratio", result->utilisation_share, 6);
}

static void put_result(struct csv *csv, const struct table_row *row) {
    const struct result *result = row->result;
    const struct distribution *latency = result->latency;
    bool measured = latency->count > 0, has_max = result->max_ordinal > 0, rounds = result->has_rounds;
    bool compared = result->first_pass_operations > 0 && result->later_operations > 0;
    double mean_ns = measured ? distribution_mean_ns(latency) : NAN;
    double deviation_ns = measured ? distribution_deviation_ns(latency) : NAN;
    csv_real(csv, "start_time_epoch_s", "s", (double)(result->start_epoch_ns / 1000) / 1e6, 6);
    csv_integer(csv, "elapsed_ns", "ns", result->elapsed_ns);
    csv_integer(csv, "operations", "count", latency->count);
    csv_integer(csv, "bytes", "bytes", result->bytes);
    csv_real(csv, "bytes_per_s", "bytes/s", result->bytes_per_s, 0);
    csv_real(csv, "operations_per_s", "1/s", result->operations_per_s, 3);
    csv_integer_if(csv, "interval_bytes_per_s_max", "bytes/s", result->has_intervals, result->interval_bytes_max);
    csv_integer_if(csv, "interval_bytes_per_s_min", "bytes/s", result->has_intervals, result->interval_bytes_min);
    csv_integer(csv, "latency_sum_ns", "ns", latency->sum_ns);
    csv_real(csv, "latency_mean_ns", "ns", mean_ns, 3);
    csv_real(csv, "latency_stddev_ns", "ns", deviation_ns, 3);
    csv_real(csv, "latency_cv", "ratio", mean_ns > 0 ? deviation_ns / mean_ns : NAN, 6);
    csv_integer_if(csv, "latency_min_ns", "ns", measured, latency->min_ns);
    csv_integer_if(csv, "latency_min_operation_number", "number", measured, latency->min_ordinal);
    csv_integer_if(csv, "latency_max_ns", "ns", has_max, result->max_ns);
    csv_integer_if(csv, "latency_max_operation_number", "number", has_max, result->max_ordinal);
    csv_integer(csv, "latency_max_in_flight", "0/1", result->max_in_flight);
    put_percentile(csv, "latency_p50_ns", latency, BY_COUNT, 500000);
    put_percentile(csv, "latency_p90_ns", latency, BY_COUNT, 900000);
    put_percentile(csv, "latency_p99_ns", latency, BY_COUNT, 990000);
    put_percentile(csv, "latency_p99_9_ns", latency, BY_COUNT, 999000);
    put_percentile(csv, "latency_p99_99_ns", latency, BY_COUNT, 999900);
    put_percentile(csv, "latency_p99_999_ns", latency, BY_COUNT, 999990);
    csv_real(csv, "latency_time_weighted_mean_ns", "ns", measured ? distribution_time_weighted_mean_ns(latency) : NAN,
             3);
    put_percentile(csv, "latency_time_weighted_p50_ns", latency, BY_TIME, 500000);
    put_percentile(csv, "latency_time_weighted_p99_ns", latency, BY_TIME, 990000);
    put_percentile(csv, "latency_time_weighted_p99_9_ns", latency, BY_TIME, 999000);
    csv_real(csv, "ring_passes", "number", result->ring_passes, 3);
    csv_integer_if(csv, "latency_min_worker", "number", measured, result->min_worker);
    csv_integer_if(csv, "latency_max_worker", "number", has_max, result->max_worker);
    put_figures(csv, "flush_", result->flush);
    put_figures(csv, "response_", result->response);
    csv_real(csv, "first_pass_latency_mean_ns", "ns",
             compared ? (double)result->first_pass_sum_ns / (double)result->first_pass_operations : NAN, 3);
    csv_real(csv, "later_passes_latency_mean_ns", "ns",
             compared ? (double)result->later_sum_ns / (double)result->later_operations : NAN, 3);
    csv_integer(csv, "start_skew_ns", "ns", result->start_skew_ns);
    csv_real(csv, "round_spread_share", "ratio", rounds ? result->round_spread_share : NAN, 6);
    csv_real(csv, "round_slope_share", "ratio", rounds ? result->round_slope_share : NAN, 6);
    csv_real(csv, "late_to_early_latency_ratio", "ratio", rounds ? result->late_to_early_ratio : NAN, 6);
    csv_integer_if(csv, "steady_state", "0/1", rounds, result->steady);
    csv_integer_if(csv, "operations_not_started", "count", result->response != NULL, result->operations_not_started);
    put_group_commit(csv, result);
    csv_integer_if(csv, "over_counted", "0/1", result->counts_over, result->over_counted);
    bool limited = row->io_limit != NULL && row->io_limit->file[0] != '\0';
    csv_real(csv, "io_limit_used_share", "ratio", limited ? row->io_limit->share : NAN, 6);
    csv_text(csv, "io_limit_file", "text", limited ? row->io_limit->file : "");
    csv_text(csv, "io_limit", "text", limited ? row->io_limit->value : "");
}

static void put_interval(struct csv *csv, const struct table_row *row) {
    const struct distribution *latency = row->latency;
    csv_integer(csv, "second", "number", row->number);
    csv_integer(csv, "partial", "0/1", row->partial);
    csv_integer(csv, "operations", "count", latency->count);
    csv_integer(csv, "bytes", "bytes", latency->bytes);
    csv_integer(csv, "latency_sum_ns", "ns", latency->sum_ns);
    csv_integer_if(csv, "latency_min_ns", "ns", latency->count > 0, latency->min_ns);
    put_percentile(csv, "latency_p50_ns", latency, BY_COUNT, 500000);
    put_percentile(csv, "latency_p99_ns", latency, BY_COUNT, 990000);
    put_percentile(csv, "latency_p99_9_ns", latency, BY_COUNT, 999000);
    csv_integer_if(csv, "latency_max_ns", "ns", latency->count > 0, latency->max_ns);
}

static void put_bucket(struct csv *csv, const struct table_row *row) {
    csv_integer(csv, "batch", "number", row->number);
    csv_integer(csv, "latency_upper_ns", "ns", distribution_upper_ns(row->bucket));
    csv_integer(csv, "operations", "count", row->latency->buckets[row->bucket]);
}

static void put_response(struct csv *csv, const struct table_row *row) {
    csv_integer(csv, "response_upper_ns", "ns", distribution_upper_ns(row->bucket));
    csv_integer(csv, "operations", "count", row->latency->buckets[row->bucket]);
}

static void put_stall(struct csv *csv, const struct table_row *row) {
    const struct stall *stall = row->stall;
    uint64_t offset_ns = stall->start_ns > row->step_start_ns ? stall->start_ns - row->step_start_ns : 0;
    csv_integer(csv, "rank", "number", row->number);
    csv_integer(csv, "operation_number", "number", stall->ordinal);
    csv_integer(csv, "start_offset_ns", "ns", offset_ns);
    csv_integer(csv, "latency_ns", "ns", stall->latency_ns);
    csv_integer(csv, "in_flight", "0/1", stall->in_flight);
    csv_text(csv, "file", "text", row->file);
    csv_integer(csv, "offset_bytes", "bytes", stall->offset_bytes);
}

static void put_round(struct csv *csv, const struct table_row *row) {
    const struct round_figures *round = row->round;
    csv_integer(csv, "round", "number", row->number);
    csv_integer(csv, "operations", "count", round->operations);
    csv_integer(csv, "bytes", "bytes", round->bytes);
    csv_integer(csv, "elapsed_ns", "ns", round->elapsed_ns);
    csv_real(csv, "latency_mean_ns", "ns", (double)round->latency_sum_ns / (double)round->operations, 3);
    csv_integer_if(csv, "latency_p99_ns", "ns", round->has_p99, round->latency_p99_ns);
    csv_integer(csv, "partial", "0/1", round->partial);
}

static void put_over(struct csv *csv, const struct table_row *row) {
    csv_integer(csv, "second", "number", row->number);
    csv_integer(csv, "over_ns", "ns", row->over_ns);
    csv_integer(csv, "operations", "count", row->over.count);
    csv_integer(csv, "latency_sum_ns", "ns", row->over.sum_ns);
}

static void put_batch(struct csv *csv, const struct table_row *row) {
    csv_integer(csv, "batch", "number", row->number);
    csv_integer(csv, "operations", "count", row->batch.operations);
    csv_integer(csv, "latency_sum_ns", "ns", row->batch.latency_sum_ns);
}

static void put_fidelity(struct csv *csv, const struct table_row *row) {
    const struct fidelity *fidelity = row->fidelity;
    double deviation =
        fidelity->asked > 0 ? fabs(fidelity->achieved - fidelity->asked) / fidelity->asked : fidelity->achieved;
    csv_text(csv, "property", "text", fidelity->property);
    csv_text(csv, "item", "text", fidelity->item);
    csv_real(csv, "asked", "number", fidelity->asked, 6);
    csv_real(csv, "achieved", "number", fidelity->achieved, 6);
    csv_real(csv, "deviation_share", "ratio", deviation, 6);
    csv_integer_if(csv, "operations", "count", fidelity->operations > 0, fidelity->operations);
}

void columns_put(struct csv *csv, enum table table, const struct table_row *row) {
    static void (*const puts[TABLE_DURABILITY])(struct csv *, const struct table_row *) = {
        [TABLE_RESULTS] = put_result,       [TABLE_INTERVALS] = put_interval, [TABLE_HISTOGRAM] = put_bucket,
        [TABLE_STALLS] = put_stall,         [TABLE_ROUNDS] = put_round,       [TABLE_OVER] = put_over,
        [TABLE_BATCHES] = put_batch,        [TABLE_RESPONSES] = put_response, [TABLE_FIDELITY] = put_fidelity};
    static const struct distribution distribution;
    static const struct result result = {.latency = &distribution, .messages_per_s = NAN, .utilisation_share = NAN};
    static const struct stall stall;
    static const struct round_figures round;
    static const struct fidelity fidelity = {.property = "", .item = ""};
    static const struct table_row nothing = {
        .result = &result,
        .latency = &distribution,
        .stall = &stall,
        .round = &round,
        .fidelity = &fidelity};
    row = row != NULL ? row : &nothing;
    csv->table = table_names[table];
    put_key(csv, &row->key);
    puts[table](csv, row);
    if (csv->form != CSV_LIST) {
        csv_end_row(csv);
    }
}
