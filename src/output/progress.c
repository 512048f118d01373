// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/progress.h"

#include "output/replace_file.h"
#include "output/outlet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 512

static const char *const prefixes[] = {"state=", NULL};

bool progress_check(const char *path, struct failure *failure) {
    return aside_check("progress", path, prefixes, "progress file of yours", failure);
}

// A line that cannot be written is left out.
static int replace_file(const void *path, const char *line, size_t length) {
    struct aside aside;
    bool taken;
    int error = aside_open_over(&aside, path, prefixes, &taken);
    if (error == 0) {
        (void)fwrite(line, 1, length, aside.file);
        error = aside_commit_quickly(&aside);
    }
    return error;
}

static struct outlet outlet = {.deliver = replace_file, .latest_only = true};

bool progress_start(const struct progress *progress) {
    outlet.argument = progress->path;
    return progress->path == NULL || outlet_start(&outlet);
}

// Adds to a line of LINE_BYTES, which is longer than all pairs together.
static void add(char *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *line, const char *format, ...) {
    size_t length = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line + length, LINE_BYTES - length, format, arguments);
    va_end(arguments);
}

static void add_writes(char *line, const struct series *writes) {
    uint64_t p99_ns;
    add(line, " writes=%" PRIu64, writes != NULL ? writes->statistics.count : 0);
    if (writes != NULL && series_percentile_ns(writes, 990000, &p99_ns)) {
        add(line, " latency_p99_ns=%" PRIu64, p99_ns);
    }
    if (writes != NULL && writes->statistics.count > 0) {
        add(line, " latency_max_ns=%" PRIu64, writes->statistics.max_ns);
    }
}

void progress_write(const struct progress *progress) {
    char line[LINE_BYTES] = "";
    if (progress->path == NULL) {
        return;
    }
    add(line, "state=%s step=%" PRIu32 " steps=%" PRIu32 " percent=%.1f elapsed_s=%" PRIu64 " remaining_s=%" PRIu64
        " block_size_bytes=%" PRIu64 " queue_managers=%" PRIu32, progress->state, progress->step, progress->steps,
        progress->percent, progress->elapsed_s, progress->remaining_s, progress->block_bytes,
        progress->queue_managers);
    add_writes(line, progress->writes);
    add(line, " error=%d\n", progress->error);
    outlet_put(&outlet, line, strlen(line));
    outlet_release(&outlet);
}

bool progress_idle(void) {
    return outlet_idle(&outlet);
}

void progress_end(void) {
    outlet_end(&outlet);
}
