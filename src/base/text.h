// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Text that grows in memory. If memory runs out, the text is marked as incomplete and nothing more is added.
#pragma once

#include "base/standard.h"

struct text {
    char *bytes;                // NUL-terminated once anything was added
    size_t length, room;
    bool incomplete;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
// Adds a name. Names come from users and may contain anything, including escape sequences and line feeds that a
// terminal would interpret. Control characters and bytes that are not UTF-8 become \xNN. The character `twice` is
// doubled (0: none).
void text_escape(struct text *text, const char *name, char twice);
// Does the same with formatted text.
void text_vescape(struct text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
// Truncates the text to the given length, but keeps the memory.
void text_cut(struct text *text, size_t length);
// Writes the whole text. Returns 0 or the error, which is ENOMEM if the text is incomplete.
int text_write(const struct text *text, int fd);
void text_free(struct text *text);
