// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The length of the UTF-8 sequence at text, 0 if there is none (also overlong ones and surrogates).
static size_t utf8_length(const unsigned char *text) {
    if (text[0] < 0x80) {
        return 1;
    }
    size_t length = text[0] >= 0xC2 && text[0] < 0xE0 ? 2 : text[0] >= 0xE0 && text[0] < 0xF0 ? 3
                    : text[0] >= 0xF0 && text[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] > 0x9F) ||
        (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] > 0x8F)) {
        return 0;
    }
    return length;
}

size_t printable_length(const unsigned char *text) {
    bool control = text[0] < 0x20 || text[0] == 0x7F || (text[0] == 0xC2 && text[1] < 0xA0);
    return control ? 0 : utf8_length(text);
}

char *printable(const char *text) {
    char *copy = malloc(4 * strlen(text) + 1);
    char *to = copy;
    for (const unsigned char *at = (const unsigned char *)text; copy != NULL && *at != '\0';) {
        size_t length = printable_length(at);
        if (length == 0) {
            to += sprintf(to, "\\x%02X", *at++);
            continue;
        }
        memcpy(to, at, length);
        to += length;
        at += length;
    }
    if (copy != NULL) {
        *to = '\0';
    }
    return copy;
}
