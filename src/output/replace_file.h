// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files that are complete or absent: written aside as .name.tmp, which is created exclusively and without following a
// link, and renamed when complete. A file of another origin is never replaced: aside_may_replace tells beforehand, and
// what is there when it is renamed must be the very file that aside_open_over looked at, or nothing.
#ifndef LOGDISK_REPLACE_FILE_H
#define LOGDISK_REPLACE_FILE_H

#include "base/failure.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct aside {
    int dir_fd;                     // of the directory; owned where aside_open_path opened it
    bool owns_dir;
    char name[NAME_MAX + 1];        // where it ends
    char aside_name[NAME_MAX + 8];  // where it is written
    FILE *file;                     // NULL: not open
    bool replaces;                  // a file that was there, and was this one:
    dev_t old_device;
    ino_t old_inode;
};

// These return 0 or errno. EEXIST from opening: there is a file under the name aside, of a run that was killed.
int aside_open(struct aside *aside, int dir_fd, const char *name);
int aside_open_path(struct aside *aside, const char *path);
// To replace a file for which aside_may_replace returned 0; takes its mode over. *taken: EEXIST comes from that.
int aside_open_over(struct aside *aside, const char *path, const char *const *prefixes, bool *taken);
// Flushes, syncs, closes and renames; on an error removes what was written. EEXIST: something else has come under the
// name meanwhile; it stays, and so does what was written, under its name aside.
int aside_commit(struct aside *aside);
// For what matters little: neither syncs nor keeps.
int aside_commit_quickly(struct aside *aside);
void aside_discard(struct aside *aside);

// The path under which what belongs at path is written aside.
void aside_path(const char *path, char text[PATH_MAX + 8]);

// 0 where nothing is there, or a regular file of this user that is empty or begins with one of the prefixes (a list
// that ends in NULL); EEXIST where something else is; or the errno of looking at it.
int aside_may_replace(const char *path, const char *const *prefixes);
// Refuses, before the test, an option's file that could not be put in its place; kind says what may be there already.
bool aside_check(const char *option, const char *path, const char *const *prefixes, const char *kind,
                 struct failure *failure);

#endif
