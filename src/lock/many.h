// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `many` finds out how many locks a process can hold. It creates empty files, or opens them if they exist,
// and keeps all of them open and locked until the process ends.
#pragma once

#include "lock/locker.h"

void many_lock(struct locker *locker, const struct command *command);
