// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "tables.h"

#include "base/clock.h"
#include "output/console.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULT_ROW_BYTES UINT64_C(1024)         // twice what most take; the header takes two
#define RESERVE_MAX_BYTES (UINT64_C(1) << 20)
#define RUN_TABLE_BYTES (UINT64_C(64) << 10)

static const char *const table_names[TABLES] = {"results.csv", "intervals.csv", "histogram.csv", "stalls.csv",
                                                "rounds.csv", "run.csv"};

static const char *const table_headers[TABLES] = {
    "step,block_size_bytes,queue_managers,queue_manager,start_time_epoch_s,elapsed_ns,writes,bytes,bytes_per_s,"
    "writes_per_s,interval_bytes_per_s_max,interval_bytes_per_s_min,latency_sum_ns,latency_mean_ns,latency_stddev_ns,"
    "latency_cv,latency_min_ns,latency_min_write,latency_max_ns,latency_max_write,latency_max_in_flight,"
    "latency_p50_ns,latency_p90_ns,latency_p99_ns,latency_p99_9_ns,latency_p99_99_ns,latency_p99_999_ns,"
    "latency_time_weighted_mean_ns,latency_time_weighted_p50_ns,latency_time_weighted_p99_ns,"
    "latency_time_weighted_p99_9_ns,ring_passes,latency_min_queue_manager,latency_max_queue_manager,"
    "flush_sum_ns,flush_mean_ns,flush_min_ns,flush_max_ns,flush_p50_ns,flush_p99_ns,flush_p99_9_ns,"
    "response_sum_ns,response_mean_ns,response_min_ns,response_max_ns,response_p50_ns,response_p99_ns,"
    "response_p99_9_ns,first_pass_latency_mean_ns,later_passes_latency_mean_ns,start_skew_ns,round_spread_share,"
    "round_slope_share,late_to_early_latency_ratio,steady_state,writes_not_started",
    "step,block_size_bytes,queue_managers,second,partial,writes,bytes,latency_sum_ns,latency_min_ns,latency_p50_ns,"
    "latency_p99_ns,latency_p99_9_ns,latency_max_ns",
    "step,block_size_bytes,queue_managers,batch,latency_upper_ns,writes",
    "step,block_size_bytes,queue_managers,rank,queue_manager,write,start_offset_ns,latency_ns,in_flight,file,"
    "offset_bytes",
    "step,block_size_bytes,queue_managers,round,writes,bytes,elapsed_ns,latency_mean_ns,latency_p99_ns,"
    "partial",
    "key,value",
};

static bool refuse(struct failure *failure, const char *path, const char *what, int error) {
    return failure_set(failure, EXIT_REFUSED, "--tables=%s: cannot %s: %s", path, what, strerror(error));
}

static bool open_directory(struct tables *tables, struct failure *failure) {
    if (mkdir(tables->path, 0700) == 0) {
        tables->made_dir = true;
    } else if (errno != EEXIST) {
        return refuse(failure, tables->path, "make the directory", errno);
    }
    tables->dir_fd = open(tables->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tables->dir_fd < 0) {
        return refuse(failure, tables->path, "open the directory", errno);
    }
    return true;
}

