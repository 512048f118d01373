// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/monitor.h"

#include "base/clock.h"
#include "base/units.h"
#include "output/console.h"

#include <time.h>

#define ROWS_PER_HEADER 10
#define BAR_MAX 30
#define BARS_MAX 128                    // enough for DISTRIBUTION_MAX_NS

static uint64_t us(uint64_t ns) {
    return (ns + 500) / 1000;
}

// Rows.

static void print_title(int width, uint64_t seconds, const char *name) {
    char title[40];
    (void)snprintf(title, sizeof title, "%" PRIu64 "s %s", seconds, name);
    console_print(" %*s", width, title);
}

static void print_titles(uint64_t every_s) {
    console_print("Seconds");
    print_title(10, every_s, "Count");
    console_print(" %12s %10s %8s %8s", "Total", "MaxTime", "MinTime", "AvgTime");
    print_title(10, every_s, "Max");
    print_title(8, every_s, "Avg");
    console_print("\n");
}

static void print_number(int width, uint64_t value) {
    char text[THOUSANDS_BYTES];
    console_print(" %*s", width, format_thousands(text, value));
}

// If there are no operations, the mean is shown as 0, like the extremes.
static uint64_t mean_ns(const struct monitor_figures *figures) {
    return figures->count > 0 ? figures->sum_ns / figures->count : 0;
}

static void print_row(struct monitor *monitor, const struct monitor_figures *step) {
    const struct monitor_figures *row = &monitor->row;
    if (monitor->rows++ % ROWS_PER_HEADER == 0) {
        print_titles(monitor->every_s);
    }
    console_print("%7" PRIu32, monitor->seconds);
    print_number(10, row->count);
    print_number(12, step->count);
    print_number(10, us(step->max_ns));
    print_number(8, us(step->min_ns));
    print_number(8, us(mean_ns(step)));
    print_number(10, us(row->max_ns));
    print_number(8, us(mean_ns(row)));
    console_print("\n");
}

// Times are in UTC, because the local time zone would have to be read from a file while the disk is measured.
static void print_new_maximum(const struct monitor *monitor, uint64_t before_ns) {
    char before[THOUSANDS_BYTES], now[THOUSANDS_BYTES];
    struct tm utc = {0};
    time_t epoch_s = (time_t)(monitor->start_epoch_ns / NS_PER_S + monitor->max_second - 1);
    (void)gmtime_r(&epoch_s, &utc);
    console_print("Maximum increased from %s to %s us in second %" PRIu32 ", at %02d:%02d:%02d UTC\n",
                  format_thousands(before, us(before_ns)), format_thousands(now, us(monitor->row.max_ns)),
                  monitor->max_second, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

static void add(struct monitor_figures *into, const struct monitor_figures *from) {
    if (from->count == 0) {
        return;
    }
    into->min_ns = into->count == 0 || from->min_ns < into->min_ns ? from->min_ns : into->min_ns;
    into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
    into->count += from->count;
    into->sum_ns += from->sum_ns;
}

// If the reader is too slow, the row is left out, and its operations count in the total of the next one.
static void end_row(struct monitor *monitor) {
    uint64_t before_ns = monitor->step.max_ns;
    bool increased = monitor->step.count > 0 && monitor->row.max_ns > before_ns;
    add(&monitor->step, &monitor->row);
    if (!console_is_behind()) {
        print_row(monitor, &monitor->step);
        if (increased) {
            print_new_maximum(monitor, before_ns);
        }
        console_flush();
    }
    monitor->row = (struct monitor_figures){0};
}

void monitor_start_step(struct monitor *monitor, uint64_t start_epoch_ns) {
    *monitor = (struct monitor){.every_s = monitor->every_s, .start_epoch_ns = start_epoch_ns};
}

void monitor_second(struct monitor *monitor, uint32_t second, bool partial, const struct distribution *latency) {
    if (monitor->every_s == 0) {
        return;
    }
    if (!partial && monitor->seconds > 0 && monitor->seconds % monitor->every_s == 0) {
        end_row(monitor);
    }
    if (latency->max_ns > monitor->row.max_ns) {
        monitor->max_second = second;
    }
    add(&monitor->row, &(struct monitor_figures){latency->count, latency->sum_ns, latency->min_ns, latency->max_ns});
    monitor->seconds += !partial;
}

// The histogram.

// The bars begin at 0, 100 ns, 125 ns ... 800 ns, 1 us, 1.25 us and so on (the preferred numbers of ISO 3, ten in each
// decade).
static uint64_t bar_from_ns(unsigned bar) {
    static const uint64_t preferred[] = {100, 125, 160, 200, 250, 315, 400, 500, 630, 800};
    if (bar == 0) {
        return 0;
    }
    uint64_t ns = preferred[(bar - 1) % 10];
    for (unsigned decade = 0; decade < (bar - 1) / 10; decade++) {
        ns *= 10;
    }
    return ns;
}

// Fills in the count of each bar, with the same accuracy as the buckets of the distribution. Returns the number of
// bars.
static unsigned fill_bars(const struct distribution *step, uint64_t bars[BARS_MAX]) {
    uint64_t left = step->count;
    unsigned count = 0;
    for (; left > 0; count++) {
        uint64_t to_ns = bar_from_ns(count + 1);
        uint64_t beyond = to_ns <= DISTRIBUTION_MAX_NS ? distribution_over(step, to_ns - 1).count : 0;
        bars[count] = left - beyond;
        left = beyond;
    }
    return count;
}

static const char *bound_us(char text[THOUSANDS_BYTES], uint64_t ns) {
    if (ns % 1000 == 0) {
        return format_thousands(text, ns / 1000);
    }
    (void)snprintf(text, THOUSANDS_BYTES, "%g", (double)ns / 1000);
    return text;
}

static void print_bar(unsigned bar, uint64_t operations, uint64_t most, uint64_t all) {
    char from[THOUSANDS_BYTES], to[THOUSANDS_BYTES], text[THOUSANDS_BYTES];
    int length = (int)((double)operations * BAR_MAX / (double)most + 0.5);
    console_print(
        "%10s - %10s %14s %6.2f%%%s%.*s\n", bound_us(from, bar_from_ns(bar)), bound_us(to, bar_from_ns(bar + 1)),
        format_thousands(text, operations), 100 * (double)operations / (double)all, length > 0 ? "  " : "", length,
        "==============================");
}

static void print_histogram(const struct distribution *step) {
    uint64_t bars[BARS_MAX], most = 0;
    unsigned count = fill_bars(step, bars), shown = 0;
    for (unsigned bar = 0; bar < count; bar++) {
        most = bars[bar] > most ? bars[bar] : most;
    }
    console_print("\n%23s %14s %7s\n", "Time (us)", "Frequency", "Share");
    for (unsigned bar = 0; bar < count; bar++) {
        if (bars[bar] > 0) {
            console_print("%s", shown > 0 && bars[bar - 1] == 0 ? "       ...\n" : "");
            print_bar(bar, bars[bar], most, step->count);
            shown++;
        }
    }
    console_print("\n");
}

void monitor_end_step(struct monitor *monitor, const struct distribution *step) {
    if (monitor->every_s == 0) {
        return;
    }
    if (monitor->seconds > 0 || monitor->row.count > 0) {
        end_row(monitor);
    }
    if (step->count > 0) {
        print_histogram(step);
    }
}
