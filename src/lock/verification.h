// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `verify`: as a queue manager does, checks again and again that the lock still holds and that the file can
// be written.
#pragma once

#include "lock/locker.h"

void verification_start(struct locker *locker, const struct command *command);
