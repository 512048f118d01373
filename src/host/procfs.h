// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Small files of /proc and /sys. Unexpected text only makes the parser fail.
#pragma once

#include "base/standard.h"

// The file's first size-1 bytes, without trailing white space. If it cannot be read: false, and an empty text.
bool read_text(const char *path, char *text, size_t size);

// The sum of some of the blank-separated numbers in the line that begins with that word (an empty word: the first
// line).
// Bit n of fields selects number n, from 0; a "name=" before a number is skipped. False if one of them does not exist.
bool parse_figures(const char *text, const char *word, unsigned fields, uint64_t *sum);

// The memory that is available without swapping, in bytes; UINT64_MAX if the kernel does not report it. The kernel can
// grant more memory than it has, and then kills this process or another one.
uint64_t memory_available_bytes(void);

// The mount that an open file is on and, if that is an overlay, the file system that holds its data.

#define MOUNT_FIELD_BYTES 1024

struct mount {
    uint32_t id;                        // 0: not found
    uint32_t major, minor;
    char root[MOUNT_FIELD_BYTES];       // of the mount in its file system; long fields are truncated
    char point[MOUNT_FIELD_BYTES], options[MOUNT_FIELD_BYTES];
    char type[64], source[MOUNT_FIELD_BYTES], super_options[MOUNT_FIELD_BYTES];
    char upper[PATH_MAX];               // an overlay's upper directory, as the process that mounted it named it
};

// Parses a line of /proc/self/mountinfo; false if it is malformed.
bool parse_mountinfo_line(const char *line, struct mount *mount);

// The value of "name=value" in a comma-separated list of mount options, with octal escapes decoded.
bool parse_mount_option(const char *options, const char *name, char *value, size_t size);

// The mount that the open file or directory is on; false if /proc does not say.
bool mount_of(int fd, struct mount *mount);

// Like mount_of, but follows overlays to the file system of the upper directory. False if that cannot be seen: the
// directory's path belongs to the namespace that mounted the overlay, so it is used only if the open file is found
// there.
bool mount_behind_overlay(int fd, struct mount *mount);
