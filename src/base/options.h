// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The user's options. Each option is declared once, in options.c. options_parse reads a command line into a complete,
// checked set of options, or reports the problem in one message: the option, its value, what is allowed, and what to
// try.
#pragma once

#include "base/failure.h"
#include "base/text.h"

#define OPTIONS_LIST_MAX 1000           // elements in --bsize and in --qm
#define OPTIONS_OVER_MAX 32             // elements in --over
#define OPTIONS_QUEUE_MANAGERS_MAX 1000
#define OPTIONS_FILE_PREFIX_MAX 200
#define OPTIONS_BLOCK_MAX 67108864
#define OPTIONS_FILE_BYTES_MAX (UINT64_C(1) << 44)
#define OPTIONS_FILES_MAX 10000
#define OPTIONS_CPUS_MAX 1024           // the number of processors in a cpu_set_t
#define OPTIONS_TEXTS_MAX 16            // elements in --place, --stream, --eraseDevice, --stopAbove and --failAbove
#define OPTIONS_LOAD_MAX 100000
#define OPTIONS_RUN_ID_MAX 64
#define OPTIONS_RUN_ID_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

enum workload_kind { WORKLOAD_MQ_LOG, WORKLOAD_COMMIT, WORKLOAD_STREAMS, WORKLOADS };

enum sync_mode { SYNC_DSYNC, SYNC_SYNC, SYNC_FDATASYNC, SYNC_FSYNC, SYNC_NONE };
extern const char *const sync_names[];      // by mode

struct number_list {
    size_t count;
    uint64_t values[OPTIONS_LIST_MAX];
};

struct text_list {
    size_t count;
    const char *values[OPTIONS_TEXTS_MAX];
};

struct options {
    // as given: one directory, or a comma-separated list with one for each queue manager or place
    const char *dir;
    const char *file_prefix;
    const char *csv_file, *tables_dir, *progress_file;      // NULL if not requested
    uint64_t workload;                  // enum workload_kind
    bool workload_given;
    struct number_list block_sizes;     // bytes
    struct number_list load_points;     // queue managers
    struct number_list message_sizes;   // bytes
    struct number_list applications;    // of each queue manager
    uint64_t think_us, puts_per_commit, log_buffer_bytes, remote_delay_us;
    bool triple_write;
    struct text_list places, streams;   // as given: workload/stream_grammar.h reads them
    struct text_list erase_devices;     // as given: paths of the block devices that places are allowed to overwrite
    struct number_list loads;           // load points of streams
    const char *load_unit;              // the unit of loads
    struct text_list stop_above;        // as given: measure/stop_above.h reads them
    struct text_list fail_above;        // as given: measure/early_end.h reads them
    uint64_t fail_odds;
    uint64_t pass_after_s, pass_odds;   // 0: steps do not end because all of these limits are kept
    const char *trace_file;             // NULL if not requested
    uint64_t trace_operations;          // the largest number of operations in the trace
    bool show_fio;
    struct number_list over_asked;      // ns: the thresholds of --over alone, in rising order, without duplicates
    struct number_list over;            // ns: these and the built-in thresholds, in rising order, without duplicates
    uint64_t queue_managers;            // the greatest number of them that write at once
    uint64_t file_bytes, files;
    uint64_t duration_s, warmup_s;
    uint64_t delay_us;
    uint64_t rate_micro_per_s;          // writes per second in millionths; 0: closed loop
    uint64_t alignment_bytes;           // alignment of the memory buffer; 0: the file system's preferred block
    uint64_t background_threads;
    uint64_t monitor_s;                 // 0: not requested
    uint64_t start_at_ns;               // since the epoch; 0: at once
    uint64_t deadline_s;                // 0: the default
    uint64_t reserve_bytes;
    bool reserve_given;
    uint64_t seed;
    bool seed_given;
    const char *only[WORKLOADS];        // the first given option that only that workload has; NULL: none
    uint64_t sync, direct;              // enum sync_mode; 1 is yes
    bool create_dirs, keep_files, verify, mlock, share_device;
    bool acknowledge;                   // implies keep_files
    bool remove_acknowledged;           // instead of a run
    const char *check_acknowledged;     // instead of a run: the file of acknowledgements; NULL: not requested
    bool lock;                          // instead of a run
    bool json, quiet;
    // the first given option that a check, or --lock, does not allow; NULL: none
    const char *not_for_check, *not_for_lock;
    const char *run_id;                 // empty: an independent run
    struct number_list cpus;            // empty: not pinned
    struct failure failure;             // OPTIONS_WRONG: what is wrong
};

enum options_outcome { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_COLUMNS, OPTIONS_WRONG };

// words: the arguments of the program, followed by NULL. They must outlive the options.
enum options_outcome options_parse(struct options *options, char **words);

void options_help(FILE *out);

// Calls put for each option in run.csv, in the order of --help, with the value that was used; NULL if it is empty or
// if the workload does not have the option.
typedef void option_put(void *context, const char *key, const char *unit, const char *value);
void options_each(const struct options *options, option_put *put, void *context);

// Sets the number of queue managers to that of the run whose files are checked. Returns false, with a failure, if --dir
// does not name a directory for each of them.
bool options_take_queue_managers(struct options *options, uint64_t count);

// Finds the directory of a queue manager (numbered from 1): its element of the list of directories. If there is only
// one directory, it is that directory if no load point is above one, and otherwise its name followed by the number.
// Returns false if the path is too long.
bool options_directory(const struct options *options, uint32_t number, char *path, size_t path_bytes);
