// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The directory with the test files of --lock. Only a directory that the collection created for tests is accepted. It
// is recognized by its mark, .mqops-logdisk.json. The functions make calls that may hang, and return 0 or an error.
#pragma once

#include "lock/shared.h"

// Opens the directory. Returns EBADMSG if the mark is missing.
int folder_open(const char *path, int *dir_fd);

// Creates a file that does not exist yet, and records it in the shared memory. *fd is open for reading and writing.
int folder_create(int dir_fd, struct shared *shared, const char *name, int *fd);

// Creates a file of the given size, with record n (record.h) in page n, and syncs it and its name. Returns ENOSPC if
// too little space would be left.
int folder_create_full(int dir_fd, struct shared *shared, const char *name, uint64_t bytes);

// Opens a file for direct I/O, whose writes are on the disk when they return. Returns EPERM if it is not a regular file
// of this user with a single name.
int folder_open_file(int dir_fd, const char *name, int *fd, uint64_t *bytes);

// Removes the files that are recorded in the shared memory, unless their names now belong to other files. Reports how
// many were removed, and how many are left.
void folder_remove(int dir_fd, const struct shared *shared, uint64_t *removed, uint64_t *left);
