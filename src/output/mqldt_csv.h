// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// mqldt's table (--csvFile): the same columns in the same order under the same titles, one block of rows a load point.
// It is written in place to what the user named, as mqldt does, so that links, owner and mode are kept and a pipe, the
// screen or a mounted file will do as well: replaced if there is never more than one queue manager, else appended to.
// What is there is kept until there is something to replace it.
#ifndef LOGDISK_MQLDT_CSV_H
#define LOGDISK_MQLDT_CSV_H

#include "base/failure.h"
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

// Of a finished step; writers are all that took part.
struct mqldt_row mqldt_row_of(const struct result *all, const struct writer *writers, struct result_room *room);

struct csvfile {
    const char *path;       // NULL: not asked for
    int fd;                 // -1: not open, since on_screen or unread
    bool on_screen;         // it is what standard output is
    bool unread;            // a named pipe that nobody had open for reading at the start: whoever writes waits for a reader
    bool made;              // by csvfile_open
};

// Opens it for writing, without changing what is there; false where that cannot be.
bool csvfile_open(struct csvfile *csvfile, const char *path, struct failure *failure);

// Writes and closes it; false: says on standard error what could not be written.
bool csvfile_write(struct csvfile *csvfile, bool append, const struct mqldt_row *rows, size_t count);

// Closes it without a result; a file that csvfile_open made is removed.
void csvfile_discard(struct csvfile *csvfile);

#endif
