// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The command `nonce`: one host writes a random text with O_DIRECT, and another host reads the file. If the texts are
// equal, both hosts see the same file.
#pragma once

#include "lock/locker.h"

void nonce_write(struct locker *locker, const struct command *command);
// The answer contains no text if the file contains none.
void nonce_read(struct locker *locker, const struct command *command);
