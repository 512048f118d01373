// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The mark of --acknowledge: the file PREFIX.acknowledge, beside test files that survive the run. One line describes
// which run created them, and their layout. The run sends the same line first, so that a check knows that the files and
// the acknowledgements belong to the same run. A second line, "end signal", means that the run was ended by a signal.
#pragma once

#include "base/options.h"
#include "workload/geometry.h"

#define MARK_LINE_BYTES 640
#define MARK_BOOT_ID_MAX 36
// the layout of the blocks that this version writes; src/cut/README.md describes it
#define MARK_LAYOUT 2

struct mark {
    char run_id[OPTIONS_RUN_ID_MAX + 1];        // "-" if the run had none
    char boot_id[MARK_BOOT_ID_MAX + 1];         // "-" if the kernel does not say
    uint64_t seed, block_bytes, file_bytes, files, queue_managers, layout;
    char file_prefix[OPTIONS_FILE_PREFIX_MAX + 1];
    bool ended;                                 // set by mark_open only: see mark_note_end
};

// The mark of the run with these options. The seed must be set.
void mark_of_run(struct mark *mark, const struct options *options);

// The geometry of a run with that mark.
void geometry_of_mark(struct geometry *geometry, const struct mark *mark);

// "ready RUN_ID BOOT_ID seed=N bsize=N file_size=N files=N qm=N prefix=NAME layout=N" and a line feed.
void mark_format(const struct mark *mark, char line[MARK_LINE_BYTES]);
// Returns false if the line, including its line feed, does not have exactly this form.
bool mark_parse(struct mark *mark, const char *line);

// Creates the mark exclusively, and writes and syncs it. Its descriptor holds a lock until the run ends, so that others
// can see that the run is active. On failure, returns -1 with errno set, and no mark exists.
int mark_create(const struct mark *mark, int dir_fd);
void mark_name(char name[NAME_MAX + 1], const char *file_prefix);
// Reads the mark with the given prefix from a directory, and leaves its descriptor open. Returns -1 if it fails. errno
// is then ENOENT if there is no mark, EBADMSG if the file is not a mark, and EBUSY if the run that created it has not
// ended.
int mark_open(struct mark *mark, int dir_fd, const char *file_prefix);

// Notes in the mark that the run was ended by a signal. In an orderly shutdown the connection may break before the line
// `end` is sent. Then only the mark shows that the connection did not break because of a power cut. Returns false, with
// errno set, if the mark cannot be changed.
bool mark_note_end(int fd);

// Makes sure that the names in a directory survive a power cut, as well as the names of the directory itself and of its
// parents on the same file system. Stops at a parent directory that this user is not permitted to read, unless
// this run created the directory (names_own).
bool mark_sync_directories(int dir_fd, bool names_own);
