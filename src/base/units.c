// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/units.h"

#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

// Reads digits up to the first other character, which *end is left at; at least one, and no overflow.
static bool read_digits(const char *text, const char **end, uint64_t *value) {
    uint64_t sum = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (sum > (UINT64_MAX - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *end = at;
    *value = sum;
    return at != text;
}

bool parse_integer(const char *text, uint64_t *value) {
    const char *end;
    uint64_t number;
    if (!read_digits(text, &end, &number) || *end != '\0') {
        return false;
    }
    *value = number;
    return true;
}

static unsigned suffix_shift(char suffix) {
    switch (suffix) {
    case 'k': case 'K': return 10;
    case 'm': case 'M': return 20;
    case 'g': case 'G': return 30;
    default: return 0;
    }
}

bool parse_size(const char *text, uint64_t *bytes) {
    const char *end;
    uint64_t number;
    if (!read_digits(text, &end, &number)) {
        return false;
    }
    unsigned shift = suffix_shift(*end);
    if (end[shift ? 1 : 0] != '\0' || number > UINT64_MAX >> shift) {
        return false;
    }
    *bytes = number << shift;
    return true;
}

bool parse_decimal(const char *text, uint64_t *billionths) {
    const char *end;
    uint64_t whole;
    if (!read_digits(text, &end, &whole) || whole > UINT64_MAX / 1000000000 - 1) {
        return false;
    }
    uint64_t sum = whole * 1000000000;
    if (*end == '.') {
        uint64_t weight = 100000000;
        const char *at = end + 1;
        for (; *at >= '0' && *at <= '9' && weight > 0; at++, weight /= 10) {
            sum += (uint64_t)(*at - '0') * weight;
        }
        if (at == end + 1) {
            return false;
        }
        end = at;
    }
    if (*end != '\0') {
        return false;
    }
    *billionths = sum;
    return true;
}

bool parse_duration(const char *text, uint64_t *ns) {
    static const struct { const char *name; uint64_t ns; } units[] = {
        {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    const char *end;
    uint64_t number;
    if (!read_digits(text, &end, &number)) {
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) == 0 && number <= UINT64_MAX / units[i].ns) {
            *ns = number * units[i].ns;
            return true;
        }
    }
    return false;
}

#define SEPARATOR_BYTES_MAX 4

static char digit_separator[SEPARATOR_BYTES_MAX + 1];
static char digit_groups[8];            // sizes of the groups from the right, as in struct lconv

void group_digits(const char *separator, const char *grouping) {
    bool fits = strlen(separator) <= SEPARATOR_BYTES_MAX;
    (void)snprintf(digit_separator, sizeof digit_separator, "%s", fits ? separator : "");
    (void)snprintf(digit_groups, sizeof digit_groups, "%s", grouping);
}

void group_digits_as_locale(void) {
    if (setlocale(LC_NUMERIC, "") != NULL) {
        const struct lconv *local = localeconv();
        group_digits(local->thousands_sep, local->grouping);
        (void)setlocale(LC_NUMERIC, "C");
    }
}

const char *format_thousands(char text[THOUSANDS_BYTES], uint64_t value) {
    char digits[21];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t separator_bytes = strlen(digit_separator);
    const char *group = digit_groups;
    char *at = text + THOUSANDS_BYTES - 1;
    *at = '\0';
    for (int in_group = 0; length > 0; in_group++) {
        if (*group != '\0' && *group != CHAR_MAX && in_group == *group) {
            at -= separator_bytes;
            memcpy(at, digit_separator, separator_bytes);
            in_group = 0;
            group += group[1] != '\0';          // the last size goes on for ever
        }
        *--at = digits[--length];
    }
    return at;
}

const char *format_size(char text[SIZE_NAME_BYTES], uint64_t bytes) {
    static const struct { unsigned shift; char suffix; } units[] = {{30, 'G'}, {20, 'M'}, {10, 'K'}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (bytes > 0 && bytes % (UINT64_C(1) << units[i].shift) == 0) {
            (void)snprintf(text, SIZE_NAME_BYTES, "%" PRIu64 "%c", bytes >> units[i].shift, units[i].suffix);
            return text;
        }
    }
    (void)snprintf(text, SIZE_NAME_BYTES, "%" PRIu64, bytes);
    return text;
}
