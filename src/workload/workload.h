// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A workload is data: a list of streams, the places that they work on, and the unit of its load point. The engine
// (measure/) knows only streams; a file of this folder describes each workload.
#pragma once

#include "base/options.h"
#include "figures/distribution.h"
#include "workload/payload.h"

#include <sys/types.h>

#define LOG_PAGE_BYTES UINT64_C(4096)
#define MESSAGE_OVERHEAD_BYTES UINT64_C(1464)   // in the log, of a message's put and get together

// Where the next operation goes. Ring, as MQ's log: sequential inside a file; a write that would cross the file's end
// goes to the next file instead and leaves the tail unwritten; after the last file, the first again. Varying: the same
// for writes of any size, whose maker places them.

enum pattern_kind { PATTERN_RING, PATTERN_VARYING };

struct pattern {
    enum pattern_kind kind;
    uint32_t files;
    uint64_t file_bytes;
    uint64_t block_bytes;       // 0 < block_bytes <= file_bytes
    uint32_t file;              // where the next operation goes
    uint64_t offset_bytes;
    uint32_t first_file;        // of the step
};

static inline void pattern_next_file(struct pattern *pattern) {
    pattern->offset_bytes = 0;
    pattern->file = pattern->file + 1 < pattern->files ? pattern->file + 1 : 0;
}

// random: state of the worker's random numbers, for patterns that need them.
static inline void pattern_advance(struct pattern *pattern, uint64_t *random) {
    (void)random;
    switch (pattern->kind) {
    case PATTERN_RING:
        pattern->offset_bytes += pattern->block_bytes;
        if (__builtin_expect(pattern->offset_bytes + pattern->block_bytes > pattern->file_bytes, 0)) {
            pattern_next_file(pattern);
        }
        break;
    case PATTERN_VARYING:
        break;
    }
}

// Starts a step in the file after the last one used, so that short steps do not rewrite the same megabytes.
static inline void pattern_start_step(struct pattern *pattern, uint64_t block_bytes) {
    if (pattern->offset_bytes > 0) {
        pattern_next_file(pattern);
    }
    pattern->block_bytes = block_bytes;
    pattern->first_file = pattern->file;
}

// Operations in one pass over all files; 0: the pattern has no passes.
static inline uint64_t pattern_pass_operations(const struct pattern *pattern) {
    return pattern->kind == PATTERN_RING ? pattern->file_bytes / pattern->block_bytes * pattern->files : 0;
}

// Where operation number n (from 0) of the step went; only for a pattern with passes.
static inline void pattern_position(const struct pattern *pattern, uint64_t n, uint32_t *file, uint64_t *offset_bytes) {
    uint64_t in_file = pattern->file_bytes / pattern->block_bytes;
    *file = (uint32_t)((pattern->first_file + n / in_file) % pattern->files);
    *offset_bytes = n % in_file * pattern->block_bytes;
}

// When operations are due. Closed loop: the next one after the one before has ended, and a pause. Open loop: operation
// n (from 0, warm-up included) is due at origin + n / rate, rounded down to a nanosecond. That plan is arithmetic, so
// the operations that a stall kept from starting can be counted after the step without a loop over them.

#define NS_PER_S_IN_MICRO UINT64_C(1000000000000000)

// Of a stream.
struct arrival {
    uint64_t pause_ns;                  // closed loop: after each operation
    uint64_t rate_micro_per_s;          // open loop if above 0: operations per second of each worker, in millionths
};

// The plan of one worker.
struct schedule {
    uint64_t origin_ns;                 // when operation 0 is due
    uint64_t rate_micro_per_s;          // 0: closed loop; the functions below are for an open loop
};

uint64_t schedule_due_ns(const struct schedule *schedule, uint64_t n);

// How many operations are due before that instant.
uint64_t schedule_due_before(const struct schedule *schedule, uint64_t instant_ns);

// Adds how long operations first to first + count - 1 have been due at that instant, which is not before any of them:
// their response time is at least that. The sum of squares leaves them out: no figure of a response is made of it.
void schedule_add_waits(const struct schedule *schedule, uint64_t first, uint64_t count, uint64_t instant_ns,
                        struct distribution *response);

// Streams.

#define WORKLOAD_STREAMS_MAX 4
#define OPERATION_PPM UINT32_C(1000000)

// A commit is no system call: it ends with the write that holds its last byte.
enum operation { OPERATION_WRITE, OPERATION_READ, OPERATION_COMMIT, OPERATIONS };

static inline const char *operation_name(enum operation operation) {
    return operation == OPERATION_COMMIT ? "commit" : operation == OPERATION_READ ? "read" : "write";
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

// Of a stream that writes what the commits of simulated applications leave in the log (group_commit.h).
struct commit_terms {
    uint64_t buffer_bytes;              // the largest write; 0: the stream has no commits
    uint64_t puts;                      // messages in a commit
    bool rewrites_page;                 // a write begins at the page that the one before left partial
    uint64_t think_ns;                  // from an application's release to its next commit
    uint64_t remote_delay_ns;           // from the end of a write to its acknowledgement
};

struct stream {
    const char *name;                   // of its reads and writes; its commits are the stream `commit`
    enum pattern_kind pattern;
    uint64_t block_bytes;               // of each operation; 0: the step's block size
    uint32_t read_ppm;                  // share of reads in millionths; 0: writes only
    enum sync_mode sync;
    struct arrival arrival;
    struct commit_terms commits;
    uint32_t workers;                   // times the load point if scales
    bool scales;
    uint32_t first_place;
    bool shares_place;                  // all workers; if not, worker n has place first_place + n - 1
};

struct workload {
    const char *name;
    const char *load_unit;              // such as "queue managers"
    const char *step_size, *step_title; // of what a step has a size: "block" or "message"; and in a sentence
    const struct number_list *sizes;    // the steps: every size at every load point
    const struct number_list *load_points;
    const char *write_option;           // the option that names the sizes of writes
    struct number_list writes;          // sizes that the disk must accept
    uint32_t streams_count;
    struct stream streams[WORKLOAD_STREAMS_MAX];
    uint32_t places_count;
    struct place *places;
};

static inline uint32_t stream_workers(const struct stream *stream, uint64_t load_point) {
    return stream->scales ? stream->workers * (uint32_t)load_point : stream->workers;
}

static inline bool stream_has(const struct stream *stream, enum operation operation) {
    switch (operation) {
    case OPERATION_READ: return stream->read_ppm > 0;
    case OPERATION_COMMIT: return stream->commits.buffer_bytes > 0;
    default: return stream->read_ppm < OPERATION_PPM;
    }
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

// Fills in a place for each queue manager; false if there is no memory.
bool places_open(struct workload *workload, const struct options *options);

// mq-log: one stream `log`, which writes as MQ's logger does, with a worker and a directory for each queue manager.
// False if there is no memory.
bool mq_log_open(struct workload *workload, const struct options *options);

// commit: the same stream, whose writes carry the commits of simulated applications; the load point is the number of
// applications of each queue manager.
bool commit_open(struct workload *workload, const struct options *options);
