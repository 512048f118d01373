// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/csv.h"

#include <math.h>

static void separate(struct text *text) {
    if (text->length > 0 && text->bytes[text->length - 1] != '\n') {
        text_add(text, ",", 1);
    }
}

static void put_json_text(struct text *text, const char *value) {
    struct text printable = {0};
    text_escape(&printable, value, '\0');
    text_add(text, "\"", 1);
    for (size_t i = 0; i < printable.length; i++) {
        text_add(text, "\\", printable.bytes[i] == '"' || printable.bytes[i] == '\\' ? 1 : 0);
        text_add(text, &printable.bytes[i], 1);
    }
    text_add(text, "\"", 1);
    text->incomplete |= printable.incomplete;
    text_free(&printable);
}

static void put_member(struct csv *csv, const char *name, const char *unit, const char *value) {
    struct text *text = &csv->text;
    bool begins = text->length == 0 || text->bytes[text->length - 1] == '\n';
    text_printf(text, "%s\"%s%s\":", csv->form == CSV_MEMBERS ? "" : begins ? "{" : ",",
                csv->prefix != NULL ? csv->prefix : "", name);
    if (strcmp(unit, "text") == 0) {
        put_json_text(text, value);
    } else if (value[0] == '\0') {
        text_printf(text, "null");
    } else if (strcmp(unit, "0/1") == 0) {
        text_printf(text, "%s", value[0] == '1' ? "true" : "false");
    } else {
        text_printf(text, "%s", value);
    }
    if (csv->form == CSV_MEMBERS) {
        text_printf(text, ",\n");
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
    text_printf(&csv->text, csv->form == CSV_OBJECTS ? "},\n" : "\n");
}

void csv_text(struct csv *csv, const char *name, const char *unit, const char *value) {
    if (csv->form >= CSV_OBJECTS) {
        put_member(csv, name, unit, value != NULL ? value : "");
        return;
    }
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
