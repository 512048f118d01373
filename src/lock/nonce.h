// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `nonce`: a text that one host writes with O_DIRECT, and another reads. If both have the same text, they
// have the same file.
#pragma once

#include "lock/locker.h"

void nonce_write(struct locker *locker, const struct command *command);
// The answer has no text if the file does not contain one.
void nonce_read(struct locker *locker, const struct command *command);
