// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Text that grows in memory. If memory runs out, the text is marked as incomplete and nothing more is added.
#pragma once

#include "base/standard.h"

struct text {
    char *bytes;                // ends with a NUL as soon as anything was added
    size_t length, room;
    bool incomplete;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
// Adds a name, which comes from users and may hold anything: on a terminal, escape sequences and line feeds in it are
// commands. Control characters and bytes that are not UTF-8 become \xNN; the character `twice` is doubled (0: none).
void text_escape(struct text *text, const char *name, char twice);
// The same, for formatted text.
void text_vescape(struct text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
// Truncates the text to that length; keeps the memory.
void text_cut(struct text *text, size_t length);
// Writes it whole; 0 or the error, which is ENOMEM if the text is incomplete.
int text_write(const struct text *text, int fd);
void text_free(struct text *text);
