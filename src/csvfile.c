// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "csvfile.h"

#include "aside.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const prefixes[] = {"Blocksize,", "Running MQLDT over ", NULL};

static uint64_t bytes_per_s(uint64_t bytes, uint64_t ns) {
    return ns > 0 ? (uint64_t)((double)bytes * 1e9 / (double)ns + 0.5) : 0;
}

struct mqldt_row mqldt_row_of(const struct result *all, const struct writer *writers, struct result_room *room) {
    const struct statistics *figures = &all->latency->statistics;
    struct mqldt_row row = {
        .block_bytes = all->block_bytes,
        .queue_managers = all->queue_managers,
        .writes = figures->count,
        .bytes = all->bytes,
        .bytes_per_s = (uint64_t)(result_bytes_per_s(all) + 0.5),
        .max_ns = result_max_ns(all),
        .max_write = all->max_in_flight ? all->in_flight_write : figures->max_write,
        .second_bytes_min = UINT64_MAX,
    };
    if (figures->count > 0) {
        row.min_ns = figures->min_ns;
        row.min_write = figures->min_write;
        row.mean_ns = (uint64_t)(statistics_mean_ns(figures) + 0.5);
    }
    for (uint32_t i = 0; i < all->queue_managers; i++) {
        struct result one = result_of_writer(&writers[i], all->step, all->start_epoch_ns, room);
        uint64_t most = one.has_intervals ? one.interval_bytes_max : (uint64_t)result_bytes_per_s(&one);
        uint64_t least = one.has_intervals ? one.interval_bytes_min : (uint64_t)result_bytes_per_s(&one);
        row.second_bytes_max = most > row.second_bytes_max ? most : row.second_bytes_max;
        row.second_bytes_min = least < row.second_bytes_min ? least : row.second_bytes_min;
    }
    row.slowest_bytes_per_s = bytes_per_s(row.block_bytes, row.max_ns);
    row.fastest_bytes_per_s = bytes_per_s(row.block_bytes, row.min_ns);
    return row;
}

bool csvfile_check(const char *path, struct failure *failure) {
    return aside_check("csvFile", path, prefixes, "file of yours that begins as mqldt's output does", failure);
}

static void put_header(FILE *file, uint32_t queue_managers) {
    bool several = queue_managers > 1;
    if (several) {
        (void)fprintf(file, "Running MQLDT over %" PRIu32 " Queue Managers\n", queue_managers);
    }
    (void)fprintf(file, "Blocksize,Total writes to files,Total bytes written to files,"
                  "Max bytes/sec written to files%s (over 1 sec interval),"
                  "Min bytes/sec written to files%s (over 1 sec interval),Avg bytes/sec written to files%s,"
                  "Max latency of write (ns),Min latency of write (ns),Avg latency of write (ns),"
                  "Min bytes/sec (slowest write),Max bytes/sec (fastest write)\n",
                  several ? " by a single qm" : "", several ? " by a single qm" : "",
                  several ? " by all queue managers" : "");
}

static void put_row(FILE *file, const struct mqldt_row *row) {
    (void)fprintf(file, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                  ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", row->block_bytes, row->writes, row->bytes,
                  row->second_bytes_max, row->second_bytes_min, row->bytes_per_s, row->max_ns, row->min_ns,
                  row->mean_ns, row->slowest_bytes_per_s, row->fastest_bytes_per_s);
}

static void say_unwritten(const char *path, bool kept, bool taken, int error) {
    char name[PATH_MAX + 8];
    aside_path(path, name);
    if (kept) {
        output_complain("--csvFile=%s has been replaced by another file meanwhile; this run's is kept in %s", path,
                        name);
    } else if (error == EEXIST && !taken) {
        output_complain("--csvFile=%s cannot be written: %s is there already", path, name);
    } else {
        output_complain("--csvFile=%s cannot be written: %s", path, strerror(error));
    }
}

static void put_rows(FILE *file, const struct mqldt_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].queue_managers != rows[i - 1].queue_managers) {
            put_header(file, rows[i].queue_managers);
        }
        put_row(file, &rows[i]);
    }
}

bool csvfile_write(const char *path, const struct options *options, const struct mqldt_row *rows, size_t count) {
    struct aside aside;
    bool taken, kept = false;
    int error = aside_open_over(&aside, path, prefixes, &taken);
    if (error == 0 && options->queue_managers > 1) {
        error = aside_copy(path, aside.file);
        taken = error == EEXIST;
        if (error != 0) {
            aside_discard(&aside);
        }
    }
    if (error == 0) {
        put_rows(aside.file, rows, count);
        error = aside_commit(&aside);
        kept = error == EEXIST;
    }
    if (error != 0) {
        say_unwritten(path, kept, taken, error);
    }
    return error == 0;
}
