// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// mqldt's table (--csvFile): the same columns in the same order under the same titles, a block of rows for each load
// point. Like mqldt's, it is written in place to the file that the user named, so that links, owner and mode are kept,
// and a pipe, the screen or a mounted file works as well. Its content is replaced if there is never more than one queue
// manager; otherwise, rows are appended. The old content is kept until there is a result.
#pragma once

#include "measure/result.h"

// mqldt's columns, in mqldt's order. "By a single qm" in mqldt's titles refers to the extreme among the figures of single
// queue managers.
enum mqldt_column { MQLDT_BLOCK, MQLDT_WRITES, MQLDT_BYTES, MQLDT_SECOND_MAX, MQLDT_SECOND_MIN, MQLDT_BYTES_PER_S,
                    MQLDT_MAX, MQLDT_MIN, MQLDT_MEAN, MQLDT_SLOWEST, MQLDT_FASTEST, MQLDT_COLUMNS };

// mqldt's figures of a step.
struct mqldt_row {
    uint32_t queue_managers;
    uint64_t values[MQLDT_COLUMNS];
};

struct mqldt_row mqldt_row_of(const struct result *all);

const char *mqldt_title(enum mqldt_column column, uint32_t queue_managers);

struct csvfile {
    const char *path;       // NULL: not requested
    int fd;                 // -1: not open, because on_screen or unread is set
    bool on_screen;         // standard output refers to the same file
    // the file is a named pipe that no process was reading at the start, so writing to it waits for a reader
    bool unread;
    bool made;              // true if csvfile_open created the file
    int error;              // error of csvfile_write
    uint32_t queue_managers;// load point of the last row
    struct text text;       // its new content
};

// Opens the file for writing, without changing its content. False on failure.
bool csvfile_open(struct csvfile *csvfile, const char *path, struct failure *failure);

void csvfile_add(struct csvfile *csvfile, const struct mqldt_row *row);

// Writes any rows, and closes the file. For the thread that writes files. Returns false if it could not be written;
// csvfile_report then gives the reason. A run that measured nothing does not replace an earlier result.
bool csvfile_write(struct csvfile *csvfile, bool append);
// Called by the main thread after csvfile_write.
void csvfile_report(struct csvfile *csvfile);

// Closes the file without a result, and removes it if csvfile_open created it.
void csvfile_discard(struct csvfile *csvfile);
