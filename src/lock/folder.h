// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The directory with the test files of --lock. Only a directory that the collection made for tests is accepted: it
// contains the mark .mqops-logdisk.json. Functions make calls that may hang, and return 0 or an error.
#pragma once

#include "lock/shared.h"

// Opens the directory. EBADMSG: it does not have the mark.
int folder_open(const char *path, int *dir_fd);

// Creates a file that did not exist, and enters it into the shared memory; *fd is open for reading and writing.
int folder_create(int dir_fd, struct shared *shared, const char *name, int *fd);

// Creates a file of that size, with record n (record.h) in page n, and has it and its name written to the disk. ENOSPC:
// too little space would be left.
int folder_create_full(int dir_fd, struct shared *shared, const char *name, uint64_t bytes);

// Opens a file for direct reads and writes whose data is on the disk when they return. EPERM: it is not a regular file
// of this user with a single name.
int folder_open_file(int dir_fd, const char *name, int *fd, uint64_t *bytes);

// Removes the files in the shared memory, if their names still belong to them. Reports how many were removed, and how
// many are left.
void folder_remove(int dir_fd, const struct shared *shared, uint64_t *removed, uint64_t *left);
