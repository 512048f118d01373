// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/device.h"

#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PATH_BYTES 128                  // paths of a device's files in sysfs

static const char *path_of(struct block_number number, const char *file, char path[PATH_BYTES]) {
    (void)snprintf(path, PATH_BYTES, "/sys/dev/block/%" PRIu32 ":%" PRIu32 "%s", number.major, number.minor, file);
    return path;
}

bool device_has_name(struct block_number number, const char *name) {
    char path[PATH_BYTES], directory[PATH_MAX];
    ssize_t length = readlink(path_of(number, "", path), directory, sizeof directory - 1);
    directory[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(directory, '/');
    return slash != NULL && strcmp(slash + 1, name) == 0;
}

// Finds the first file that matches the pattern. The name is without its directory, and empty if there is none.
static bool find_file(struct block_number number, const char *pattern, char *name, size_t name_bytes) {
    char path[PATH_BYTES];
    glob_t found = {0};
    bool any = glob(path_of(number, pattern, path), GLOB_NOSORT, NULL, &found) == 0;
    (void)snprintf(name, name_bytes, "%s", any ? strrchr(found.gl_pathv[0], '/') + 1 : "");
    globfree(&found);
    return any;
}

static bool is_partition(struct block_number number, struct device_use *use) {
    char name[FACT_BYTES];
    use->next = "name a whole disk, a logical volume or a multipath device";
    (void)snprintf(use->what, sizeof use->what, "is a partition, and its disk has other data");
    return find_file(number, "/partition", name, sizeof name);
}

static bool has_partitions(struct block_number number, struct device_use *use) {
    char name[FACT_BYTES];
    use->next = "name another device, or remove them if nothing on them is needed (wipefs)";
    (void)snprintf(use->what, sizeof use->what, "has partitions");
    return find_file(number, "/*/partition", name, sizeof name);
}

static bool is_held(struct block_number number, struct device_use *use) {
    char name[FACT_BYTES];
    bool held = find_file(number, "/holders/*", name, sizeof name);
    use->next = "name another device";
    (void)snprintf(use->what, sizeof use->what, "is a part of %s", name);
    return held;
}

static bool is_mounted(struct block_number number, struct device_use *use) {
    struct mount mount;
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t size = 0;
    bool found = file == NULL;
    use->next = "name another device, or unmount it if nothing on it is needed";
    (void)snprintf(use->what, sizeof use->what, "may be mounted: /proc/self/mountinfo cannot be read");
    while (file != NULL && !found && getline(&line, &size, file) > 0) {
        struct block_number mounted = {0};
        if (parse_mountinfo_line(line, &mount)) {
            mounted = device_of_mount(&mount);
        }
        found = mounted.major == number.major && mounted.minor == number.minor;
        (void)snprintf(use->what, sizeof use->what, "is mounted at %s", mount.point);
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

// A kernel without swap has no such file.
static bool is_swap(struct block_number number, struct device_use *use) {
    char text[16384], *rest = text;
    use->next = "name another device, or stop using it for swap (swapoff)";
    (void)snprintf(use->what, sizeof use->what, "is swap space");
    (void)read_text("/proc/swaps", text, sizeof text);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        struct stat status;
        line[strcspn(line, " \t")] = '\0';
        if (stat(line, &status) == 0 && S_ISBLK(status.st_mode) && major(status.st_rdev) == number.major &&
            minor(status.st_rdev) == number.minor) {
            return true;
        }
    }
    return false;
}

static bool is_read_only(struct block_number number, struct device_use *use) {
    char path[PATH_BYTES], text[FACT_BYTES];
    use->next = "name another device, or make it writable";
    (void)snprintf(use->what, sizeof use->what, "is read-only");
    return !read_text(path_of(number, "/ro", path), text, sizeof text) || strcmp(text, "0") != 0;
}

bool device_find_use(struct block_number number, struct device_use *use) {
    return is_partition(number, use) || has_partitions(number, use) || is_mounted(number, use) ||
           is_held(number, use) || is_swap(number, use) || is_read_only(number, use);
}
