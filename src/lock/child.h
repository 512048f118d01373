// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A locker as its supervisor sees it: a child process, a pipe to it and a pipe from it. Nothing here waits for the
// child.
#pragma once

#include "lock/shared.h"

struct child {
    pid_t pid;                          // 0: there is no process
    int commands_fd, answers_fd;
    bool was_killed;
    unsigned pending[TASKS];       // commands without their answer
};

// What all children share.
struct family {
    const char *path;                   // of the directory
    struct shared *shared;
    struct child children[PROTOCOL_LOCKERS_MAX + 1];    // by number; 0 is the keeper
    int null_fd;                        // of /dev/null
    int others[2];                      // descriptors of the supervisor that no child keeps
};

// Starts a process that obeys from then on. 0 or an error.
int child_start(struct family *family, const struct command *start);

// Sends a command. EAGAIN: the child has not yet taken earlier ones, and there is no room for more.
int child_tell(struct child *child, const struct command *command);

// Takes an answer that has arrived; false if there is none.
bool child_take(struct child *child, struct answer *answer);

void child_kill(struct child *child);

// True if the process has ended; then it also reports the status as of waitpid.
bool child_has_ended(const struct child *child, int *status);
// Forgets a process that has ended.
void child_forget(struct child *child);
