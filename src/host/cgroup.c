// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/cgroup.h"

#include "host/procfs.h"

#include <math.h>

#define TEXT_BYTES 8192

// Returns whether a comma-separated list contains a controller; "cpuset" and "cpuacct" are not "cpu".
static bool has_controller(const char *list, const char *controller, const char *ends) {
    for (;;) {
        size_t length = strcspn(list, ends);
        if (length == strlen(controller) && memcmp(list, controller, length) == 0) {
            return true;
        }
        if (list[length] != ',') {
            return false;
        }
        list += length + 1;
    }
}

// Examples of lines, for versions 1 and 2:
//   4:cpu,cpuacct:/system.slice/mq.service
//   0::/system.slice/mq.service
bool parse_cgroup(const char *text, const char *controller, struct cgroup *cgroup) {
    *cgroup = (struct cgroup){0};
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        size_t digits = strspn(text, "0123456789");
        const char *list = text + digits + 1;
        bool numbered = digits > 0 && text[digits] == ':';
        bool legacy = numbered && has_controller(list, controller, ",:\n");
        if (legacy || (numbered && digits == 1 && *text == '0' && *list == ':')) {
            const char *path = list + strcspn(list, ":\n") + 1;
            size_t used = (size_t)(text + length > path ? text + length - path : 0);
            if (used > 0 && *path == '/' && used < sizeof cgroup->path) {
                memcpy(cgroup->path, path, used);
                cgroup->path[used] = '\0';
                cgroup->legacy = legacy;
            }
            if (legacy) {
                break;
            }
        }
        text += length + (text[length] == '\n');
    }
    return cgroup->path[0] != '\0';
}

bool cgroup_locate(struct cgroup *cgroup, const char *root, const char *point) {
    char path[PATH_MAX];
    size_t hidden = strcmp(root, "/") == 0 ? 0 : strlen(root);
    bool below =
        strncmp(cgroup->path, root, hidden) == 0 && (cgroup->path[hidden] == '/' || cgroup->path[hidden] == '\0');
    const char *rest = !below || strcmp(cgroup->path + hidden, "/") == 0 ? "" : cgroup->path + hidden;
    int length = snprintf(path, sizeof path, "%s%s", point, rest);
    bool shown = below && strstr(rest, "/..") == NULL && length > 0 && (size_t)length < sizeof path;
    cgroup->mount_length = shown ? strlen(point) : 0;
    memcpy(cgroup->path, shown ? path : "", shown ? (size_t)length + 1 : 1);
    return shown;
}

double parse_throttled_ns(const char *text, bool legacy) {
    uint64_t figure;
    return parse_figures(text, legacy ? "throttled_time" : "throttled_usec", 1, &figure)
               ? (double)figure * (legacy ? 1 : 1000)
               : NAN;
}

void cgroup_find(struct cgroup *cgroup, const char *controller) {
    static struct mount mount;              // static like the text, because only the main thread uses them
    static char text[TEXT_BYTES];
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    *cgroup = (struct cgroup){0};
    bool known = read_text("/proc/self/cgroup", text, sizeof text) && parse_cgroup(text, controller, cgroup);
    FILE *file = known ? fopen("/proc/self/mountinfo", "re") : NULL;
    while (file != NULL && !found && getline(&line, &size, file) > 0) {
        if (parse_mountinfo_line(line, &mount) && strcmp(mount.type, cgroup->legacy ? "cgroup" : "cgroup2") == 0 &&
            (!cgroup->legacy || has_controller(mount.super_options, controller, ","))) {
            struct cgroup shown = *cgroup;
            found = cgroup_locate(&shown, mount.root, mount.point);
            *cgroup = found ? shown : *cgroup;
        }
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!found) {
        *cgroup = (struct cgroup){0};
    }
}

bool cgroup_file(const struct cgroup *cgroup, int level, const char *name, char file[CGROUP_FILE_BYTES]) {
    size_t length = strlen(cgroup->path);
    for (; level > 0 && length > cgroup->mount_length; level--) {
        while (cgroup->path[--length] != '/') {
        }
    }
    bool seen = level == 0 && length > 0;
    int used = seen ? snprintf(file, CGROUP_FILE_BYTES, "%.*s/%s", (int)length, cgroup->path, name) : 0;
    return used > 0 && used < CGROUP_FILE_BYTES;
}

void cgroup_throttled_ns(const struct cgroup *cgroup, double levels[CGROUP_LEVELS]) {
    static char text[TEXT_BYTES];
    char file[CGROUP_FILE_BYTES];
    for (int i = 0; i < CGROUP_LEVELS; i++) {
        levels[i] = NAN;
        if (cgroup_file(cgroup, i, "cpu.stat", file)) {
            (void)read_text(file, text, sizeof text);
            levels[i] = parse_throttled_ns(text, cgroup->legacy);
        }
    }
}
