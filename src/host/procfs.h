// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The kernel's own text: small files of /proc and /sys, and pure parsers of them. A parser takes any text, and returns
// false (leaving its output alone) where what it looks for is not there.
#ifndef LOGDISK_PROCFS_H
#define LOGDISK_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOUNT_FIELD_BYTES 1024

struct mount {
    uint32_t id;
    uint32_t major, minor;
    char root[MOUNT_FIELD_BYTES];       // of the mount within its file system; these are cut if they are longer
    char point[MOUNT_FIELD_BYTES], options[MOUNT_FIELD_BYTES];
    char type[64], source[MOUNT_FIELD_BYTES], super_options[MOUNT_FIELD_BYTES];
};

// The file's text up to the first size-1 bytes, without trailing white space; false where it cannot be read.
bool read_text(const char *path, char *text, size_t size);

// One line of /proc/self/mountinfo, octal escapes undone.
bool parse_mountinfo_line(const char *line, struct mount *mount);

// The value of "name=value" among the options of the file system in such a line. Unlike the field super_options it is
// not cut, and tells a comma within the value from one behind it.
bool parse_mountinfo_option(const char *line, const char *name, char *value, size_t size);

// "mnt_id:" of /proc/self/fdinfo/N.
bool parse_fdinfo_mount(const char *text, uint32_t *mount_id);

// "major:minor" of sysfs's dev files.
bool parse_device_number(const char *text, uint32_t *major, uint32_t *minor);

// The first line of /proc/stat, in ticks.
bool parse_cpu_times(const char *text, uint64_t *total, uint64_t *idle, uint64_t *steal);

// total= of the "some" line of /proc/pressure/*, in microseconds.
bool parse_pressure(const char *text, uint64_t *total_us);

// A line "name value" of /proc/vmstat.
bool parse_vmstat(const char *text, const char *name, uint64_t *value);

// /sys/dev/block/M:m/stat: sectors of 512 bytes.
bool parse_block_stat(const char *text, uint64_t *read_bytes, uint64_t *written_bytes);

// /proc/thread-self/schedstat: time spent runnable but not running.
bool parse_schedstat(const char *text, uint64_t *waited_ns);

// The chosen one in "none [mq-deadline] kyber"; the text itself where nothing is bracketed.
void parse_chosen(const char *text, char *chosen, size_t size);

// The value of "name=value" in a comma list of mount options.
bool parse_mount_option(const char *options, const char *name, char *value, size_t size);

#endif
