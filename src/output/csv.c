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
        text_add(&csv->text, ",", 1);
    }
    csv->in_row = true;
}

void csv_text(struct csv *csv, const char *text) {
    separate(csv);
    const char *quote = strpbrk(text, ",\"\r\n") != NULL ? "\"" : "";
    text_printf(&csv->text, "%s", quote);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = printable_length(at);
        if (length == 0) {
            text_printf(&csv->text, "\\x%02X", *at++);
        } else {
            text_printf(&csv->text, "%s%.*s", *at == '"' ? "\"" : "", (int)length, (const char *)at);
            at += length;
        }
    }
    text_printf(&csv->text, "%s", quote);
}

void csv_integer(struct csv *csv, uint64_t value) {
    separate(csv);
    text_printf(&csv->text, "%" PRIu64, value);
}

void csv_real(struct csv *csv, double value, int places) {
    separate(csv);
    if (isfinite(value)) {
        text_printf(&csv->text, "%.*f", places, value);
    }
}

void csv_empty(struct csv *csv) {
    separate(csv);
}

void csv_end_row(struct csv *csv) {
    text_add(&csv->text, "\n", 1);
    csv->in_row = false;
}
