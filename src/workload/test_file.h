// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// One test file: opened with MQ's flags and without a name. If the file system has no such files, or the file is to be
// kept, it is created exclusively under its name, and unlinked while open.
#ifndef LOGDISK_TEST_FILE_H
#define LOGDISK_TEST_FILE_H

#include "base/failure.h"
#include "workload/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Creates a file of the place in its directory, under that name if it needs one, and leaves a descriptor open with the
// flags of the test. path is for messages.
bool test_file_create(int dir_fd, const char *name, const char *path, const struct place *place, bool keep, int *fd,
                      struct failure *failure);

// Removes the name if it is still that of the open file; false if it is not.
bool test_file_unlink(int dir_fd, const char *name, int fd);

// One write as the test makes it. 0, errno, or FAILURE_SHORT_WRITE.
int test_file_write(int fd, const void *block, size_t bytes, uint64_t offset_bytes);

// What the kernel says direct I/O wants of offsets here; 0 if it does not say.
uint32_t test_file_told_alignment(int fd);

// Writes one block at the file's start; if the kernel refuses that size, names the next one that works.
bool test_file_try_block(int fd, const char *path, uint64_t block_bytes, uint64_t alignment_bytes,
                        struct failure *failure);

#endif
