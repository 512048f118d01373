// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// mqldt's table (--csvFile): the same columns in the same order under the same titles, one block of rows a load point.
// Written aside and renamed; what is there is replaced (queue manager counts of one only) or appended to, and only
// where it is a regular file of this user that is empty or begins as mqldt's output does.
#ifndef LOGDISK_CSVFILE_H
#define LOGDISK_CSVFILE_H

#include "failure.h"
#include "options.h"
#include "result.h"

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

// False: refuses, before the test, a place where the file could not be put.
bool csvfile_check(const char *path, struct failure *failure);

// False: says on standard error what could not be written.
bool csvfile_write(const char *path, const struct options *options, const struct mqldt_row *rows, size_t count);

#endif
