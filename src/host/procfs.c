// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/procfs.h"

bool read_text(const char *path, char *text, size_t size) {
    text[0] = '\0';
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size_t used = fread(text, 1, size - 1, file);
    bool good = ferror(file) == 0;
    (void)fclose(file);
    while (used > 0 && strchr(" \t\r\n", text[used - 1]) != NULL) {
        used--;
    }
    text[good ? used : 0] = '\0';
    return good;
}

bool parse_figures(const char *text, const char *word, unsigned fields, uint64_t *sum) {
    size_t length = strlen(word);
    while (strncmp(text, word, length) != 0 || (length > 0 && text[length] != ' ' && text[length] != '\t')) {
        text += strcspn(text, "\n");
        if (*text++ == '\0') {
            return false;
        }
    }
    *sum = 0;
    for (text += length; fields > 0; fields >>= 1) {
        text += strspn(text, " \t");
        size_t field_length = strcspn(text, " \t\n");
        const char *equals = memchr(text, '=', field_length);
        const char *digits = equals != NULL ? equals + 1 : text;
        if ((fields & 1) != 0 && (*digits < '0' || *digits > '9')) {
            return false;
        }
        *sum += (fields & 1) != 0 ? strtoull(digits, NULL, 10) : 0;
        text += field_length;
    }
    return true;
}
