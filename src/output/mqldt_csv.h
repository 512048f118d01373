// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// mqldt's table (--csvFile): the same columns in the same order under the same titles, a block of rows for each load point.
// It is written in place to what the user named, as mqldt does, so that links, owner and mode are kept and a pipe, the
// screen or a mounted file will do as well: replaced if there is never more than one queue manager, else appended to.
// What is there is kept until there is something to replace it.
#ifndef LOGDISK_MQLDT_CSV_H
#define LOGDISK_MQLDT_CSV_H

#include "base/failure.h"
#include "base/text.h"
#include "measure/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What mqldt prints of a step. The second figures of several queue managers are those of single ones.
struct mqldt_row {
    uint64_t block_bytes;
    uint32_t queue_managers;
    uint64_t writes, bytes;
    uint64_t second_bytes_max, second_bytes_min, bytes_per_s;
    uint64_t max_ns, max_write, min_ns, min_write, mean_ns;
    uint64_t slowest_bytes_per_s, fastest_bytes_per_s;
};

// Of a finished step: start, add each worker, finish with the row of all.
struct mqldt_row mqldt_row_start(void);
void mqldt_row_add(struct mqldt_row *row, const struct result *one);
void mqldt_row_finish(struct mqldt_row *row, const struct result *all);

struct csvfile {
    const char *path;       // NULL: not asked for
    int fd;                 // -1: not open, since on_screen or unread
    bool on_screen;         // it is what standard output is
    bool unread;            // a named pipe that nobody had open for reading at the start: whoever writes waits for a reader
    bool made;              // by csvfile_open
    int error;              // of csvfile_write
    struct text text;       // what it writes
};

// Opens it for writing, without changing what it contains; false if that is not possible.
bool csvfile_open(struct csvfile *csvfile, const char *path, struct failure *failure);

// Writes the rows, if there are any, and closes it; for the thread that writes files. False: csvfile_report says what
// could not be written. A run that measured nothing replaces no earlier result.
bool csvfile_write(struct csvfile *csvfile, bool append, const struct mqldt_row *rows, size_t count);
// For the main thread, after csvfile_write.
void csvfile_report(struct csvfile *csvfile);

// Closes it without a result; a file that csvfile_open made is removed.
void csvfile_discard(struct csvfile *csvfile);

#endif
