// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void separate(struct csv *csv) {
    if (csv->in_row) {
        (void)fputc(',', csv->file);
    }
    csv->in_row = true;
}

// The length of the UTF-8 sequence at text, 0 where there is none (also overlong ones and surrogates).
static size_t utf8_length(const unsigned char *text) {
    if (text[0] < 0x80) {
        return 1;
    }
    size_t length = text[0] >= 0xC2 && text[0] < 0xE0 ? 2 : text[0] >= 0xE0 && text[0] < 0xF0 ? 3
                    : text[0] >= 0xF0 && text[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] > 0x9F) ||
        (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] > 0x8F)) {
        return 0;
    }
    return length;
}

void csv_text(struct csv *csv, const char *text) {
    separate(csv);
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) {
        (void)fputc('"', csv->file);
    }
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = utf8_length(at);
        if (length == 0 || *at < 0x20 || *at == 0x7F) {
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
