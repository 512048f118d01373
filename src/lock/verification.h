// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `verify` checks repeatedly, as a queue manager does, that the lock is still held and that the file can be
// written.
#pragma once

#include "lock/locker.h"

void verification_start(struct locker *locker, const struct command *command);
