// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Names come from users and may hold anything; on a terminal, escape sequences and line feeds in them are commands.
#ifndef LOGDISK_PRINTABLE_H
#define LOGDISK_PRINTABLE_H

#include <stddef.h>

// The length of the UTF-8 character at text; 0 if the byte there has to be escaped: a control character, or not UTF-8.
size_t printable_length(const unsigned char *text);

// A copy of text with every such byte as \xNN, to be freed; NULL if there is no memory.
char *printable(const char *text);

#endif
