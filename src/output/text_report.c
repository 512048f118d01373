// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/text_report.h"

#include "base/clock.h"
#include "output/console.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>

#define PLAIN_LINES_PER_STEP 10

static const char *number(uint64_t value) {
    static char text[THOUSANDS_BYTES];      // only the main thread prints
    return format_thousands(text, value);
}

static void option_list(const char *name, const struct number_list *list, bool sizes) {
    console_print("%s : ", name);
    for (size_t i = 0; i < list->count; i++) {
        char text[SIZE_NAME_BYTES];
        (void)snprintf(text, sizeof text, "%" PRIu64, list->values[i]);
        console_print("%s%s", i > 0 ? "," : "", sizes ? format_size(text, list->values[i]) : text);
    }
    console_print("\n");
}

static void option_number(const char *name, uint64_t value, const char *unit) {
    console_print("%s : %" PRIu64 "%s\n", name, value, unit);
}

static void option_text(const char *name, const char *value) {
    struct text text = {0};
    text_escape(&text, value, '\0');
    console_print("%s : %s\n", name, text.bytes != NULL ? text.bytes : "");
    text_free(&text);
}

void screen_options(const struct options *options) {
    console_print("\nOptions (specified or defaulted to)\n"
                  "=====================================================================================\n");
    option_list("Write blocksize             (--bsize)             ", &options->block_sizes, true);
    option_text("Directory to write to       (--dir)               ", options->dir);
    option_text("Test file prefix            (--filePrefix)        ", options->file_prefix);
    option_number("Number of files to write to (--numFiles)          ", options->files, "");
    option_number("Size of test files          (--fileSize)          ", options->file_bytes, " bytes");
    option_number("Test duration               (--duration)          ", options->duration_s, " s");
    option_list("Number of queue managers    (--qm)                ", &options->load_points, false);
    if (options->warmup_s > 0) {
        option_number("Warm-up                     (--warmup)            ", options->warmup_s, " s");
    }
    if (options->delay_us > 0) {
        option_number("Delay after each write      (--delay)             ", options->delay_us, " us");
    }
    if (options->rate_micro_per_s > 0) {
        console_print("Rate of each queue manager  (--rate)               : %.3f writes/s\n",
                      (double)options->rate_micro_per_s / 1e6);
    }
    if (options->background_threads > 0) {
        option_number("Background threads          (--backgroundThreads) ", options->background_threads, "");
    }
    console_print("Sync mode, direct I/O       (--sync, --direct)     : %s, %s\n\n", sync_name(options->sync),
                  options->direct != 0 ? "yes" : "no");
    console_flush();
}

void screen_initial_write(const struct initial_write *initial_write) {
    double seconds = (double)initial_write->elapsed_ns / (double)NS_PER_S;
    console_print("Initial write (preformatting): %s bytes in %.3f s", number(initial_write->bytes), seconds);
    console_print(", %s bytes/sec", number(seconds > 0 ? (uint64_t)((double)initial_write->bytes / seconds) : 0));
    console_print(", slowest part %s ns\n\n", number(initial_write->slowest_part_ns));
    console_flush();
}

static void print_step(const struct screen *screen) {
    char size[SIZE_NAME_BYTES];
    console_print("Executing test for write blocksize %" PRIu64 " (%s), %" PRIu32 " queue manager%s. Seconds elapsed -> ",
                  screen->block_bytes, format_size(size, screen->block_bytes), screen->queue_managers,
                  screen->queue_managers == 1 ? "" : "s");
}

static void print_elapsed(struct screen *screen, uint64_t elapsed_s) {
    if (screen->terminal) {
        console_print("\r");
    }
    print_step(screen);
    console_print("%" PRIu64 "/%" PRIu64 "%s", elapsed_s, screen->duration_s, screen->terminal ? "" : "\n");
    console_flush();
    screen->shown_s = elapsed_s;
}

void screen_start_step(struct screen *screen, uint64_t block_bytes, uint32_t queue_managers, uint64_t duration_s) {
    screen->block_bytes = block_bytes;
    screen->queue_managers = queue_managers;
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

static void print_percentile(const char *name, const struct distribution *distribution, uint64_t quantile_ppm) {
    uint64_t ns;
    if (distribution_percentile_ns(distribution, quantile_ppm, &ns)) {
        console_print("%-7s latency (ns)           : %15s\n", name, number(ns));
    }
}

void screen_result(const struct mqldt_row *row, const struct result *all) {
    bool several = row->queue_managers > 1;
    const char *single = several ? " by a single qm" : "";
    console_print("Total writes to files                                               : %15s\n", number(row->writes));
    console_print("IOPS                                                                : %15s\n",
                  number((uint64_t)(result_operations_per_s(all) + 0.5)));
    console_print("Total bytes written to files                                        : %15s\n", number(row->bytes));
    console_print("Max bytes/sec written to files%s (over 1 sec interval)%*s : %15s\n", single, several ? 0 : 15, "",
                  number(row->second_bytes_max));
    console_print("Min bytes/sec written to files%s (over 1 sec interval)%*s : %15s\n", single, several ? 0 : 15, "",
                  number(row->second_bytes_min));
    console_print("Avg bytes/sec written to files%s%*s : %15s\n\n", several ? " by all queue managers" : "",
                  several ? 15 : 37, "", number(row->bytes_per_s));
    console_print("Max latency of write (ns)      : %s%15s", all->max_in_flight ? ">= " : "", number(row->max_ns));
    console_print(" (#%s)\n", number(row->max_write));
    console_print("Min bytes/sec (slowest write)  : %15s\n", number(row->slowest_bytes_per_s));
    console_print("Min latency of write (ns)      : %15s", number(row->min_ns));
    console_print(" (#%s)\n", number(row->min_write));
    console_print("Max bytes/sec (fastest write)  : %15s\n", number(row->fastest_bytes_per_s));
    console_print("Avg latency of write (ns)      : %15s\n", number(row->mean_ns));
    if (row->writes > 0) {
        console_print("Deviation of latency (ns)      : %15s\n",
                      number((uint64_t)(distribution_deviation_ns(all->latency) + 0.5)));
    }
    static const struct { const char *name; uint64_t ppm; } percentiles[] = {
        {"p50", 500000}, {"p90", 900000}, {"p99", 990000}, {"p99.9", 999000}, {"p99.99", 999900},
        {"p99.999", 999990}};
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
        print_percentile(percentiles[i].name, all->latency, percentiles[i].ppm);
    }
    console_print("Passes over the test files     : %15.3f\n\n", all->ring_passes);
    console_flush();
}

void screen_queue_manager(const struct result *one) {
    const struct distribution *figures = one->latency;
    console_print("Queue manager %" PRIu32 ": %s writes", one->key.worker, number(figures->count));
    if (figures->count > 0) {
        console_print(", %s bytes/sec", number((uint64_t)(result_bytes_per_s(one) + 0.5)));
        console_print(", avg %s ns", number((uint64_t)(distribution_mean_ns(figures) + 0.5)));
        console_print(", max %s ns", number(figures->max_ns));
    }
    console_print("\n");
}
