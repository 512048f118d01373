// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// POSIX record locks on whole files, as IBM MQ takes them. They belong to the process, which loses the lock of a file
// when it closes any descriptor of that file. The functions return 0 or an error.
#pragma once

#include "lock/locker.h"

int lock_try(int fd);
int lock_wait(int fd);
int lock_release(int fd);
// Finds out whether another process holds the lock.
int lock_look(int fd, bool *is_locked);
// Returns true if the error means that another process holds the lock. Other errors do not show who holds the lock.
bool lock_is_refused(int error);

// The commands.
void lock_command_try(struct locker *locker, const struct command *command);
void lock_command_wait(struct locker *locker, const struct command *command);
void lock_command_poll(struct locker *locker, const struct command *command);
void lock_command_test(struct locker *locker, const struct command *command);
void lock_command_unlock(struct locker *locker, const struct command *command);
