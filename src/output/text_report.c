// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/text_report.h"

#include "base/units.h"
#include "output/console.h"

#define PLAIN_LINES_PER_STEP 10
#define WIDE 67                // width of the titles of amounts written, and of latencies
#define NARROW 30

static const char *number(uint64_t value) {
    static char text[THOUSANDS_BYTES];      // only the main thread prints
    return format_thousands(text, value);
}

static const char *duration(uint64_t ns) {
    static char text[DURATION_BYTES];
    return format_duration(text, ns);
}

static void print_option(const char *label, const char *names, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_option(const char *label, const char *names, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    console_print("%-28s%-22s : ", label, names);
    console_vescape(format, arguments);
    console_print("\n");
    va_end(arguments);
}

static void print_list(const char *label, const char *names, const struct number_list *list) {
    struct text text = {0};
    for (size_t i = 0; i < list->count; i++) {
        char size[SIZE_NAME_BYTES];
        text_printf(&text, "%s%s", i > 0 ? "," : "", format_size(size, list->values[i]));
    }
    print_option(label, names, "%s", text.bytes != NULL ? text.bytes : "");
    text_free(&text);
}

static void print_commit_options(const struct options *options) {
    print_list("Message size", "(--msgSize)", &options->message_sizes);
    print_list("Applications per QM", "(--apps)", &options->applications);
    print_option("Messages in a commit", "(--putsPerCommit)", "%" PRIu64, options->puts_per_commit);
    print_option("Think time", "(--thinkTime)", "%" PRIu64 " us", options->think_us);
    print_option("Log buffer", "(--logBuffer)", "%" PRIu64 " bytes", options->log_buffer_bytes);
    print_option("Partial page", "(--tripleWrite)", "%s", options->triple_write ? "rewritten" : "left");
    print_option("Remote delay", "(--remoteDelay)", "%" PRIu64 " us", options->remote_delay_us);
}

static void print_stream_options(const struct options *options) {
    for (size_t i = 0; i < options->places.count; i++) {
        print_option("Place", "(--place)", "%s", options->places.values[i]);
    }
    for (size_t i = 0; i < options->streams.count; i++) {
        print_option("Stream", "(--stream)", "%s", options->streams.values[i]);
    }
}

void screen_options(const struct options *options) {
    console_print("\nOptions (specified or defaulted to)\n"
                  "=====================================================================================\n");
    if (options->workload == WORKLOAD_COMMIT) {
        print_commit_options(options);
    } else if (options->workload == WORKLOAD_STREAMS) {
        print_stream_options(options);
    } else {
        print_list("Write blocksize", "(--bsize)", &options->block_sizes);
    }
    print_option("Directory to write to", "(--dir)", "%s", options->dir);
    print_option("Test file prefix", "(--filePrefix)", "%s", options->file_prefix);
    print_option("Number of files to write to", "(--numFiles)", "%" PRIu64, options->files);
    print_option("Size of test files", "(--fileSize)", "%" PRIu64 " bytes", options->file_bytes);
    print_option("Test duration", "(--duration)", "%" PRIu64 " s", options->duration_s);
    if (options->workload == WORKLOAD_STREAMS) {
        print_list("Load points", "(--load)", &options->loads);
    } else {
        print_list("Number of queue managers", "(--qm)", &options->load_points);
    }
    if (options->warmup_s > 0) {
        print_option("Warm-up", "(--warmup)", "%" PRIu64 " s", options->warmup_s);
    }
    if (options->delay_us > 0) {
        print_option("Delay after each write", "(--delay)", "%" PRIu64 " us", options->delay_us);
    }
    if (options->rate_micro_per_s > 0) {
        print_option("Rate of each queue manager", "(--rate)", "%.3f writes/s",
                     (double)options->rate_micro_per_s / 1e6);
    }
    if (options->background_threads > 0) {
        print_option("Background threads", "(--backgroundThreads)", "%" PRIu64, options->background_threads);
    }
    print_option("Sync mode, direct I/O", "(--sync, --direct)", "%s, %s", sync_names[options->sync],
                 options->direct != 0 ? "yes" : "no");
    console_print("\n");
    console_flush();
}

void screen_initial_write(const struct initial_write *initial_write) {
    double seconds = (double)initial_write->elapsed_ns / (double)NS_PER_S;
    console_print("Initial write (preformatting): %s bytes in %.3f s", number(initial_write->bytes), seconds);
    console_print(", %s bytes/sec", number(seconds > 0 ? (uint64_t)((double)initial_write->bytes / seconds) : 0));
    console_print(", slowest part %s ns\n\n", number(initial_write->slowest_part_ns));
    console_flush();
}

static void print_elapsed(struct screen *screen, uint64_t elapsed_s) {
    char size[SIZE_NAME_BYTES];
    const char *unit = screen->workload->load_unit;
    size_t length = strlen(unit);
    // the word without its plural ending
    int unit_length = (int)length - (screen->load_point == 1 && length > 1 && unit[length - 1] == 's');
    if (screen->size_bytes == 0) {
        console_print("%sExecuting test for %" PRIu32 " %.*s. Seconds elapsed -> %" PRIu64 "/%" PRIu64 "%s",
                      screen->terminal ? "\r" : "", screen->load_point, unit_length, unit, elapsed_s,
                      screen->duration_s, screen->terminal ? "" : "\n");
    } else {
        console_print(
            "%sExecuting test for %s %" PRIu64 " (%s), %" PRIu32 " %.*s. Seconds elapsed -> %" PRIu64 "/%" PRIu64 "%s",
            screen->terminal ? "\r" : "", screen->workload->step_title, screen->size_bytes,
            format_size(size, screen->size_bytes), screen->load_point, unit_length, unit, elapsed_s, screen->duration_s,
            screen->terminal ? "" : "\n");
    }
    console_flush();
    screen->shown_s = elapsed_s;
}

void screen_start_step(struct screen *screen, const struct result_key *step, uint64_t duration_s) {
    screen->size_bytes = step->block_bytes;
    screen->load_point = step->load_point;
    screen->duration_s = duration_s;
    print_elapsed(screen, 0);
}

void screen_elapsed(struct screen *screen, uint64_t elapsed_s) {
    uint64_t every_s = screen->terminal ? 1 : (screen->duration_s + PLAIN_LINES_PER_STEP - 1) / PLAIN_LINES_PER_STEP;
    if (elapsed_s >= screen->shown_s + every_s && elapsed_s <= screen->duration_s && !console_is_behind()) {
        print_elapsed(screen, elapsed_s);
    }
}

void screen_end_step(struct screen *screen, uint64_t elapsed_s) {
    if (elapsed_s != screen->shown_s) {
        print_elapsed(screen, elapsed_s);
    }
    console_print(screen->terminal ? "\n\n" : "\n");
}

// ordinal: the number of the write, or 0 if the line is not about a single write.
static void print_figure(const char *title, int width, const char *sign, uint64_t value, uint64_t ordinal) {
    console_print("%-*s : %s%15s", width, title, sign, number(value));
    if (ordinal > 0) {
        console_print(" (#%s)", number(ordinal));
    }
    console_print("\n");
}

// A line that mqldt does not have: the duration also appears in a unit for people.
static void print_duration(const char *title, const char *sign, uint64_t ns, uint64_t ordinal) {
    console_print("%-*s : %s%15s", NARROW, title, sign, number(ns));
    console_print("  %9s", duration(ns));
    if (ordinal > 0) {
        console_print(" (#%s)", number(ordinal));
    }
    console_print("\n");
}

static void print_mqldt(const struct mqldt_row *row, enum mqldt_column column, const char *sign, uint64_t ordinal) {
    const char *title = mqldt_title(column, row->queue_managers);
    print_figure(title, column < MQLDT_MAX ? WIDE : NARROW, sign, row->values[column], ordinal);
}

static void print_percentiles(const struct result *all) {
    static const struct { const char *title; uint64_t ppm; } percentiles[] = {
        {"p50     latency (ns)", 500000}, {"p90     latency (ns)", 900000}, {"p99     latency (ns)", 990000},
        {"p99.9   latency (ns)", 999000}, {"p99.99  latency (ns)", 999900}, {"p99.999 latency (ns)", 999990}};
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
        uint64_t ns;
        if (distribution_percentile_ns(all->latency, BY_COUNT, percentiles[i].ppm, &ns)) {
            print_duration(percentiles[i].title, "", ns, 0);
        }
    }
}

