// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The main loop of a locker's process, which obeys one command after the other.
#pragma once

#include "lock/locker.h"

// Opens the directory, answers `start`, and obeys commands until the supervisor ends.
void __attribute__((noreturn)) locker_run(struct locker *locker, const struct command *start);
