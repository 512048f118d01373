// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct text *text, size_t length) {
    if (text->length + length >= text->room && !text->incomplete) {
        size_t room = 2 * (text->length + length) + 64;
        char *bytes = realloc(text->bytes, room);
        text->incomplete = bytes == NULL;
        if (bytes != NULL) {
            text->bytes = bytes;
            text->room = room;
        }
    }
    return !text->incomplete;
}

void text_add(struct text *text, const char *bytes, size_t length) {
    if (make_room(text, length)) {
        memcpy(text->bytes + text->length, bytes, length);
        text->length += length;
        text->bytes[text->length] = '\0';
    }
}

void text_vprintf(struct text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    size_t rest = text->room - text->length;
    int length = vsnprintf(rest > 0 ? text->bytes + text->length : NULL, rest, format, arguments);
    if (length > 0 && make_room(text, (size_t)length)) {
        if ((size_t)length >= rest) {
            (void)vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        }
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_printf(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(text, format, arguments);
    va_end(arguments);
}

void text_cut(struct text *text, size_t length) {
    if (length < text->length) {
        text->length = length;
        text->bytes[length] = '\0';
    }
}

void text_free(struct text *text) {
    free(text->bytes);
    *text = (struct text){0};
}
