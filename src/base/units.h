// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Numbers as people write and read them. Parsing is strict: the whole text must be a number, without blanks, a sign or
// overflow. If it is not, the result is false and *value is unchanged. K, M and G are 1024-based and may be lower case.
#pragma once

#include "base/standard.h"

bool parse_integer(const char *text, uint64_t *value);
bool parse_size(const char *text, uint64_t *bytes);
// Parses a decimal with up to nine places ("12", "0.5", "1790000000.25") as billionths, so that seconds become
// nanoseconds.
bool parse_decimal(const char *text, uint64_t *billionths);
// Parses a whole number and its unit, which is ns, us, ms or s: "500us".
bool parse_duration(const char *text, uint64_t *ns);

#define THOUSANDS_BYTES 100
// From here on, format_thousands groups digits as the user's locale does. Nothing else depends on that locale.
void group_digits_as_locale(void);
// Formats a number for people: 1234567 becomes 1,234,567 if the locale groups digits like that. Returns text.
const char *format_thousands(char text[THOUSANDS_BYTES], uint64_t value);

#define DURATION_BYTES 24
// Formats a duration with three digits and its unit: 1234567 becomes 1.23 ms, and 999 becomes 999 ns. Returns text.
const char *format_duration(char text[DURATION_BYTES], uint64_t ns);

#define SIZE_NAME_BYTES 24
// Formats a size: 131072 becomes 128K, 1048576 becomes 1M, and 5000 remains 5000. Returns text.
const char *format_size(char text[SIZE_NAME_BYTES], uint64_t bytes);
