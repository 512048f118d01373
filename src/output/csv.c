// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/csv.h"

#include <math.h>

static void separate(struct text *text) {
    if (text->length > 0 && text->bytes[text->length - 1] != '\n') {
        text_add(text, ",", 1);
    }
}

void csv_field(struct csv *csv, const char *value) {
    const char *quote = strpbrk(value, ",\"") != NULL ? "\"" : "";
    separate(&csv->text);
    text_add(&csv->text, quote, strlen(quote));
    text_escape(&csv->text, value, '"');
    text_add(&csv->text, quote, strlen(quote));
}

void csv_end_row(struct csv *csv) {
    text_add(&csv->text, "\n", 1);
}

void csv_text(struct csv *csv, const char *name, const char *unit, const char *value) {
    if (csv->form == CSV_LIST) {
        csv_field(csv, csv->table);
    }
    if (csv->form != CSV_VALUES) {
        separate(&csv->text);
        text_printf(&csv->text, "%s%s", csv->prefix != NULL ? csv->prefix : "", name);
    }
    if (csv->form != CSV_NAMES) {
        csv_field(csv, csv->form == CSV_LIST ? unit : value != NULL ? value : "");
    }
    if (csv->form == CSV_PAIRS || csv->form == CSV_LIST) {
        csv_end_row(csv);
    }
}

void csv_integer_if(struct csv *csv, const char *name, const char *unit, bool known, uint64_t value) {
    char digits[24] = "";
    if (known) {
        (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    }
    csv_text(csv, name, unit, digits);
}

void csv_integer(struct csv *csv, const char *name, const char *unit, uint64_t value) {
    csv_integer_if(csv, name, unit, true, value);
}

void csv_real(struct csv *csv, const char *name, const char *unit, double value, int places) {
    char digits[400] = "";
    if (isfinite(value)) {
        (void)snprintf(digits, sizeof digits, "%.*f", places, value);
    }
    csv_text(csv, name, unit, digits);
}

void csv_worker(struct csv *csv, uint32_t worker) {
    char number[16] = "all";
    if (worker > 0) {
        (void)snprintf(number, sizeof number, "%" PRIu32, worker);
    }
    csv_text(csv, "worker", "text", number);
}