void screen_result(const struct mqldt_row *row, const struct result *all) {
    print_mqldt(row, MQLDT_WRITES, "", 0);
    print_figure("IOPS", WIDE, "", (uint64_t)(all->operations_per_s + 0.5), 0);
    for (int column = MQLDT_BYTES; column <= MQLDT_BYTES_PER_S; column++) {
        print_mqldt(row, (enum mqldt_column)column, "", 0);
    }
    console_print("\n");
    print_mqldt(row, MQLDT_MAX, all->max_in_flight ? ">= " : "", all->max_ordinal);
    print_mqldt(row, MQLDT_SLOWEST, "", 0);
    print_mqldt(row, MQLDT_MIN, "", all->latency->min_ordinal);
    print_mqldt(row, MQLDT_FASTEST, "", 0);
    print_mqldt(row, MQLDT_MEAN, "", 0);
    if (all->latency->count > 0) {
        print_duration("Deviation of latency (ns)", "", (uint64_t)(distribution_deviation_ns(all->latency) + 0.5), 0);
    }
    print_percentiles(all);
    console_print("%-*s : %15.3f\n\n", NARROW, "Passes over the test files", all->ring_passes);
    console_flush();
}

// Prints mean, extremes and percentiles of writes or commits.
static void print_latency(const struct result *all) {
    uint64_t count = all->latency->count;
    print_duration("Max latency (ns)", all->max_in_flight ? ">= " : "", all->max_ns, all->max_ordinal);
    print_duration("Min latency (ns)", "", count > 0 ? all->latency->min_ns : 0,
                   count > 0 ? all->latency->min_ordinal : 0);
    print_duration("Avg latency (ns)", "", count > 0 ? (uint64_t)(distribution_mean_ns(all->latency) + 0.5) : 0, 0);
    print_percentiles(all);
}

