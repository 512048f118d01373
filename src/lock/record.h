// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A record is a page that its number determines: the number is its first and its last word, and the words in between
// are pseudo-random. So a page with parts of two records is recognized, wherever one of them ends. Lockers of several
// hosts count in the record in the first page of a file.
#pragma once

#include "lock/locker.h"

void record_fill(unsigned char page[PROTOCOL_PAGE_BYTES], uint64_t number);

// Whether the page is a record; *number is its first word in any case.
bool record_is_whole(const unsigned char page[PROTOCOL_PAGE_BYTES], uint64_t *number);

// The command `add`: adds one to the record that many times, each time under the lock of the file.
void record_add(struct locker *locker, const struct command *command);
