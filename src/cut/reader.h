// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Reads the rings of all queue managers once, each from its beginning to its end, and passes them to verdict.h.
//
// All data must come from the disk, not from memory. After a power cut of the host, the page cache holds no earlier
// data. However, perhaps only the power of the disk was cut, or the check is being repeated. Therefore, files are read
// with O_DIRECT. If their file system does not support it, their pages are dropped from the page cache first.
#pragma once

#include "cut/mark.h"
#include "cut/verdict.h"

struct reader {
    const struct options *options;      // with the number of queue managers of the run, for the names of directories
    const struct mark *mark;            // the mark that the witness stored
    const uint64_t *counts;             // the number of acknowledged writes, by queue manager from 1
    uint64_t writing_ns;
    const atomic_bool *stop;
    struct geometry geometry;
    struct durability *rows;            // one row for all queue managers and one for each; made by reader_run
    struct ring ring;
    unsigned char *memory;              // holds one part of a file
    bool *unreadable;                   // one flag for each sector of that part
    uint64_t part_bytes;
    void (*first_directory)(void *context, int fd);     // NULL: do not report it
    void *context;
    bool is_buffered;                   // true if the file system does not support O_DIRECT
    uint64_t bytes;                     // how much has been read so far
    struct failure failure;             // EXIT_MEASURED if the check read everything or was stopped
};

// Makes calls that may hang.
void reader_run(struct reader *reader);
void reader_free(struct reader *reader);

// The path of a test file, in the form that the user would write. SPOT_MARK stands for the mark.
#define SPOT_MARK UINT64_MAX
void reader_path(const struct reader *reader, const struct spot *spot, char path[PATH_MAX]);
