// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// CSV as in RFC 4180, in UTF-8, with commas, LF line ends, and quotes around fields that need them. Control characters,
// and bytes that are not UTF-8, appear as \xNN. An unknown value is an empty field.
//
// A column is declared by the call that writes its value, which also states its name and unit. The form determines what
// the call writes.
#pragma once

#include "base/text.h"

enum csv_form {
    CSV_VALUES,                 // the value: a field of a row
    CSV_NAMES,                  // the name: a field of the header
    CSV_PAIRS,                  // name and value; each pair is a row
    CSV_LIST,                   // table, name and unit of a column; each column is a row
    CSV_OBJECTS,                // JSON: name and value; each row is an object, followed by a comma and a line end
    CSV_MEMBERS,                // JSON: the same; each pair is a member of one object
};

struct csv {
    struct text text;
    enum csv_form form;
    const char *table;          // for CSV_LIST
    const char *prefix;         // added to the names that follow; NULL: none
};

// Units are ns, us, s, bytes, bytes/s, 1/s, ratio, 0/1, count, number and text.
void csv_text(struct csv *csv, const char *name, const char *unit, const char *value);         // NULL: empty
void csv_integer(struct csv *csv, const char *name, const char *unit, uint64_t value);
void csv_integer_if(struct csv *csv, const char *name, const char *unit, bool known, uint64_t value);
void csv_real(struct csv *csv, const char *name, const char *unit, double value, int places);  // empty if not finite
// The column `worker`: its number; 0 stands for all workers.
void csv_worker(struct csv *csv, uint32_t worker);

// Writes one field, with its separator. The first field of a row is never empty.
void csv_field(struct csv *csv, const char *value);
void csv_end_row(struct csv *csv);