void screen_commits(const struct result *all) {
    print_figure("Total commits of all applications", WIDE, "", all->latency->count, 0);
    print_figure("Commits/sec", WIDE, "", (uint64_t)(all->operations_per_s + 0.5), 0);
    print_figure("Messages/sec", WIDE, "", (uint64_t)(all->messages_per_s + 0.5), 0);
    print_figure("Message bytes/sec", WIDE, "", (uint64_t)(all->bytes_per_s + 0.5), 0);
    console_print("Commits, as the applications see them:\n");
    print_latency(all);
    console_print("\n");
}

void screen_log_of_commits(const struct result *all) {
    bool some = all->latency->count > 0;
    console_print("Writes of the log:\n");
    print_figure("Writes", NARROW, "", all->latency->count, 0);
    print_figure("IOPS", NARROW, "", (uint64_t)(all->operations_per_s + 0.5), 0);
    print_figure("Bytes/sec", NARROW, "", (uint64_t)(all->bytes_per_s + 0.5), 0);
    print_figure("Max size (bytes)", NARROW, "", all->sizes->max_ns, 0);
    print_figure("Min size (bytes)", NARROW, "", some ? all->sizes->min_ns : 0, 0);
    print_figure("Avg size (bytes)", NARROW, "", some ? (uint64_t)(distribution_mean_ns(all->sizes) + 0.5) : 0, 0);
    print_latency(all);
    console_print("%-*s : %15.3f\n", NARROW, "Logger busy (share of time)", all->utilisation_share);
    console_print("%-*s : %15.3f\n\n", NARROW, "Passes over the test files", all->ring_passes);
    console_flush();
}

void screen_stream(const struct result *all) {
    uint64_t p99_ns, count = all->latency->count;
    console_print("%-20s %-5s : %s operations, %.1f/sec", all->key.stream, all->key.operation, number(count),
                  all->operations_per_s);
    console_print(", %s bytes/sec", number((uint64_t)(all->bytes_per_s + 0.5)));
    if (count > 0) {
        console_print(", avg %s", duration((uint64_t)(distribution_mean_ns(all->latency) + 0.5)));
        if (distribution_percentile_ns(all->latency, BY_COUNT, 990000, &p99_ns)) {
            console_print(", p99 %s", duration(p99_ns));
        }
        console_print(", max %s%s", all->max_in_flight ? ">= " : "", duration(all->max_ns));
    }
    if (all->response != NULL && all->response->count > 0) {
        console_print(", avg response %s", duration((uint64_t)(distribution_mean_ns(all->response) + 0.5)));
    }
    console_print("%s", strcmp(all->key.stream, "all") == 0 ? "\n\n" : "\n");
    console_flush();
}

void screen_queue_manager(const struct result *one) {
    const struct distribution *figures = one->latency;
    console_print("Queue manager %" PRIu32 ": %s writes", one->key.worker, number(figures->count));
    if (figures->count > 0) {
        console_print(", %s bytes/sec", number((uint64_t)(one->bytes_per_s + 0.5)));
        console_print(", avg %s", duration((uint64_t)(distribution_mean_ns(figures) + 0.5)));
        console_print(", max %s", duration(figures->max_ns));
    }
    console_print("\n");
}

static void put_us(struct text *row, bool known, double ns) {
    if (known) {
        text_printf(row, " %10.1f", ns / 1e3);
    } else {
        text_printf(row, " %10s", "");
    }
}

void screen_summarize(struct screen *screen, const struct result *all) {
    static const uint64_t percentiles_ppm[] = {500000, 990000, 999000};
    struct text *row = &screen->summary;
    bool some = all->latency->count > 0;
    char size[SIZE_NAME_BYTES];
    const char *step = all->key.block_bytes > 0 ? format_size(size, all->key.block_bytes) : "";
    text_printf(row, "%10s %6" PRIu32 "  %-10s %-9s %12" PRIu64 " %14.0f", step, all->key.load_point, all->key.stream,
                all->key.operation, all->latency->count, all->bytes_per_s);
    put_us(row, some, some ? distribution_mean_ns(all->latency) : 0);
    for (size_t i = 0; i < sizeof percentiles_ppm / sizeof percentiles_ppm[0]; i++) {
        uint64_t ns = 0;
        bool known = distribution_percentile_ns(all->latency, BY_COUNT, percentiles_ppm[i], &ns);
        put_us(row, known, (double)ns);
    }
    put_us(row, true, (double)all->max_ns);
    text_printf(row, "\n");
}

void screen_summary(const struct screen *screen) {
    console_print("\nSummary (latencies in microseconds)\n%10s %6s  %-10s %-9s %12s %14s %10s %10s %10s %10s %10s\n%s",
                  "Size", "Load", "Stream", "Operation", "Operations", "Bytes/sec", "Avg", "p50", "p99", "p99.9", "Max",
                  screen->summary.bytes != NULL ? screen->summary.bytes : "");
}
