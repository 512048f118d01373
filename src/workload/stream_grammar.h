// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The values of --place and --stream: KEY=VALUE, separated by commas. Reading is strict. A problem is reported in one
// message: the place or stream, the key, what is allowed, and what to try. Nothing is allocated.
#pragma once

#include "workload/workload.h"

#define STREAM_WORKERS_MAX 4096         // in one stream
#define STREAM_RATE_MAX_PER_S 1000000   // for all workers of a stream together

#define PLACE_DEVICE_BYTES 512          // for all paths of a place in /dev/disk/by-id

struct place_terms {
    char name[WORKLOAD_NAME_BYTES];
    const char *directories;            // points into the text, where '+' separates them; NULL: not given
    size_t directories_length;
    char device[PLACE_DEVICE_BYTES];    // one path, or several as A+B; empty: not given
    uint32_t share_ppm;                 // share of the capacity; 0: not given
    uint64_t direct;                    // 0, 1, or UINT64_MAX: not given
};

// Reads one directory, or several separated by '+'.
bool grammar_directories(const char *text, size_t length);

// Returns the length of the first device of A+B. A '+' that is not followed by a path is part of a name.
size_t grammar_device_length(const char *text);

bool grammar_place(const char *text, struct place_terms *terms, struct failure *failure);

// Fills in all members of the stream except first_place and terms.files. The place's name is empty if it was not given.
bool grammar_stream(const char *text, enum sync_mode sync, struct stream *stream, struct failure *failure);
