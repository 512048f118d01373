// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/units.h"

#include <locale.h>

#define BILLION UINT64_C(1000000000)

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit sizes[] = {
    {"", 1}, {"K", 1 << 10}, {"k", 1 << 10}, {"M", 1 << 20}, {"m", 1 << 20}, {"G", 1 << 30}, {"g", 1 << 30}};
static const struct unit durations[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", BILLION}};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

// Reads one or more digits, and sets *end to the first character after them. Fails on overflow.
static bool read_digits(const char *text, char **end, uint64_t *value) {
    errno = 0;
    *value = strtoull(text, end, 10);
    return text[0] >= '0' && text[0] <= '9' && errno == 0;
}

static bool parse_in_unit(const char *text, const struct unit *units, size_t count, uint64_t *value) {
    char *end;
    uint64_t number;
    bool good = read_digits(text, &end, &number);
    for (size_t i = 0; good && i < count; i++) {
        if (strcmp(end, units[i].name) == 0 && number <= UINT64_MAX / units[i].factor) {
            *value = number * units[i].factor;
            return true;
        }
    }
    return false;
}

bool parse_integer(const char *text, uint64_t *value) {
    return parse_in_unit(text, sizes, 1, value);
}

bool parse_size(const char *text, uint64_t *bytes) {
    return parse_in_unit(text, sizes, LENGTH(sizes), bytes);
}

bool parse_duration(const char *text, uint64_t *ns) {
    return parse_in_unit(text, durations, LENGTH(durations), ns);
}

bool parse_decimal(const char *text, uint64_t *billionths) {
    char *end;
    uint64_t whole, part = 0, weight = BILLION;
    if (!read_digits(text, &end, &whole) || whole > UINT64_MAX / BILLION - 1) {
        return false;
    }
    if (*end == '.') {
        for (end++; *end >= '0' && *end <= '9' && weight > 1; end++) {
            weight /= 10;
            part += (uint64_t)(*end - '0') * weight;
        }
    }
    if (*end != '\0' || end[-1] == '.') {
        return false;
    }
    *billionths = whole * BILLION + part;
    return true;
}

static locale_t people;                 // 0: numbers are not grouped

void group_digits_as_locale(void) {
    people = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
}

const char *format_thousands(char text[THOUSANDS_BYTES], uint64_t value) {
    locale_t before = uselocale(people);
    (void)snprintf(text, THOUSANDS_BYTES, "%'" PRIu64, value);
    (void)uselocale(before);
    return text;
}

const char *format_size(char text[SIZE_NAME_BYTES], uint64_t bytes) {
    const struct unit *unit = &sizes[0];
    for (size_t i = 1; i < LENGTH(sizes) && bytes > 0; i += 2) {
        unit = bytes % sizes[i].factor == 0 ? &sizes[i] : unit;
    }
    (void)snprintf(text, SIZE_NAME_BYTES, "%" PRIu64 "%s", bytes / unit->factor, unit->name);
    return text;
}

const char *format_duration(char text[DURATION_BYTES], uint64_t ns) {
    static const struct { const char *unit; double ns; } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double value = (double)ns / units[i].ns;
        if (value >= 0.9995) {          // is shown as 1.00
            int places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
            (void)snprintf(text, DURATION_BYTES, "%.*f %s", places, value, units[i].unit);
            return text;
        }
    }
    (void)snprintf(text, DURATION_BYTES, "%" PRIu64 " ns", ns);
    return text;
}
