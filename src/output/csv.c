// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/csv.h"

#include "base/printable.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void separate(struct csv *csv) {
    if (csv->in_row) {
        (void)fputc(',', csv->file);
    }
    csv->in_row = true;
}

void csv_text(struct csv *csv, const char *text) {
    separate(csv);
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) {
        (void)fputc('"', csv->file);
    }
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = printable_length(at);
        if (length == 0) {
            (void)fprintf(csv->file, "\\x%02X", *at);
            at++;
            continue;
        }
        if (*at == '"') {
            (void)fputc('"', csv->file);
        }
        (void)fwrite(at, 1, length, csv->file);
        at += length;
    }
    if (quoted) {
        (void)fputc('"', csv->file);
    }
}

void csv_integer(struct csv *csv, uint64_t value) {
    separate(csv);
    (void)fprintf(csv->file, "%" PRIu64, value);
}

void csv_real(struct csv *csv, double value, int places) {
    separate(csv);
    if (isfinite(value)) {
        (void)fprintf(csv->file, "%.*f", places, value);
    }
}

void csv_empty(struct csv *csv) {
    separate(csv);
}

void csv_end_row(struct csv *csv) {
    (void)fputc('\n', csv->file);
    csv->in_row = false;
}
