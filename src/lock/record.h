// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A record is a page whose content is determined by a number: the first and the last word are the number, and the words
// between them are pseudo-random. Therefore, a page that mixes two records is recognized, wherever the first part ends.
// Lockers on several hosts use the record in the first page of a file as a shared counter.
#pragma once

#include "lock/locker.h"

void record_fill(unsigned char page[PROTOCOL_PAGE_BYTES], uint64_t number);

// Returns true if the page is a complete record. *number is the first word of the page in any case.
bool record_is_whole(const unsigned char page[PROTOCOL_PAGE_BYTES], uint64_t *number);

// The command `add` increments the number of the record as often as requested, each time while it holds the lock of the
// file.
void record_add(struct locker *locker, const struct command *command);
