// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// CSV as in RFC 4180: comma, LF, fields quoted if they need it, UTF-8; bytes that are not UTF-8, and control characters,
// appear as \xNN. An unknown value is an empty field. Each call writes one value, with its separator.
#ifndef LOGDISK_CSV_H
#define LOGDISK_CSV_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct csv {
    struct text text;
    bool in_row;
};

void csv_text(struct csv *csv, const char *text);
void csv_integer(struct csv *csv, uint64_t value);
void csv_real(struct csv *csv, double value, int places);       // empty if it is not finite
void csv_empty(struct csv *csv);
void csv_end_row(struct csv *csv);

#endif
