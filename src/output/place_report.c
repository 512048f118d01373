// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/place_report.h"

#include "base/clock.h"
#include "base/units.h"
#include "output/console.h"

// A place is identified by its name, because it may have several directories.
static bool begins_place(const struct workload *workload, uint32_t directory) {
    return directory == 0 || strcmp(workload->places[directory].name, workload->places[directory - 1].name) != 0;
}

static uint32_t place_of(const struct workload *workload, const struct stream *stream) {
    uint32_t number = 0;
    for (uint32_t i = 1; i <= stream->first_place; i++) {
        number += begins_place(workload, i);
    }
    return number;
}

static void add(struct place_figures *into, const struct place_figures *from) {
    into->count += from->count;
    into->sum_ns += from->sum_ns;
    into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
    into->response_count += from->response_count;
    into->response_sum_ns += from->response_sum_ns;
}

static void print_mean(uint64_t sum_ns, uint64_t count) {
    if (count > 0) {
        console_print(" %12.1f", (double)sum_ns / (double)count / 1e3);
    } else {
        console_print(" %12s", "");
    }
}

// Response times are shown only if all operations have one.
static void
print_row(const char *when, const char *place, const char *operation, const struct place_figures *row, double s) {
    char count[THOUSANDS_BYTES];
    console_print("%8s %-16s %-9s %12s %10.1f", when, place, operation, format_thousands(count, row->count),
                  s > 0 ? (double)row->count / s : 0);
    print_mean(row->max_ns, row->count > 0);
    print_mean(row->sum_ns, row->count);
    print_mean(row->response_sum_ns, row->response_count >= row->count ? row->response_count : 0);
    console_print("\n");
}

// Prints each place with its reads and writes, and the total of all places.
static void
print_rows(const struct place_report *report, const char *when, struct place_figures of[][OPERATIONS], double s) {
    struct place_figures all[OPERATIONS + 1] = {0};
    uint32_t number = 0;
    console_print("%8s %-16s %-9s %12s %10s %12s %12s %12s\n", "Seconds", "Place", "Operation", "Count", "IOPS",
                  "MaxTime", "AvgTime", "AvgResponse");
    for (uint32_t i = 0; i < report->workload->places_count; i++) {
        if (!begins_place(report->workload, i)) {
            continue;
        }
        for (enum operation operation = OPERATION_WRITE; operation <= OPERATION_READ; operation++) {
            const struct place_figures *row = &of[number][operation];
            if (row->count > 0) {
                print_row(when, report->workload->places[i].name, operation_name(operation), row, s);
            }
            add(&all[operation], row);
            add(&all[OPERATIONS], row);
        }
        number++;
    }
    print_row(when, "all", "write", &all[OPERATION_WRITE], s);
    print_row(when, "all", "read", &all[OPERATION_READ], s);
    print_row(when, "all", "all", &all[OPERATIONS], s);
    console_flush();
}

void place_report_start_step(struct place_report *report, const struct workload *workload, uint64_t every_s) {
    memset(report, 0, sizeof *report);
    report->workload = workload;
    report->every_s = stream_is_described(&workload->streams[0]) ? every_s : 0;
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        report->sources += stream_has(&workload->streams[i], OPERATION_WRITE);
        report->sources += stream_has(&workload->streams[i], OPERATION_READ);
    }
}

static void end_period(struct place_report *report) {
    struct place_period *period = &report->periods[report->next % PLACE_PERIODS];
    char when[24];
    (void)snprintf(when, sizeof when, "%" PRIu64, report->next * report->every_s + period->seconds);
    if (period->seconds > 0 && !console_is_behind()) {
        print_rows(report, when, period->of, period->seconds);
    }
    memset(period, 0, sizeof *period);
    report->next++;
}

void place_report_second(struct place_report *report, const struct stream *stream, enum operation operation,
                         uint32_t second, const struct distribution *latency) {
    if (report->every_s == 0) {
        return;
    }
    uint32_t number = (uint32_t)((second - 1) / report->every_s),
             in_period = (uint32_t)((second - 1) % report->every_s) + 1;
    while (number >= report->next + PLACE_PERIODS) {
        end_period(report);
    }
    if (number < report->next) {
        return;
    }
    struct place_period *period = &report->periods[number % PLACE_PERIODS];
    bool responds = stream_is_open_loop(stream);
    add(&period->of[place_of(report->workload, stream)][operation],
        &(struct place_figures){.count = latency->count, .sum_ns = latency->sum_ns, .max_ns = latency->max_ns,
                                .response_count = responds ? latency->count : 0,
                                .response_sum_ns = latency->response_sum_ns});
    period->delivered++;
    period->seconds = in_period > period->seconds ? in_period : period->seconds;
    while (report->periods[report->next % PLACE_PERIODS].delivered == report->sources * report->every_s) {
        end_period(report);
    }
}

void place_report_end_periods(struct place_report *report) {
    for (uint32_t i = 0; i < PLACE_PERIODS && report->every_s > 0; i++) {
        end_period(report);
    }
}

void place_report_add(struct place_report *report, const struct stream *stream, enum operation operation,
                      const struct result *all) {
    struct place_figures row = {.count = all->latency->count, .sum_ns = all->latency->sum_ns, .max_ns = all->max_ns};
    if (all->response != NULL) {
        row.response_count = all->response->count;
        row.response_sum_ns = all->response->sum_ns;
    }
    add(&report->step[place_of(report->workload, stream)][operation], &row);
}

void place_report_end_step(struct place_report *report, uint64_t elapsed_ns) {
    console_print("Places in this step (times in microseconds)\n");
    print_rows(report, "step", report->step, (double)elapsed_ns / (double)NS_PER_S);
    console_print("\n");
}
