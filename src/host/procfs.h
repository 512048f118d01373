// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Small files of /proc and /sys. If the text is unexpected, the parsers fail and nothing else happens.
#pragma once

#include "base/standard.h"

// Reads the file's first size-1 bytes, without trailing white space. If the file cannot be read, returns false and an
// empty text.
bool read_text(const char *path, char *text, size_t size);

// Adds up selected blank-separated numbers in the line that begins with the given word (an empty word: the first line).
// Bit n of fields selects number n, from 0; a "name=" before a number is skipped. Returns false if one of them does not
// exist.
bool parse_figures(const char *text, const char *word, unsigned fields, uint64_t *sum);

// Returns the memory that is available without swapping, in bytes; UINT64_MAX if the kernel does not report it. The
// kernel can grant more memory than it has. It may then kill this process or another one.
uint64_t memory_available_bytes(void);

// The mount that an open file is on and, if that is an overlay, the file system that holds its data.

#define MOUNT_FIELD_BYTES 1024

struct mount {
    uint32_t id;                        // 0: not found
    uint32_t major, minor;
    char root[MOUNT_FIELD_BYTES];       // root of the mount in its file system; long fields are truncated
    char point[MOUNT_FIELD_BYTES], options[MOUNT_FIELD_BYTES];
    char type[64], source[MOUNT_FIELD_BYTES], super_options[MOUNT_FIELD_BYTES];
    char upper[PATH_MAX];               // an overlay's upper directory, as named by the process that mounted it
};

// Parses a line of /proc/self/mountinfo; false if it is malformed.
bool parse_mountinfo_line(const char *line, struct mount *mount);

// Finds the value of "name=value" in a comma-separated list of mount options, with octal escapes decoded.
bool parse_mount_option(const char *options, const char *name, char *value, size_t size);

// Finds the mount that contains an open file or directory. Returns false if /proc does not show it.
bool mount_of(int fd, struct mount *mount);

// Returns the number of the file system of an open file or directory, which is the same for all of its subvolumes,
// unlike st_dev; 0 if it is unknown.
dev_t file_system_of(int fd);

// Like mount_of, but follows overlays to the file system of the upper directory. The path of that directory belongs to
// the namespace that mounted the overlay, so it is used only if the open file is found there. Returns false if the
// upper directory cannot be seen.
bool mount_behind_overlay(int fd, struct mount *mount);
