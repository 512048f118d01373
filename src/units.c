// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "units.h"

#include <inttypes.h>
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

const char *format_thousands(char text[THOUSANDS_BYTES], uint64_t value) {
    char digits[21];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
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
