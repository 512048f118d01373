// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Exit statuses, and the description of a failure. A failure is a plain record that its owner fills once; status 0
// means that nothing failed.
#pragma once

#include "base/standard.h"

enum exit_status { EXIT_MEASURED, EXIT_USAGE, EXIT_REFUSED, EXIT_IO_ERROR, EXIT_INTERRUPTED, EXIT_LOST };

#define FAILURE_SHORT_WRITE (-1)    // a value of `error`: a write or read transferred less than requested
#define FAILURE_CORRUPT (-2)        // a value of `error`: --verify read something other than what was written

struct failure {
    enum exit_status status;
    char message[PATH_MAX + 512];   // a sentence for the user: what, where, and what to do
    const char *call;               // the system call; NULL if no call failed
    int error;                      // errno, or one of the above
    char file[PATH_MAX];
    uint64_t offset_bytes;
    uint32_t queue_manager;         // from 1; 0: none
    uint64_t block_bytes;
    uint64_t write;                 // the number of the write in its step, from 1; 0: none
};

const char *failure_error_name(int error);     // such as "EIO" or "SHORT_WRITE"; "other" for unlisted errors
const char *failure_error_text(int error);     // like strerror, but also for the errors above

// Set status and message; always false, so that a caller can return it.
bool failure_set(struct failure *failure, enum exit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
