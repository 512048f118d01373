// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"

#include <unistd.h>

void text_add(struct text *text, const char *bytes, size_t length) {
    if (text->length + length >= text->room && !text->incomplete) {
        size_t room = 2 * (text->length + length) + 64;
        char *more = realloc(text->bytes, room);
        text->incomplete = more == NULL;
        text->bytes = more != NULL ? more : text->bytes;
        text->room = more != NULL ? room : text->room;
    }
    if (!text->incomplete) {
        memcpy(text->bytes + text->length, bytes, length);
        text->length += length;
        text->bytes[text->length] = '\0';
    }
}

void text_vprintf(struct text *text, const char *format, va_list arguments) {
    char *bytes;
    int length = vasprintf(&bytes, format, arguments);
    if (length < 0) {
        text->incomplete = true;
        return;
    }
    text_add(text, bytes, (size_t)length);
    free(bytes);
}

void text_printf(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(text, format, arguments);
    va_end(arguments);
}

// Returns the length of the UTF-8 sequence at bytes; 0 for a control character or an invalid sequence (including
// overlong ones and surrogates).
static size_t printable_length(const unsigned char *bytes) {
    unsigned char first = bytes[0];
    if (first < 0x80) {
        return first >= 0x20 && first != 0x7F;
    }
    size_t length = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3
                    : first >= 0xF0 && first < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool control = first == 0xC2 && bytes[1] < 0xA0;
    bool overlong = (first == 0xE0 && bytes[1] < 0xA0) || (first == 0xF0 && bytes[1] < 0x90);
    bool beyond = (first == 0xED && bytes[1] > 0x9F) || (first == 0xF4 && bytes[1] > 0x8F);
    return control || overlong || beyond ? 0 : length;
}

void text_escape(struct text *text, const char *name, char twice) {
    for (const unsigned char *at = (const unsigned char *)name; *at != '\0';) {
        size_t length = printable_length(at);
        if (length == 0) {
            text_printf(text, "\\x%02X", *at++);
            continue;
        }
        if (*at == (unsigned char)twice) {
            text_add(text, &twice, 1);
        }
        text_add(text, (const char *)at, length);
        at += length;
    }
}

void text_vescape(struct text *text, const char *format, va_list arguments) {
    struct text line = {0};
    text_vprintf(&line, format, arguments);
    text_escape(text, line.bytes != NULL ? line.bytes : "", '\0');
    text_free(&line);
}

void text_cut(struct text *text, size_t length) {
    if (length < text->length) {
        text->length = length;
        text->bytes[length] = '\0';
    }
}

int text_write(const struct text *text, int fd) {
    for (size_t done = 0; done < text->length;) {
        ssize_t written = write(fd, text->bytes + done, text->length - done);
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return text->incomplete ? ENOMEM : 0;
}

void text_free(struct text *text) {
    free(text->bytes);
    *text = (struct text){0};
}
