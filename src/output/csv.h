// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// CSV as RFC 4180 has it: comma, LF, fields quoted where they need it, UTF-8; bytes that are no UTF-8, and control
// characters, come out as \xNN. An unknown value is an empty field. One value a call; the separator comes by itself.
#ifndef LOGDISK_CSV_H
#define LOGDISK_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
    FILE *file;
    bool in_row;
};

void csv_text(struct csv *csv, const char *text);
void csv_integer(struct csv *csv, uint64_t value);
void csv_real(struct csv *csv, double value, int places);       // not finite: empty
void csv_empty(struct csv *csv);
void csv_end_row(struct csv *csv);

#endif
