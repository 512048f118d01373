// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files that are complete or absent: written aside as .name.tmp, which is created exclusively and without following a
// link, and renamed when complete. A file of another origin is never replaced: aside_may_replace tells beforehand.
#ifndef LOGDISK_ASIDE_H
#define LOGDISK_ASIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct aside {
    int dir_fd;                     // of the directory; owned where aside_open_path opened it
    bool owns_dir;
    char name[NAME_MAX + 1];        // where it ends
    char aside_name[NAME_MAX + 8];  // where it is written
    FILE *file;                     // NULL: not open
};

// These return 0 or errno.
int aside_open(struct aside *aside, int dir_fd, const char *name);
int aside_open_path(struct aside *aside, const char *path);
// Flushes, syncs where asked, closes and renames; on an error removes what was written.
int aside_commit(struct aside *aside, bool sync);
void aside_discard(struct aside *aside);

// 0 where nothing is there, or a regular file of this user that is empty or begins with one of the prefixes (a list
// that ends in NULL); EEXIST where something else is; or the errno of looking at it.
int aside_may_replace(const char *path, const char *const *prefixes);

// Copies the file at that path (none is fine) into an open stream. 0 or errno.
int aside_copy(const char *path, FILE *to);

#endif
