// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A workload is data: a list of streams, the places that they work on, and the unit of its load point. The engine
// (measure/) knows only streams. Each workload is described by a file in this folder.
#pragma once

#include "base/options.h"
#include "figures/distribution.h"
#include "workload/pattern.h"
#include "workload/payload.h"

#include <sys/types.h>

#define LOG_PAGE_BYTES UINT64_C(4096)
#define MESSAGE_OVERHEAD_BYTES UINT64_C(1464)   // the log records of a message's put and get together

// When operations are due. Closed loop: the next operation starts after the previous one has ended, and after a pause.
// Open loop: operation n (from 0, warm-up included) is due at origin + n / rate, rounded down to a nanosecond. Since
// this is a formula, the operations that could not start because of a stall can be counted after the step without a
// loop.

#define NS_PER_S_IN_MICRO UINT64_C(1000000000000000)

// The arrivals of a stream.
struct arrival {
    uint64_t pause_ns;                  // closed loop: after each operation
    uint64_t rate_micro_per_s;          // open loop if above 0: operations per second of each worker, in millionths
};

// The schedule of one worker.
struct schedule {
    uint64_t origin_ns;                 // when operation 0 is due
    uint64_t rate_micro_per_s;          // 0: closed loop; the functions below are for an open loop
};

uint64_t schedule_due_ns(const struct schedule *schedule, uint64_t n);

// Returns how many operations are due before the given time.
uint64_t schedule_due_before(const struct schedule *schedule, uint64_t instant_ns);

// Adds how long the operations from first to first + count - 1 have been due at the given time. All of them must be due
// by then. Their response times are at least that long. The sum of squares is not updated, because no figure about
// responses uses it.
void schedule_add_waits(const struct schedule *schedule, uint64_t first, uint64_t count, uint64_t instant_ns,
                        struct distribution *response);

// The plan of arrivals of a stream defined with --stream. Each worker takes the next operation when it is free, so an
// operation waits only while all workers are busy. No lock is needed, because only `next` changes.

enum arrival_process { ARRIVAL_CLOSED, ARRIVAL_EVEN, ARRIVAL_EXPONENTIAL };
extern const char *const arrival_names[];       // by process

struct arrival_plan {
    enum arrival_process process;       // never closed
    struct schedule schedule;           // of all workers together; if exponential, the mean schedule
    uint64_t seed;
    // even: the number of the next operation; exponential: when it is due after the origin
    _Atomic uint64_t next;
};

void arrival_start(struct arrival_plan *plan, enum arrival_process process, struct schedule schedule, uint64_t seed);

// Takes the next operation if it is due before the given time, and reports when it is due.
bool arrival_take(struct arrival_plan *plan, uint64_t before_ns, uint64_t *due_ns);

// Streams.

#define WORKLOAD_STREAMS_MAX 16
#define WORKLOAD_NAME_BYTES 33          // size of the name of a stream or place
#define STREAM_SIZES_MAX 16
#define OPERATION_PPM UINT32_C(1000000)

// A commit is not a system call: it ends with the write that holds its last byte.
enum operation { OPERATION_WRITE, OPERATION_READ, OPERATION_COMMIT, OPERATIONS };

static inline const char *operation_name(enum operation operation) {
    return operation == OPERATION_COMMIT ? "commit" : operation == OPERATION_READ ? "read" : "write";
}

// A directory, and the files in it. A place of --place may have several directories, whose files follow one another in
// one array. Instead, it may have one or more block devices, on which files also follow one another. No file is in the
// first or last DEVICE_END_BYTES of a device: a device is accepted only if these contain zeros (test_device.h), and a
// test does not change them.
#define DEVICE_END_BYTES (UINT64_C(1) << 20)

struct place {
    char name[WORKLOAD_NAME_BYTES];     // the name in --place; empty if the workload has no --place
    uint32_t share_ppm;                 // share of the capacity, for all directories of the place together
    char *path;
    bool is_device;
    const char *file_prefix;
    uint64_t files, file_bytes;
    enum sync_mode sync;                // how its files are opened
    bool direct;
    // Valid while the place is open (test_files.h):
    int fd, *fds;                       // descriptors of the directory or device, and of each file; -1: not open
    dev_t device;                       // st_dev of the file system of the directory, or of the device itself
    ino_t inode;
    dev_t file_system;                  // number of this file system, or of the device (file_system_of)
    bool made;                          // true if --createDirs made the directory
    int mark;                           // descriptor of the mark (struct marked_files); 0: none
};