// Space that is kept for a small table; without it a full file system would take the whole result. File systems that
// cannot do this have to do without.
static int reserve(const struct aside *aside, uint64_t bytes) {
    int result;
    do {
        result = fallocate(fileno(aside->file), FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
    } while (result != 0 && errno == EINTR);
    return result != 0 && (errno == ENOSPC || errno == EDQUOT) ? errno : 0;
}

static bool open_table(struct tables *tables, enum table table, uint64_t bytes, struct failure *failure) {
    struct stat status;
    const char *name = table_names[table];
    if (fstatat(tables->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        return failure_set(failure, EXIT_REFUSED, "--tables=%s: %s is there already; name a directory without tables",
                           tables->path, name);
    }
    int error = aside_open(&tables->asides[table], tables->dir_fd, name);
    if (error == EEXIST) {
        return failure_set(failure, EXIT_REFUSED, "--tables=%s: %s/.%s.tmp is there already, of a run that was killed or "
                           "still goes on; remove it, or name another directory", tables->path, tables->path, name);
    }
    if (error != 0) {
        return failure_set(failure, EXIT_REFUSED, "--tables=%s: cannot create .%s.tmp: %s", tables->path, name,
                           strerror(error));
    }
    tables->csv[table] = (struct csv){.file = tables->asides[table].file};
    (void)fprintf(tables->csv[table].file, "%s\n", table_headers[table]);
    error = bytes > 0 ? reserve(&tables->asides[table], bytes) : 0;
    return error == 0 || failure_set(failure, EXIT_REFUSED, "--tables=%s: no space for %s: %s; free some, or name another "
                                     "directory", tables->path, name, strerror(error));
}

static uint64_t reserve_bytes(int table, uint64_t result_rows) {
    uint64_t results_bytes = (result_rows + 2) * RESULT_ROW_BYTES;
    results_bytes = results_bytes < RESERVE_MAX_BYTES ? results_bytes : RESERVE_MAX_BYTES;
    return table == TABLE_RESULTS ? results_bytes : table == TABLE_RUN ? RUN_TABLE_BYTES : 0;
}

bool tables_open(struct tables *tables, const char *path, uint64_t result_rows, struct failure *failure) {
    *tables = (struct tables){.path = path, .dir_fd = -1};
    if (path == NULL) {
        return true;
    }
    tables->open = true;
    bool good = open_directory(tables, failure);
    for (int i = 0; good && i < TABLES; i++) {
        good = open_table(tables, (enum table)i, reserve_bytes(i, result_rows), failure);
    }
    if (!good) {
        tables_discard(tables);
    }
    return good;
}

// Where rows of a table go; NULL: nowhere.
static struct csv *csv_of(struct tables *tables, enum table table) {
    return tables->open && tables->errors[table] == 0 ? &tables->csv[table] : NULL;
}

// A table with a hole is of no use, and its space may be what the others need.
static void give_up(struct tables *tables, enum table table, int error) {
    tables->errors[table] = error;
    output_complain("--tables=%s: cannot write %s: %s%s", tables->path, table_names[table], strerror(error),
                    table == TABLE_RUN ? "" : "; it will be missing, and measuring goes on");
    aside_discard(&tables->asides[table]);
}

static void end_row(struct tables *tables, enum table table) {
    csv_end_row(&tables->csv[table]);
    if (ferror(tables->csv[table].file)) {
        give_up(tables, table, errno);      // of this row: every row before it was looked at
    }
}

void tables_end_step(struct tables *tables) {
    for (int i = 0; i < TABLE_RUN; i++) {
        struct csv *csv = csv_of(tables, (enum table)i);
        if (csv != NULL && fflush(csv->file) != 0) {
            give_up(tables, (enum table)i, errno);
        }
    }
}

static void begin_row(struct csv *csv, const struct table_step *step) {
    csv_integer(csv, step->step);
    csv_integer(csv, step->block_bytes);
    csv_integer(csv, step->queue_managers);
}

static void put_percentile(struct csv *csv, const struct series *series, uint64_t quantile_ppm) {
    uint64_t ns;
    if (series_percentile_ns(series, quantile_ppm, &ns)) {
        csv_integer(csv, ns);
    } else {
        csv_empty(csv);
    }
}

static void put_time_weighted(struct csv *csv, const struct series *series, uint64_t quantile_ppm) {
    uint64_t ns;
    if (series_time_weighted_percentile_ns(series, quantile_ppm, &ns)) {
        csv_integer(csv, ns);
    } else {
        csv_empty(csv);
    }
}

static void put_empties(struct csv *csv, int count) {
    for (int i = 0; i < count; i++) {
        csv_empty(csv);
    }
}

static void put_integer_or_empty(struct csv *csv, bool known, uint64_t value) {
    if (known) {
        csv_integer(csv, value);
    } else {
        csv_empty(csv);
    }
}

// Sum to p99.9 of flush_* and response_*.
static void put_extra(struct csv *csv, const struct series *series) {
    if (series == NULL || series->statistics.count == 0) {
        put_empties(csv, 7);
        return;
    }
    csv_integer(csv, series->statistics.sum_ns);
    csv_real(csv, statistics_mean_ns(&series->statistics), 3);
    csv_integer(csv, series->statistics.min_ns);
    csv_integer(csv, series->statistics.max_ns);
    put_percentile(csv, series, 500000);
    put_percentile(csv, series, 990000);
    put_percentile(csv, series, 999000);
}

static void put_moments(struct csv *csv, const struct statistics *figures) {
    csv_integer(csv, figures->sum_ns);
    if (figures->count == 0) {
        put_empties(csv, 5);
        return;
    }
    double mean_ns = statistics_mean_ns(figures);
    double deviation_ns = statistics_deviation_ns(figures);
    csv_real(csv, mean_ns, 3);
    csv_real(csv, deviation_ns, 3);
    csv_real(csv, mean_ns > 0 ? deviation_ns / mean_ns : NAN, 6);
    csv_integer(csv, figures->min_ns);
    csv_integer(csv, figures->min_write);
}

static void put_maximum(struct csv *csv, const struct result *result) {
    const struct statistics *figures = &result->latency->statistics;
    bool known = figures->count > 0 || result->max_in_flight;
    put_integer_or_empty(csv, known, result_max_ns(result));
    put_integer_or_empty(csv, known, result->max_in_flight ? result->in_flight_write : figures->max_write);
    csv_integer(csv, result->max_in_flight);
}

static void put_latency(struct csv *csv, const struct result *result) {
    static const uint64_t quantiles_ppm[] = {500000, 900000, 990000, 999000, 999900, 999990};
    static const uint64_t weighted_ppm[] = {500000, 990000, 999000};
    put_moments(csv, &result->latency->statistics);
    put_maximum(csv, result);
    for (size_t i = 0; i < sizeof quantiles_ppm / sizeof quantiles_ppm[0]; i++) {
        put_percentile(csv, result->latency, quantiles_ppm[i]);
    }
    csv_real(csv, result->latency->statistics.count > 0
                      ? statistics_time_weighted_mean_ns(&result->latency->statistics) : NAN, 3);
    for (size_t i = 0; i < sizeof weighted_ppm / sizeof weighted_ppm[0]; i++) {
        put_time_weighted(csv, result->latency, weighted_ppm[i]);
    }
}

static void put_passes_and_rounds(struct csv *csv, const struct result *result) {
    bool compared = result->first_pass_writes > 0 && result->later_writes > 0;
    csv_real(csv, compared ? (double)result->first_pass_sum_ns / (double)result->first_pass_writes : NAN, 3);
    csv_real(csv, compared ? (double)result->later_sum_ns / (double)result->later_writes : NAN, 3);
    csv_integer(csv, result->start_skew_ns);
    csv_real(csv, result->has_rounds ? result->round_spread_share : NAN, 6);
    csv_real(csv, result->has_rounds ? result->round_slope_share : NAN, 6);
    csv_real(csv, result->has_rounds ? result->late_to_early_ratio : NAN, 6);
    put_integer_or_empty(csv, result->has_rounds, result->steady);
}

void tables_result(struct tables *tables, const struct result *result) {
    struct csv *csv = csv_of(tables, TABLE_RESULTS);
    if (csv == NULL) {
        return;
    }
    bool measured = result->latency->statistics.count > 0;
    begin_row(csv, &(struct table_step){result->step, result->block_bytes, result->queue_managers});
    if (result->queue_manager == 0) {
        csv_text(csv, "all");
    } else {
        csv_integer(csv, result->queue_manager);
    }
    csv_real(csv, (double)(result->start_epoch_ns / 1000) / 1e6, 6);
    csv_integer(csv, result->elapsed_ns);
    csv_integer(csv, result->latency->statistics.count);
    csv_integer(csv, result->bytes);
    csv_real(csv, result_bytes_per_s(result), 0);
    csv_real(csv, result_writes_per_s(result), 3);
    put_integer_or_empty(csv, result->has_intervals, result->interval_bytes_max);
    put_integer_or_empty(csv, result->has_intervals, result->interval_bytes_min);
    put_latency(csv, result);
    csv_real(csv, result->ring_passes, 3);
    put_integer_or_empty(csv, measured, result->min_queue_manager);
    put_integer_or_empty(csv, measured || result->max_in_flight, result->max_queue_manager);
    put_extra(csv, result->flush);
    put_extra(csv, result->response);
    put_passes_and_rounds(csv, result);
    put_integer_or_empty(csv, result->response != NULL, result->writes_not_started);
    end_row(tables, TABLE_RESULTS);
}

void tables_interval(struct tables *tables, const struct table_step *step, uint32_t second, bool partial,
                     const struct series *writes) {
    struct csv *csv = csv_of(tables, TABLE_INTERVALS);
    if (csv == NULL) {
        return;
    }
    const struct statistics *figures = &writes->statistics;
    begin_row(csv, step);
    csv_integer(csv, second);
    csv_integer(csv, partial);
    csv_integer(csv, figures->count);
    csv_integer(csv, figures->count * step->block_bytes);
    csv_integer(csv, figures->sum_ns);
    put_integer_or_empty(csv, figures->count > 0, figures->min_ns);
    put_percentile(csv, writes, 500000);
    put_percentile(csv, writes, 990000);
    put_percentile(csv, writes, 999000);
    put_integer_or_empty(csv, figures->count > 0, figures->max_ns);
    end_row(tables, TABLE_INTERVALS);
}

void tables_batch(struct tables *tables, const struct table_step *step, uint32_t batch, const struct series *writes) {
    if (writes->statistics.count == 0) {
        return;
    }
    struct bucket_range range = statistics_range(&writes->statistics);
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        struct csv *csv = csv_of(tables, TABLE_HISTOGRAM);
        if (csv != NULL && writes->histogram.counts[bucket] > 0) {
            begin_row(csv, step);
            csv_integer(csv, batch);
            csv_integer(csv, histogram_upper_ns(bucket));
            csv_integer(csv, writes->histogram.counts[bucket]);
            end_row(tables, TABLE_HISTOGRAM);
        }
    }
}

void tables_stall(struct tables *tables, const struct table_step *step, uint32_t rank, const struct stall *stall,
                  uint64_t step_start_ns, const char *file) {
    struct csv *csv = csv_of(tables, TABLE_STALLS);
    if (csv == NULL) {
        return;
    }
    begin_row(csv, step);
    csv_integer(csv, rank);
    csv_integer(csv, stall->queue_manager);
    csv_integer(csv, stall->write);
    csv_integer(csv, stall->start_ns > step_start_ns ? stall->start_ns - step_start_ns : 0);
    csv_integer(csv, stall->latency_ns);
    csv_integer(csv, stall->in_flight);
    csv_text(csv, file);
    csv_integer(csv, stall->offset_bytes);
    end_row(tables, TABLE_STALLS);
}

void tables_round(struct tables *tables, const struct table_step *step, uint32_t round,
                  const struct round_figures *figures) {
    struct csv *csv = csv_of(tables, TABLE_ROUNDS);
    if (csv == NULL) {
        return;
    }
    begin_row(csv, step);
    csv_integer(csv, round);
    csv_integer(csv, figures->writes);
    csv_integer(csv, figures->writes * step->block_bytes);
    csv_integer(csv, figures->elapsed_ns);
    csv_real(csv, figures->writes > 0 ? (double)figures->latency_sum_ns / (double)figures->writes : NAN, 3);
    put_integer_or_empty(csv, figures->has_p99, figures->latency_p99_ns);
    csv_integer(csv, figures->partial);
    end_row(tables, TABLE_ROUNDS);
}

void tables_run_text(struct tables *tables, const char *key, const char *value) {
    struct csv *csv = csv_of(tables, TABLE_RUN);
    if (csv != NULL) {
        csv_text(csv, key);
        csv_text(csv, value);
        end_row(tables, TABLE_RUN);
    }
}

void tables_run_integer(struct tables *tables, const char *key, uint64_t value) {
    struct csv *csv = csv_of(tables, TABLE_RUN);
    if (csv != NULL) {
        csv_text(csv, key);
        csv_integer(csv, value);
        end_row(tables, TABLE_RUN);
    }
}

void tables_run_real(struct tables *tables, const char *key, double value, int places) {
    struct csv *csv = csv_of(tables, TABLE_RUN);
    if (csv != NULL) {
        csv_text(csv, key);
        csv_real(csv, value, places);
        end_row(tables, TABLE_RUN);
    }
}

// Puts a table in its place; keeps it under its name aside where that has been taken. 0 or errno.
static int commit_table(struct tables *tables, enum table table) {
    int error = aside_commit(&tables->asides[table]);
    const char *name = table_names[table];
    if (error == EEXIST) {
        output_complain("--tables=%s: a %s of another origin has appeared; this run's is kept in .%s.tmp", tables->path,
                        name, name);
    } else if (error != 0) {
        output_complain("--tables=%s: cannot write %s: %s", tables->path, name, strerror(error));
    }
    return error;
}

// What is behind the end of a table that had space reserved.
static void give_back(const struct aside *aside) {
    off_t end = aside->file != NULL && fflush(aside->file) == 0 ? ftello(aside->file) : -1;
    if (end > 0) {
        (void)!ftruncate(fileno(aside->file), end);
    }
}

bool tables_commit(struct tables *tables, char missing[TABLES_NAMES_BYTES], int *error) {
    missing[0] = '\0';
    *error = 0;
    for (int i = 0; tables->open && i < TABLE_RUN; i++) {
        give_back(&tables->asides[i]);
        int result = tables->errors[i] != 0 ? tables->errors[i] : commit_table(tables, (enum table)i);
        if (result != 0) {
            size_t length = strlen(missing);
            (void)snprintf(missing + length, TABLES_NAMES_BYTES - length, "%s%s", length > 0 ? " " : "", table_names[i]);
            *error = *error == 0 ? result : *error;
        }
    }
    return missing[0] == '\0';
}

bool tables_commit_run(struct tables *tables, bool complete) {
    if (!tables->open) {
        return true;
    }
    tables_run_integer(tables, "complete", complete);
    if (tables->errors[TABLE_RUN] == 0) {
        give_back(&tables->asides[TABLE_RUN]);
        tables->errors[TABLE_RUN] = commit_table(tables, TABLE_RUN);
    }
    (void)fsync(tables->dir_fd);
    tables->open = false;
    return tables->errors[TABLE_RUN] == 0;
}

void tables_discard(struct tables *tables) {
    for (int i = 0; i < TABLES; i++) {
        aside_discard(&tables->asides[i]);
    }
    if (tables->dir_fd >= 0) {
        (void)close(tables->dir_fd);
        tables->dir_fd = -1;
    }
    if (tables->made_dir) {
        (void)rmdir(tables->path);
    }
    tables->open = false;
}
