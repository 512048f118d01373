// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A locker as its supervisor sees it: a child process, a pipe to it and a pipe from it. None of these functions waits
// for the child.
#pragma once

#include "lock/shared.h"

struct child {
    pid_t pid;                          // 0: there is no process
    int commands_fd, answers_fd;
    bool was_killed;
    unsigned pending[TASKS];       // commands without their answer
};

// The data that all children share.
struct family {
    const char *path;                   // of the directory
    struct shared *shared;
    struct child children[PROTOCOL_LOCKERS_MAX + 1];    // by number; 0 is the keeper
    int null_fd;                        // of /dev/null
    int others[2];                      // descriptors of the supervisor that no child keeps
};

// Starts a process that obeys commands. Returns 0 or an error.
int child_start(struct family *family, const struct command *start);

// Sends a command. Returns EAGAIN if the child has not yet taken earlier commands and there is no room for more.
int child_tell(struct child *child, const struct command *command);

// Takes an answer that has arrived; false if there is none.
bool child_take(struct child *child, struct answer *answer);

void child_kill(struct child *child);

// Returns true if the process has ended, and sets *status as waitpid does.
bool child_has_ended(const struct child *child, int *status);
// Closes the pipes of a process that has ended, and forgets the process.
void child_forget(struct child *child);