// Translates an offset in a file to the offset in its open descriptor. Each device of a place has the same number of
// files.
static inline uint64_t place_offset(const struct place *place, uint64_t file, uint64_t offset_bytes) {
    return place->is_device ? DEVICE_END_BYTES + file % place->files * place->file_bytes + offset_bytes : offset_bytes;
}

// Settings of a stream that writes the log records of simulated commits (group_commit.h).
struct commit_terms {
    uint64_t buffer_bytes;              // the largest write; 0 if the stream has no commits
    uint64_t puts;                      // messages in a commit
    bool rewrites_page;                 // true if a write begins at the page that the previous one left partial
    uint64_t think_ns;                  // from the completion of a commit to the next commit
    uint64_t remote_delay_ns;           // from the end of a write to its acknowledgement
};

// Settings of a stream defined with --stream.
struct stream_terms {
    char name[WORKLOAD_NAME_BYTES], place[WORKLOAD_NAME_BYTES];
    uint32_t sizes_count;               // 0 if the stream belongs to a built-in workload
    uint64_t sizes[STREAM_SIZES_MAX];
    uint32_t upto_ppm[STREAM_SIZES_MAX];        // share of operations that have this size or an earlier one
    uint64_t size_min, size_max;
    struct pattern_terms pattern;
    enum arrival_process process;
    uint64_t rate_micro_per_s;          // open loop: all workers together; times the load point if rate_scales
    bool rate_scales;
    uint32_t files;                     // number of files in its place, in all directories together
};

struct stream {
    const char *name;                   // for its reads and writes; its commits have the stream name `commit`
    enum pattern_kind pattern;
    uint64_t block_bytes;               // size of each operation; 0: the step's block size
    uint32_t read_ppm;                  // share of reads in millionths; 0: writes only
    enum sync_mode sync;
    struct arrival arrival;
    struct commit_terms commits;
    struct stream_terms terms;
    uint32_t workers;                   // multiplied by the load point if scales is set
    bool scales;
    uint32_t first_place;
    bool shares_place;  // true if all workers use one place; otherwise, worker n has place first_place + n - 1
};

struct workload {
    const char *name;
    const char *load_unit;              // such as "queue managers"
    const char *step_size, *step_title; // "block" or "message", and what sentences call it
    const struct number_list *sizes;    // the steps: every size at every load point
    const struct number_list *load_points;
    const char *write_option;           // name of the option that determines the sizes of writes
    const char *load_option;            // name of the option that determines how many workers there are
    const char *worker_title;           // what a worker represents
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

// Returns whether a write is followed by a flush.
static inline bool stream_flushes(const struct stream *stream) {
    return stream->sync == SYNC_FDATASYNC || stream->sync == SYNC_FSYNC;
}

static inline bool stream_is_described(const struct stream *stream) {
    return stream->terms.sizes_count > 0;
}

static inline bool stream_is_open_loop(const struct stream *stream) {
    return stream->arrival.rate_micro_per_s > 0 || stream->terms.process != ARRIVAL_CLOSED;
}

static inline uint64_t stream_rate_micro_per_s(const struct stream *stream, uint64_t load_point) {
    return stream->terms.rate_micro_per_s * (stream->terms.rate_scales ? load_point : 1);
}

static inline enum operation stream_next(const struct stream *stream, uint64_t *random) {
    if (__builtin_expect(stream->read_ppm == 0, 1)) {
        return OPERATION_WRITE;
    }
    return splitmix64(random) % OPERATION_PPM < stream->read_ppm ? OPERATION_READ : OPERATION_WRITE;
}

// The next operation of a stream of --stream: its type, its size, and its place. Changes only the pattern and the state
// of the random numbers, so no disk is needed.
enum operation
stream_draw(const struct stream *stream, struct pattern *pattern, uint64_t *random, uint32_t *size_index);

// Returns the greatest load point.
uint64_t workload_load_max(const struct workload *workload);

// Returns the space that all files take, in bytes; UINT64_MAX if it exceeds 64 bits.
uint64_t workload_footprint(const struct workload *workload);

// Fills in a place for each queue manager; false if there is not enough memory.
bool places_open(struct workload *workload, const struct options *options);

// mq-log: one stream `log`, which writes as MQ's logger does, with a worker and a directory for each queue manager.
// Returns false if there is not enough memory.
bool mq_log_open(struct workload *workload, const struct options *options);

// commit: the same stream, whose writes carry the commits of simulated applications; the load point is the number of
// applications of each queue manager.
bool commit_open(struct workload *workload, const struct options *options);

// streams: the workload that --place, --stream and --load describe (stream_grammar.h). Returns false if there is not
// enough memory, or if the options cannot be used. In the latter case, *failure contains the reason.
bool streams_open(struct workload *workload, const struct options *options, struct failure *failure);
