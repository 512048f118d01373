// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A workload is data: a list of streams, the places that they work on, and the unit of its load point. The engine
// (measure/) knows only streams; a file of this folder describes each workload.
#pragma once

#include "base/options.h"
#include "workload/arrival.h"
#include "workload/pattern.h"
#include "workload/payload.h"

#include <sys/types.h>

#define WORKLOAD_STREAMS_MAX 4
#define OPERATION_PPM UINT32_C(1000000)

enum operation { OPERATION_WRITE, OPERATION_READ, OPERATIONS };

static inline const char *operation_name(enum operation operation) {
    return operation == OPERATION_READ ? "read" : "write";
}

// A directory, and the files in it.
struct place {
    char *path;
    const char *file_prefix;
    uint64_t files, file_bytes;
    enum sync_mode sync;                // how its files are opened
    bool direct;
    // While it is open (test_files.h):
    int fd, *fds;                       // of the directory and of each file; -1: not open
    dev_t device;
    ino_t inode;
    bool made;                          // the directory, by --createDirs
};

struct stream {
    const char *name;
    enum pattern_kind pattern;
    uint64_t block_bytes;               // of each operation; 0: the step's block size
    uint32_t read_ppm;                  // share of reads in millionths; 0: writes only
    enum sync_mode sync;
    struct arrival arrival;
    uint32_t workers;                   // times the load point if scales
    bool scales;
    uint32_t first_place;
    bool shares_place;                  // all workers; if not, worker n has place first_place + n - 1
};

struct workload {
    const char *name;
    const char *load_unit;              // such as "queue managers"
    uint32_t streams_count;
    struct stream streams[WORKLOAD_STREAMS_MAX];
    uint32_t places_count;
    struct place *places;
};

static inline uint32_t stream_workers(const struct stream *stream, uint64_t load_point) {
    return stream->scales ? stream->workers * (uint32_t)load_point : stream->workers;
}

static inline bool stream_has(const struct stream *stream, enum operation operation) {
    return operation == OPERATION_READ ? stream->read_ppm > 0 : stream->read_ppm < OPERATION_PPM;
}

// Whether a write is followed by a flush.
static inline bool stream_flushes(const struct stream *stream) {
    return stream->sync == SYNC_FDATASYNC || stream->sync == SYNC_FSYNC;
}

static inline enum operation stream_next(const struct stream *stream, uint64_t *random) {
    if (__builtin_expect(stream->read_ppm == 0, 1)) {
        return OPERATION_WRITE;
    }
    return splitmix64(random) % OPERATION_PPM < stream->read_ppm ? OPERATION_READ : OPERATION_WRITE;
}

// What all files take; UINT64_MAX if that is more than 64 bits can count.
uint64_t workload_footprint(const struct workload *workload);

// mq-log: one stream `log`, which writes as MQ's logger does, with a worker and a directory for each queue manager.
// False if there is no memory.
bool mq_log_open(struct workload *workload, const struct options *options);
