// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "host/procfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool read_text(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    size_t used = 0;
    ssize_t got = 0;
    while (used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0) {
        used += (size_t)got;
    }
    (void)close(fd);
    while (used > 0 && strchr(" \t\r\n", text[used - 1]) != NULL) {
        used--;
    }
    text[used] = '\0';
    return got >= 0;
}

// A decimal number without a sign, and *text moved behind it.
static bool take_number(const char **text, uint64_t *value) {
    char *end;
    if (**text < '0' || **text > '9') {
        return false;
    }
    *value = strtoull(*text, &end, 10);
    *text = end;
    return true;
}

static bool take_number32(const char **text, uint32_t *value) {
    uint64_t wide;
    if (!take_number(text, &wide) || wide > UINT32_MAX) {
        return false;
    }
    *value = (uint32_t)wide;
    return true;
}

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " \t");
}

static bool is_octal(char digit) {
    return digit >= '0' && digit <= '7';
}

// Copies up to one of the ends, with \ooo undone, and returns where that is.
static const char *take_until(const char *text, const char *ends, char *field, size_t size) {
    size_t used = 0;
    while (*text != '\0' && strchr(ends, *text) == NULL) {
        char byte = *text++;
        if (byte == '\\' && text[0] >= '0' && text[0] <= '3' && is_octal(text[1]) && is_octal(text[2])) {
            byte = (char)((text[0] - '0') << 6 | (text[1] - '0') << 3 | (text[2] - '0'));
            text += 3;
        }
        if (used + 1 < size) {
            field[used++] = byte;
        }
    }
    field[used] = '\0';
    return text;
}

// Copies up to the next blank, and returns what is behind the blanks after it.
static const char *take_field(const char *text, char *field, size_t size) {
    text = take_until(text, " \n", field, size);
    return text + strspn(text, " ");
}

// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
bool parse_mountinfo_line(const char *line, struct mount *mount) {
    static const struct mount none;
    struct mount found = none;
    char field[MOUNT_FIELD_BYTES];
    uint32_t parent;
    const char *at = line;
    if (!take_number32(&at, &found.id) || *at++ != ' ' || !take_number32(&at, &parent) || *at++ != ' ' ||
        !take_number32(&at, &found.major) || *at++ != ':' || !take_number32(&at, &found.minor) || *at++ != ' ') {
        return false;
    }
    at = take_field(at, found.root, sizeof found.root);
    at = take_field(at, found.point, sizeof found.point);
    at = take_field(at, found.options, sizeof found.options);
    do {
        if (*at == '\0' || *at == '\n') {
            return false;
        }
        at = take_field(at, field, sizeof field);
    } while (strcmp(field, "-") != 0);
    at = take_field(at, found.type, sizeof found.type);
    at = take_field(at, found.source, sizeof found.source);
    (void)take_field(at, found.super_options, sizeof found.super_options);
    if (found.point[0] == '\0' || found.type[0] == '\0') {
        return false;
    }
    *mount = found;
    return true;
}

bool parse_mountinfo_option(const char *line, const char *name, char *value, size_t size) {
    const char *at = strstr(line, " - ");
    size_t length = strlen(name);
    char ignored[8];
    if (at == NULL) {
        return false;
    }
    at = take_field(take_field(at + 3, ignored, sizeof ignored), ignored, sizeof ignored);     // type and source
    for (;; at++) {
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            (void)take_until(at + length + 1, ", \n", value, size);
            return true;
        }
        at += strcspn(at, ", \n");
        if (*at != ',') {
            return false;
        }
    }
}

// What stands behind a word at the start of a line, or NULL.
static const char *after_line_start(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0) {
            return line + length;
        }
    }
    return NULL;
}

bool parse_fdinfo_mount(const char *text, uint32_t *mount_id) {
    const char *at = after_line_start(text, "mnt_id:");
    if (at == NULL) {
        return false;
    }
    at = skip_blanks(at);
    return take_number32(&at, mount_id);
}

bool parse_device_number(const char *text, uint32_t *major, uint32_t *minor) {
    uint32_t first, second;
    if (!take_number32(&text, &first) || *text++ != ':' || !take_number32(&text, &second) || *text != '\0') {
        return false;
    }
    *major = first;
    *minor = second;
    return true;
}

bool parse_cpu_times(const char *text, uint64_t *total, uint64_t *idle, uint64_t *steal) {
    // user nice system idle iowait irq softirq steal; guest times are within user and nice
    uint64_t times[8], sum = 0;
    const char *at = after_line_start(text, "cpu ");
    if (at == NULL) {
        return false;
    }
    for (size_t i = 0; i < 8; i++) {
        at = skip_blanks(at);
        if (!take_number(&at, &times[i])) {
            return false;
        }
        sum += times[i];
    }
    *total = sum;
    *idle = times[3] + times[4];
    *steal = times[7];
    return true;
}

bool parse_pressure(const char *text, uint64_t *total_us) {
    const char *line = after_line_start(text, "some ");
    const char *end = line != NULL ? line + strcspn(line, "\n") : NULL;
    const char *at = line != NULL ? strstr(line, "total=") : NULL;
    if (at == NULL || at > end) {
        return false;
    }
    at += strlen("total=");
    return take_number(&at, total_us);
}

bool parse_vmstat(const char *text, const char *name, uint64_t *value) {
    const char *at = text;
    do {
        at = after_line_start(at, name);
    } while (at != NULL && *at != ' ');
    if (at == NULL) {
        return false;
    }
    at = skip_blanks(at);
    return take_number(&at, value);
}

bool parse_block_stat(const char *text, uint64_t *read_bytes, uint64_t *written_bytes) {
    uint64_t fields[7];
    for (size_t i = 0; i < 7; i++) {
        text = skip_blanks(text);
        if (!take_number(&text, &fields[i])) {
            return false;
        }
    }
    *read_bytes = fields[2] * 512;
    *written_bytes = fields[6] * 512;
    return true;
}

bool parse_schedstat(const char *text, uint64_t *waited_ns) {
    uint64_t ran, waited;
    text = skip_blanks(text);
    if (!take_number(&text, &ran)) {
        return false;
    }
    text = skip_blanks(text);
    if (!take_number(&text, &waited)) {
        return false;
    }
    *waited_ns = waited;
    return true;
}

void parse_chosen(const char *text, char *chosen, size_t size) {
    const char *open = strchr(text, '[');
    const char *close = open != NULL ? strchr(open, ']') : NULL;
    if (close != NULL) {
        (void)snprintf(chosen, size, "%.*s", (int)(close - open - 1 < 4096 ? close - open - 1 : 4096), open + 1);
    } else {
        (void)snprintf(chosen, size, "%s", text);
    }
}

bool parse_mount_option(const char *options, const char *name, char *value, size_t size) {
    size_t length = strlen(name);
    for (const char *at = options; *at != '\0';) {
        size_t part = strcspn(at, ",");
        if (part > length && strncmp(at, name, length) == 0 && at[length] == '=') {
            size_t rest = part - length - 1;
            (void)snprintf(value, size, "%.*s", (int)(rest < size ? rest : size - 1), at + length + 1);
            return true;
        }
        at += part;
        at += *at == ',';
    }
    return false;
}
