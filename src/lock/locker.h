// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A locker is a process that tests locks. This is the state that its commands share. Only lockers and the keeper access
// the file system under test. The commands `verify` and `write` continue in threads of their own.
#pragma once

#include "lock/shared.h"

#define LOCKER_FILES_MAX 16             // open at the same time

struct opened_file {
    char name[PROTOCOL_FILE_MAX + 1];   // empty: this entry is unused
    int fd;
    uint64_t bytes;
};

struct locker {
    uint32_t number;
    const char *path;                   // of the directory
    int dir_fd;
    int commands_fd, answers_fd;        // pipes
    struct shared *shared;
    struct locker_state *state;         // its own in the shared memory
    struct opened_file files[LOCKER_FILES_MAX];
    _Atomic(const struct opened_file *) used[TASKS];   // the file that the thread uses; NULL: no thread
    bool has_many;
};

struct answer locker_answer_to(const struct locker *locker, const struct command *command);
// Sends an answer to the supervisor in a single write. Any thread may call it.
void locker_answer(const struct locker *locker, const struct answer *answer);
// Answers `done`, or `failed` if the error is not 0.
void locker_answer_done(const struct locker *locker, const struct command *command, int error);

// Returns NULL if the file is not open. An empty name finds an unused entry.
struct opened_file *locker_file(struct locker *locker, const char *name);
// Starts a thread that performs a task with the file. The thread calls locker_end_task before it answers.
int locker_start_task(struct locker *locker, enum task task, const struct opened_file *file,
                      void *(*work)(void *), void *argument);
void locker_end_task(struct locker *locker, enum task task);

// Read or write the first page of a file. Return 0 or an error, which is EIO if less was transferred.
int locker_read_page(int fd, unsigned char page[PROTOCOL_PAGE_BYTES]);
int locker_write_page(int fd, const unsigned char page[PROTOCOL_PAGE_BYTES]);
