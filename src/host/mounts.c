// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "host/mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// An overlay's option keeps the backslashes that its mounter put before commas and the like.
static void unescape(char *text) {
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        at += at[0] == '\\' && at[1] != '\0';
        *to++ = *at;
    }
    *to = '\0';
}

// upper is the upper directory of an overlay as its mounter named it, empty for other file systems.
static bool find(int fd, struct mount *mount, char upper[PATH_MAX]) {
    char path[64], text[1024];
    uint32_t id;
    *mount = (struct mount){0};
    upper[0] = '\0';
    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    FILE *file = read_text(path, text, sizeof text) && parse_fdinfo_mount(text, &id) ? fopen("/proc/self/mountinfo", "re") : NULL;
    if (file == NULL) {
        return false;
    }
    char *line = NULL;
    size_t size = 0;
    while (mount->id == 0 && getline(&line, &size, file) > 0) {
        struct mount one;
        if (parse_mountinfo_line(line, &one) && one.id == id) {
            *mount = one;
            if (strcmp(one.type, "overlay") == 0 && parse_mountinfo_option(line, "upperdir", upper, PATH_MAX)) {
                unescape(upper);
            }
        }
    }
    free(line);
    (void)fclose(file);
    return mount->id != 0;
}

bool mount_of(int fd, struct mount *mount) {
    char upper[PATH_MAX];
    return find(fd, mount, upper);
}

// An overlay shows the times and the owner of what lies in its upper directory; the number of the inode may be its own.
static bool same_attributes(int one, int other) {
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_mode == b.st_mode && a.st_uid == b.st_uid &&
           a.st_gid == b.st_gid && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
           a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

// Opens, below the upper directory, what fd is on the overlay; -1 if it is not to be seen there.
static int open_in_upper(int fd, const struct mount *overlay, const char *upper) {
    char link[64], path[PATH_MAX], below[2 * PATH_MAX + MOUNT_FIELD_BYTES];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    size_t point = strcmp(overlay->point, "/") == 0 ? 0 : strlen(overlay->point);
    if (length < 0 || upper[0] != '/' || strncmp(path, overlay->point, point) != 0) {
        return -1;
    }
    path[length] = '\0';
    (void)snprintf(below, sizeof below, "%s%s%s", upper, strcmp(overlay->root, "/") == 0 ? "" : overlay->root, path + point);
    int found = open(below, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (found >= 0 && !same_attributes(fd, found)) {
        (void)close(found);
        found = -1;
    }
    return found;
}

bool mount_behind_overlay(int fd, struct mount *mount) {
    char upper[PATH_MAX];
    if (!find(fd, mount, upper) || strcmp(mount->type, "overlay") != 0) {
        return mount->id != 0;
    }
    int below = open_in_upper(fd, mount, upper);
    bool seen = below >= 0 && mount_behind_overlay(below, mount);      // the kernel stacks two overlays at most
    if (below >= 0) {
        (void)close(below);
    }
    return seen;
}

// Some file systems (btrfs) have no device of their own in mountinfo; then the source tells.
bool mount_device(const struct mount *mount, uint32_t *major_number, uint32_t *minor_number) {
    struct stat status;
    *major_number = mount->major;
    *minor_number = mount->minor;
    if (mount->major == 0 && strncmp(mount->source, "/dev/", 5) == 0 && stat(mount->source, &status) == 0 &&
        S_ISBLK(status.st_mode)) {
        *major_number = major(status.st_rdev);
        *minor_number = minor(status.st_rdev);
    }
    return *major_number > 0;
}
