// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The commands that create, open, close and remove files.
#pragma once

#include "lock/locker.h"

void file_command_create(struct locker *locker, const struct command *command);
void file_command_open(struct locker *locker, const struct command *command);
void file_command_close(struct locker *locker, const struct command *command);
// Removes the files that all lockers created.
void file_command_remove(struct locker *locker, const struct command *command);
