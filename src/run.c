// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void run_warn(struct run *run, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "logdisk: warning: %s\n", text);
    if (run->warnings_count < RUN_WARNINGS_MAX) {
        char *copy = strdup(text);
        if (copy != NULL) {
            run->warnings[run->warnings_count++] = copy;
        }
    }
}

void run_note_stop(struct run *run) {
    const struct supervisor *supervisor = &run->supervisor;
    const char *what = supervisor->reason == STOP_DEADLINE ? "the deadline has passed"
                       : supervisor->signal == SIGINT ? "interrupted by SIGINT"
                       : supervisor->signal == SIGTERM ? "interrupted by SIGTERM" : "interrupted by SIGHUP";
    if (run->has_in_flight) {
        (void)failure_set(&run->failure, EXIT_INTERRUPTED, "%s; the write at offset %" PRIu64 " of %s had been in flight "
                          "for %.3f s", what, run->in_flight.offset_bytes, run->in_flight_file,
                          (double)run->in_flight.latency_ns / 1e9);
    } else {
        (void)failure_set(&run->failure, EXIT_INTERRUPTED, "%s", what);
    }
}
