// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/procfs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MEMINFO_BYTES 8192

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

uint64_t memory_available_bytes(void) {
    char text[MEMINFO_BYTES];
    uint64_t kib;
    bool known = read_text("/proc/meminfo", text, sizeof text) && parse_figures(text, "MemAvailable:", 1, &kib);
    return known && kib < UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
}

// Mounts.

// Copies the text up to one of the end characters, decodes octal escapes, and returns the text after the blanks that
// follow.
static const char *take_field(const char *text, const char *ends, char *field, size_t size) {
    size_t used = 0;
    while (*text != '\0' && strchr(ends, *text) == NULL) {
        char byte = *text++;
        if (byte == '\\' && strspn(text, "01234567") >= 3) {
            byte = (char)((text[0] - '0') << 6 | (text[1] - '0') << 3 | (text[2] - '0'));
            text += 3;
        }
        if (used + 1 < size) {
            field[used++] = byte;
        }
    }
    field[used] = '\0';
    return text + strspn(text, " ");
}

bool parse_mount_option(const char *options, const char *name, char *value, size_t size) {
    size_t length = strlen(name);
    while (strncmp(options, name, length) != 0 || options[length] != '=') {
        options += strcspn(options, ", \n");
        if (*options++ != ',') {
            return false;
        }
    }
    (void)take_field(options + length + 1, ", \n", value, size);
    return true;
}

// The options of an overlay contain backslashes before commas and other special characters.
static void unescape(char *text) {
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        at += at[0] == '\\' && at[1] != '\0';
        *to++ = *at;
    }
    *to = '\0';
}

// An example of a line: 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
bool parse_mountinfo_line(const char *line, struct mount *mount) {
    const char *dash = strstr(line, " - ");     // the blanks in fields are escaped
    int length = 0;
    *mount = (struct mount){0};
    if (dash == NULL || sscanf(line, "%" SCNu32 " %*u %" SCNu32 ":%" SCNu32 " %n", &mount->id, &mount->major,
                               &mount->minor, &length) != 3) {
        return false;
    }
    const char *at = take_field(line + length, " ", mount->root, sizeof mount->root);
    at = take_field(at, " ", mount->point, sizeof mount->point);
    (void)take_field(at, " ", mount->options, sizeof mount->options);
    at = take_field(dash + 3, " \n", mount->type, sizeof mount->type);
    at = take_field(at, " \n", mount->source, sizeof mount->source);
    (void)take_field(at, " \n", mount->super_options, sizeof mount->super_options);
    // Uses the whole line, because copies may be truncated, and because commas in the path must not be mistaken for
    // separators.
    if (strcmp(mount->type, "overlay") == 0 && parse_mount_option(at, "upperdir", mount->upper, sizeof mount->upper)) {
        unescape(mount->upper);
    }
    return mount->point[0] != '\0' && mount->type[0] != '\0';
}

bool mount_of(int fd, struct mount *mount) {
    char path[64], text[1024], *line = NULL;
    size_t size = 0;
    uint64_t id;
    bool found = false;
    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    bool known = read_text(path, text, sizeof text) && parse_figures(text, "mnt_id:", 1, &id);
    FILE *file = known ? fopen("/proc/self/mountinfo", "re") : NULL;
    while (file != NULL && !found && getline(&line, &size, file) > 0) {
        found = parse_mountinfo_line(line, mount) && mount->id == id;
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!found) {
        *mount = (struct mount){0};
    }
    return found;
}

dev_t file_system_of(int fd) {
    struct mount mount;
    struct stat status;
    if (mount_of(fd, &mount)) {
        return makedev(mount.major, mount.minor);
    }
    return fstat(fd, &status) == 0 ? status.st_dev : 0;
}

// An overlay shows the times and the owner of the file in its upper directory; its inode number may differ.
static bool same_attributes(int one, int other) {
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_mode == b.st_mode && a.st_uid == b.st_uid &&
           a.st_gid == b.st_gid && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
           a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

// Opens the file or directory in the upper directory that corresponds to fd on the overlay. Returns -1 if it cannot be
// found.
static int open_in_upper(int fd, const struct mount *overlay) {
    char link[64], path[PATH_MAX], below[2 * PATH_MAX + MOUNT_FIELD_BYTES];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    size_t point = strcmp(overlay->point, "/") == 0 ? 0 : strlen(overlay->point);
    if (length < 0 || overlay->upper[0] != '/' || strncmp(path, overlay->point, point) != 0) {
        return -1;
    }
    path[length] = '\0';
    (void)snprintf(below, sizeof below, "%s%s%s", overlay->upper, strcmp(overlay->root, "/") == 0 ? "" : overlay->root,
                   path + point);
    int found = open(below, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (found >= 0 && !same_attributes(fd, found)) {
        (void)close(found);
        found = -1;
    }
    return found;
}

bool mount_behind_overlay(int fd, struct mount *mount) {
    if (!mount_of(fd, mount) || strcmp(mount->type, "overlay") != 0) {
        return mount->id != 0;
    }
    int below = open_in_upper(fd, mount);
    bool seen = below >= 0 && mount_behind_overlay(below, mount);      // the kernel stacks two overlays at most
    if (below >= 0) {
        (void)close(below);
    }
    return seen;
}
