// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/options.h"

#include "base/units.h"

enum kind {
    KIND_TEXT,
    KIND_TEXTS,
    KIND_FLAG,
    KIND_INTEGER,
    KIND_RANGES,
    KIND_SIZE,
    KIND_DURATION,
    KIND_DECIMAL,
    KIND_CHOICE
};

enum only { ONLY_NONE, ONLY_MQ_LOG = 1 + WORKLOAD_MQ_LOG, ONLY_COMMIT = 1 + WORKLOAD_COMMIT,
            ONLY_STREAMS = 1 + WORKLOAD_STREAMS };

// An option in full. Members that are not set are 0 or NULL: no letter, no default, no row in run.csv.
struct rule {
    const char *name;
    char letter;
    enum kind kind;
    size_t field;               // offset in struct options
    const char *initial;        // the default, as the user would write it
    uint64_t min, max;          // in the field's own unit
    size_t elements;            // maximum length of a list; 0: a single value
    uint64_t divisor;           // KIND_DECIMAL: how many billionths make up the field's unit
    const char *range_unit;     // the unit of min and max in messages, with a leading space
    bool (*good)(const char *value);
    const char *const *choices; // KIND_CHOICE: the names of its values, in order
    const char *allowed;        // restrictions that min and max cannot express
    const char *example;        // a value that works
    const char *argument, *help;
    const char *alone;          // the value if the option is given without one; any other value then needs "="
    const char *key, *unit;     // in run.csv
    enum only only;             // the only workload that has the option
    bool checks, locks;         // true if --checkAcknowledged, or --lock, allows it as well
    enum options_outcome asks;  // what the option requests instead of a run
};

#define FIELD(name) .field = offsetof(struct options, name)
#define YEAR_2100_NS (UINT64_C(4102444800) * 1000000000)

// Restrictions that min and max cannot express.

static bool is_directories(const char *value) {
    return value[0] != ',' && value[strlen(value) - 1] != ',' && strstr(value, ",,") == NULL;
}

static bool is_file_prefix(const char *value) {
    return strlen(value) <= OPTIONS_FILE_PREFIX_MAX && strchr(value, '/') == NULL;
}

static bool is_run_id(const char *value) {
    return strlen(value) <= OPTIONS_RUN_ID_MAX && value[strspn(value, OPTIONS_RUN_ID_LETTERS)] == '\0';
}

static bool is_alignment(const char *value) {
    uint64_t bytes = 0;
    return parse_integer(value, &bytes) && (bytes == 0 || (bytes >= 512 && (bytes & (bytes - 1)) == 0));
}

const char *const sync_names[] = {"dsync", "sync", "fdatasync", "fsync", "none", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const workload_names[] = {"mq-log", "commit", "streams", NULL};

static bool is_load_unit(const char *value) {
    return strlen(value) <= 32 && value[strspn(value, OPTIONS_RUN_ID_LETTERS " %")] == '\0';
}

static bool is_pages(const char *value) {
    uint64_t bytes = 0;
    return parse_size(value, &bytes) && bytes % 4096 == 0;
}

static const struct rule rules[] = {
    {"dir", 'd', KIND_TEXT, FIELD(dir), .checks = true, .locks = true, .good = is_directories, .initial = ".",
     .example = "/mnt/log/test",
     .allowed = "a directory, or a comma-separated list with one for each queue manager or place",
     .argument = "DIR[,DIR...]",
     .help = "where to write: one directory (with queue managers, DIR1..DIRn), or a list with one for each"},
    {"filePrefix", 'f', KIND_TEXT, FIELD(file_prefix), .good = is_file_prefix, .initial = "mqldt_testfile",
     .allowed = "a file name without a slash, up to 200 bytes", .example = "mqldt_testfile", .argument = "NAME",
     .help = "test files are NAME.0000, NAME.0001 ...", .key = "option_file_prefix", .unit = "text"},
    {"workload", 0, KIND_CHOICE, FIELD(workload), .initial = "mq-log", .choices = workload_names, .example = "commit",
     .argument = "NAME",
     .help = "mq-log: writes of fixed sizes; commit: applications that commit; streams: of --stream"},
    {"bsize", 'b', KIND_SIZE, FIELD(block_sizes), .min = 512, .max = OPTIONS_BLOCK_MAX, .elements = OPTIONS_LIST_MAX,
     .example = "4K,16K,64K", .argument = "SIZE[,SIZE...]", .help = "block sizes to write, one step each (required)",
     .key = "option_block_sizes_bytes", .unit = "bytes", .only = ONLY_MQ_LOG},
    {"fileSize", 's', KIND_SIZE, FIELD(file_bytes), .initial = "1638400", .min = 4096, .max = OPTIONS_FILE_BYTES_MAX,
     .range_unit = " bytes", .example = "64M", .argument = "SIZE", .help = "size of each test file",
     .key = "option_file_size_bytes", .unit = "bytes"},
    {"numFiles", 'n', KIND_INTEGER, FIELD(files), .initial = "8", .min = 1, .max = OPTIONS_FILES_MAX, .example = "16",
     .argument = "N", .help = "test files for each queue manager", .key = "option_files", .unit = "count"},
    {"duration", 't', KIND_INTEGER, FIELD(duration_s), .initial = "10", .min = 1, .max = 604800,
     .range_unit = " seconds", .example = "60", .argument = "S", .help = "seconds to measure in each step",
     .key = "option_duration_s", .unit = "s"},
    {"qm", 'q', KIND_INTEGER, FIELD(load_points), .initial = "1", .min = 1, .max = OPTIONS_QUEUE_MANAGERS_MAX,
     .elements = OPTIONS_LIST_MAX, .example = "1,2,4", .argument = "N[,N...]", .key = "option_load_points",
     .unit = "number", .help = "load points: queue managers that write at once, for every block size"},
    {"delay", 'z', KIND_INTEGER, FIELD(delay_us), .initial = "0", .max = 60000000, .range_unit = " microseconds",
     .example = "100", .argument = "US", .help = "think time after each write, outside the timed interval",
     .key = "option_delay_us", .unit = "us", .only = ONLY_MQ_LOG},
    {"apps", 0, KIND_INTEGER, FIELD(applications), .min = 1, .max = 100000, .elements = OPTIONS_LIST_MAX,
     .example = "1,10,100", .argument = "N[,N...]", .key = "option_applications", .unit = "number", .only = ONLY_COMMIT,
     .help = "commit: load points: the applications of each queue manager (required)"},
    {"msgSize", 0, KIND_SIZE, FIELD(message_sizes), .min = 1, .max = 104857600, .elements = OPTIONS_LIST_MAX,
     .example = "2K,20K", .argument = "SIZE[,SIZE...]", .key = "option_message_sizes_bytes", .unit = "bytes",
     .only = ONLY_COMMIT, .help = "commit: message sizes, one step each (required)"},
    {"putsPerCommit", 0, KIND_INTEGER, FIELD(puts_per_commit), .initial = "1", .min = 1, .max = 10000, .example = "1",
     .argument = "N", .key = "option_puts_per_commit", .unit = "count", .only = ONLY_COMMIT,
     .help = "commit: messages per commit"},
    {"thinkTime", 0, KIND_INTEGER, FIELD(think_us), .initial = "0", .max = 60000000, .range_unit = " microseconds",
     .example = "1000", .argument = "US", .key = "option_think_time_us", .unit = "us", .only = ONLY_COMMIT,
     .help = "commit: pause of each application after a commit"},
    {"logBuffer", 0, KIND_SIZE, FIELD(log_buffer_bytes), .good = is_pages, .initial = "2M", .min = 4096,
     .max = 16777216, .allowed = "4K to 16M, a multiple of 4096", .example = "2M", .argument = "SIZE",
     .key = "option_log_buffer_bytes", .unit = "bytes", .only = ONLY_COMMIT,
     .help = "commit: the largest write, MQ's LogBufferPages x 4096"},
    {"tripleWrite", 0, KIND_FLAG, FIELD(triple_write), .key = "option_triple_write", .unit = "0/1", .only = ONLY_COMMIT,
     .help = "commit: each write begins by rewriting the last page if it is partial"},
    {"remoteDelay", 0, KIND_INTEGER, FIELD(remote_delay_us), .initial = "0", .max = 1000000,
     .range_unit = " microseconds", .example = "500", .argument = "US", .key = "option_remote_delay_us", .unit = "us",
     .only = ONLY_COMMIT, .help = "commit: time from the end of a write to its remote acknowledgement"},
    {"stream", 0, KIND_TEXTS, FIELD(streams), .allowed = "up to 16 of them, each KEY=VALUE,... as in logdisk(1)",
     .example = "name=db,pattern=random,size=8K,read=70%,workers=8", .argument = "KEY=VALUE,...",
     .help = "streams: describes one stream; may be repeated; logdisk(1) has the keys", .only = ONLY_STREAMS},
    {"place", 0, KIND_TEXTS, FIELD(places), .allowed = "up to 16 of them, each KEY=VALUE,... as in logdisk(1)",
     .example = "name=data,dir=/mnt/data/test,share=90%", .argument = "KEY=VALUE,...", .only = ONLY_STREAMS,
     .help = "streams: a place that they use, a share of --fileSize x --numFiles; may be repeated"},
    {"eraseDevice", 0, KIND_TEXTS, FIELD(erase_devices),
     .allowed = "up to 16 of them, each the path in device= of a --place",
     .example = "/dev/disk/by-id/nvme-MODEL_SERIAL", .argument = "PATH", .only = ONLY_STREAMS,
     .help = "streams: the block device that a place may overwrite; may be repeated"},
    {"load", 0, KIND_INTEGER, FIELD(loads), .initial = "1", .min = 1, .max = OPTIONS_LOAD_MAX,
     .elements = OPTIONS_LIST_MAX, .example = "10,40,90", .argument = "N[,N...]", .key = "option_loads",
     .unit = "number", .only = ONLY_STREAMS,
     .help = "streams: load points, by which workers=load and rate=N*load are multiplied"},
    {"loadUnit", 0, KIND_TEXT, FIELD(load_unit), .initial = "load", .good = is_load_unit, .example = "threads",
     .allowed = "up to 32 letters, digits, blanks, '%', '.', '_' and '-'", .argument = "NAME",
     .help = "streams: what a load point counts", .only = ONLY_STREAMS},
    {"stopAbove", 0, KIND_TEXTS, FIELD(stop_above), .allowed = "up to 16 of them, each STREAM:OPERATION:FIGURE:TIME",
     .example = "db:read:latency_mean:20ms", .argument = "LIMIT", .only = ONLY_STREAMS,
     .help = "streams: make no further steps after one with a mean above this; may be repeated"},
    {"csvFile", 'c', KIND_TEXT, FIELD(csv_file), .allowed = "a file name", .example = "result.csv", .argument = "FILE",
     .help = "mqldt's table, written in place: replaced for one queue manager, appended to for several",
     .only = ONLY_MQ_LOG},
    {"alignment", 'a', KIND_INTEGER, FIELD(alignment_bytes), .good = is_alignment, .initial = "4096", .max = 1048576,
     .allowed = "0, or a power of two from 512 to 1048576", .example = "4096", .argument = "BYTES",
     .help = "alignment of the memory to write from; 0: the file system's preferred block",
     .key = "option_alignment_bytes", .unit = "bytes"},
    {"backgroundThreads", 'p', KIND_INTEGER, FIELD(background_threads), .initial = "0", .max = 100, .example = "2",
     .argument = "N", .help = "threads that keep processors busy for the whole run", .key = "option_background_threads",
     .unit = "count"},
    {"createDirs", 0, KIND_FLAG, FIELD(create_dirs), .locks = true,
     .help = "create missing directories, and remove them at the end (--lock keeps them)", .key = "option_create_dirs",
     .unit = "0/1"},
    {"keepFiles", 0, KIND_FLAG, FIELD(keep_files), .help = "keep the test files (otherwise they never have a name)",
     .key = "option_keep_files", .unit = "0/1"},
    {"tables", 0, KIND_TEXT, FIELD(tables_dir), .checks = true, .allowed = "a directory, or - for standard output",
     .example = "./result", .argument = "DIR",
     .help = "write the full result as CSV tables; once run.csv exists, all are complete; -: print them at the end"},
    {"json", 0, KIND_FLAG, FIELD(json), .checks = true,
     .help = "print the full result on standard output as one JSON document, and the rest on standard error"},
    {"quiet", 0, KIND_FLAG, FIELD(quiet), .checks = true, .help = "print only the result, warnings and errors"},
    {"over", 0, KIND_DURATION, FIELD(over), .min = 1, .max = UINT64_C(3600000000000), .elements = OPTIONS_OVER_MAX,
     .allowed = "1ns to 3600s, in whole ns, us, ms or s", .example = "2ms,10ms", .argument = "TIME[,TIME...]",
     .help = "count in over.csv the writes that took longer, as well as 100us,200us,500us ... 5s; those named here by "
             "queue manager, too",
     .key = "option_over_ns", .unit = "ns"},
    {"failAbove", 0, KIND_TEXTS, FIELD(fail_above),
     .allowed = "up to 16 of them, each FIGURE:TIME[:SIZES[:LOADS]]", .example = "latency_p99:2ms:4K-64K",
     .argument = "LIMIT", .only = ONLY_MQ_LOG,
     .help = "end the run as soon as there is evidence that a figure is above this; may be repeated"},
    {"failOdds", 0, KIND_INTEGER, FIELD(fail_odds), .initial = "20", .min = 2, .max = UINT64_C(1000000000000),
     .example = "560", .argument = "N", .only = ONLY_MQ_LOG,
     .help = "odds of N to 1; the evidence of --failAbove must beat their square even if the rest were quick"},
    {"passAfter", 0, KIND_INTEGER, FIELD(pass_after_s), .min = 1, .max = 604800, .range_unit = " seconds",
     .example = "600", .argument = "S", .only = ONLY_MQ_LOG,
     .help = "end a step that has measured for this long if there is evidence that all limits of --failAbove are kept"},
    {"passOdds", 0, KIND_INTEGER, FIELD(pass_odds), .initial = "20", .min = 2, .max = UINT64_C(1000000000000),
     .example = "20", .argument = "N", .only = ONLY_MQ_LOG,
     .help = "odds of N to 1 that the evidence of --passAfter must beat"},
    {"trace", 0, KIND_TEXT, FIELD(trace_file), .allowed = "a file name", .example = "./trace.csv", .argument = "FILE",
     .help = "streams: write each operation to a new CSV file, after each step", .only = ONLY_STREAMS},
    {"traceOperations", 0, KIND_INTEGER, FIELD(trace_operations), .initial = "1000000", .min = 1, .max = 100000000,
     .example = "1000000", .argument = "N", .help = "streams: the most operations that --trace keeps, 40 bytes each",
     .only = ONLY_STREAMS},
    {"progress", 0, KIND_TEXT, FIELD(progress_file), .allowed = "a file name", .example = "./progress",
     .argument = "FILE", .help = "write the progress as one line, replaced once per second"},
    {"monitor", 0, KIND_INTEGER, FIELD(monitor_s), .min = 1, .max = 3600, .range_unit = " seconds", .example = "10",
     .argument = "S", .alone = "10",
     .help = "print a row of figures on the screen every S seconds, and a histogram for each step"},
    {"warmup", 0, KIND_INTEGER, FIELD(warmup_s), .initial = "0", .max = 86400, .range_unit = " seconds", .example = "5",
     .argument = "S", .help = "seconds to write before each step's measured time", .key = "option_warmup_s",
     .unit = "s"},
    {"sync", 0, KIND_CHOICE, FIELD(sync), .initial = "dsync", .choices = sync_names, .example = "dsync",
     .argument = "MODE", .help = "dsync (as MQ), sync, fdatasync, fsync (also timed separately) or none",
     .key = "option_sync", .unit = "text"},
    {"direct", 0, KIND_CHOICE, FIELD(direct), .initial = "yes", .choices = no_yes, .example = "yes",
     .argument = "yes|no", .help = "O_DIRECT, as MQ", .key = "option_direct", .unit = "text"},
    {"rate", 0, KIND_DECIMAL, FIELD(rate_micro_per_s), .min = 1000, .max = UINT64_C(1000000000000), .divisor = 1000,
     .allowed = "0.001 to 1000000 writes per second", .example = "500", .argument = "WRITES_PER_S",
     .help = "open loop for each queue manager: response_* counts from the intended start", .key = "option_rate_per_s",
     .unit = "1/s", .only = ONLY_MQ_LOG},
    {"startAt", 0, KIND_DECIMAL, FIELD(start_at_ns), .min = 1, .max = YEAR_2100_NS, .divisor = 1,
     .allowed = "seconds since the epoch, up to nine decimals", .example = "1790000000.5", .argument = "EPOCH",
     .help = "start the first step at that instant; later steps keep to their plan", .key = "option_start_at_epoch_s",
     .unit = "s"},
    {"deadline", 0, KIND_INTEGER, FIELD(deadline_s), .min = 1, .max = 31536000, .range_unit = " seconds",
     .example = "600", .argument = "S", .checks = true, .locks = true,
     .help = "seconds after which to report what was measured and end (twice the planned time + 60)",
     .key = "option_deadline_s", .unit = "s"},
    {"reserve", 0, KIND_SIZE, FIELD(reserve_bytes), .max = UINT64_C(1) << 44, .range_unit = " bytes", .example = "1G",
     .argument = "SIZE", .help = "space to leave free beside the test files (1 % of the file system, 16M to 1G)"},
    {"seed", 0, KIND_INTEGER, FIELD(seed), .max = UINT64_MAX, .example = "1", .argument = "N",
     .help = "seed of the written data (random)", .key = "option_seed", .unit = "number"},
    {"verify", 0, KIND_FLAG, FIELD(verify), .help = "read everything back after each step and compare",
     .key = "option_verify", .unit = "0/1", .only = ONLY_MQ_LOG},
    {"acknowledge", 0, KIND_FLAG, FIELD(acknowledge), .key = "option_acknowledge", .unit = "0/1", .only = ONLY_MQ_LOG,
     .help = "for a power cut: leave the files, and print on standard output how many writes have returned"},
    {"checkAcknowledged", 0, KIND_TEXT, FIELD(check_acknowledged), .checks = true, .only = ONLY_MQ_LOG,
     .allowed = "a file name, or - for standard input", .example = "acknowledged.txt", .argument = "FILE",
     .help = "after the cut: compare the files in --dir with what --acknowledge printed, and end"},
    {"removeAcknowledged", 0, KIND_FLAG, FIELD(remove_acknowledged), .only = ONLY_MQ_LOG,
     .help = "remove the files that --acknowledge left in --dir (with its --qm and --filePrefix), and end"},
    {"lock", 0, KIND_FLAG, FIELD(lock), .locks = true,
     .help = "obey commands from standard input about locks of files in --dir, until the input ends"},
    {"cpu", 0, KIND_RANGES, FIELD(cpus), .max = OPTIONS_CPUS_MAX - 1, .elements = OPTIONS_LIST_MAX,
     .allowed = "processors, such as 0-3,8", .example = "0-3", .argument = "LIST",
     .help = "pin the writers to these processors, in turn", .key = "option_cpus", .unit = "text"},
    {"runId", 0, KIND_TEXT, FIELD(run_id), .locks = true, .good = is_run_id,
     .allowed = "up to 64 letters, digits, '.', '_' and '-'", .example = "2026-11-21", .argument = "ID",
     .help = "testers with the same ID may share a disk (default: a run of its own)",
     .key = "option_run_id", .unit = "text"},
    {"shareDevice", 0, KIND_FLAG, FIELD(share_device),
     .help = "test although a tester of another run is using the disk", .key = "option_share_device", .unit = "0/1"},
    {"mlock", 0, KIND_FLAG, FIELD(mlock), .help = "keep all pages of the process in memory", .key = "option_mlock",
     .unit = "0/1"},
    {"showFio", 0, KIND_FLAG, FIELD(show_fio),
     .help = "print the closest fio job and what it cannot express, and end"},
    {"columns", .asks = OPTIONS_COLUMNS,
     .help = "every column of the CSV tables and every key of run.csv, as table,name,unit"},
    {"help", 'h', .asks = OPTIONS_HELP, .help = "this text"},
    {"version", .asks = OPTIONS_VERSION, .help = "the version and the hash of its sources"},
};

#define RULES (sizeof rules / sizeof rules[0])

#define complain(options, ...) failure_set(&(options)->failure, EXIT_USAGE, __VA_ARGS__)

#define ALLOWED_BYTES 100

static const char *allowed(const struct rule *rule, char text[ALLOWED_BYTES]) {
    char low[SIZE_NAME_BYTES], high[SIZE_NAME_BYTES];
    if (rule->allowed != NULL) {
        return rule->allowed;
    }
    if (rule->kind == KIND_CHOICE) {
        size_t length = 0;
        for (const char *const *choice = rule->choices; *choice != NULL && length < ALLOWED_BYTES; choice++) {
            length += (size_t)snprintf(text + length, ALLOWED_BYTES - length, "%s%s", length > 0 ? " " : "", *choice);
        }
        return text;
    }
    (void)snprintf(low, sizeof low, "%" PRIu64, rule->min);
    (void)snprintf(high, sizeof high, "%" PRIu64, rule->max);
    (void)snprintf(text, ALLOWED_BYTES, "%s to %s%s", rule->kind == KIND_SIZE ? format_size(low, rule->min) : low,
                   rule->kind == KIND_SIZE ? format_size(high, rule->max) : high,
                   rule->range_unit != NULL ? rule->range_unit : "");
    return text;
}

static size_t elements(const char *list) {
    size_t count = 1;
    for (; *list != '\0'; list++) {
        count += *list == ',';
    }
    return count;
}

static bool complain_value(struct options *options, const struct rule *rule, const char *value) {
    char range[ALLOWED_BYTES];
    if (rule->elements > 0 && elements(value) > rule->elements) {
        return complain(options, "--%s: a list of %zu is not allowed; allowed: up to %zu elements, %s; try --%s=%s",
                        rule->name, elements(value), rule->elements, allowed(rule, range), rule->name, rule->example);
    }
    return complain(options, "--%s: '%.200s' is not allowed; allowed: %s; try --%s=%s", rule->name, value,
                    allowed(rule, range), rule->name, rule->example);
}

static bool parse_number(const struct rule *rule, const char *text, uint64_t *value) {
    uint64_t number = 0;
    bool good;
    switch (rule->kind) {
    case KIND_SIZE: good = parse_size(text, &number); break;
    case KIND_DECIMAL: good = parse_decimal(text, &number); number /= rule->divisor; break;
    case KIND_DURATION: good = parse_duration(text, &number); break;
    default: good = parse_integer(text, &number); break;
    }
    if (!good || number < rule->min || number > rule->max) {
        return false;
    }
    *value = number;
    return true;
}

// Parses an element of a list, which may be a range such as "first-last".
static bool parse_element(const struct rule *rule, char *text, struct number_list *list) {
    char *dash = rule->kind == KIND_RANGES ? strchr(text, '-') : NULL;
    uint64_t first, last;
    if (dash != NULL) {
        *dash = '\0';
    }
    if (!parse_number(rule, text, &first) || !parse_number(rule, dash != NULL ? dash + 1 : text, &last) ||
        first > last || last - first >= rule->elements - list->count) {
        return false;
    }
    while (first <= last) {
        list->values[list->count++] = first++;
    }
    return true;
}

static bool parse_list(const struct rule *rule, const char *text, struct number_list *list) {
    list->count = 0;
    for (;; text++) {
        char element[32];
        size_t length = strcspn(text, ",");
        (void)snprintf(element, sizeof element, "%.*s", (int)length, text);
        if (length >= sizeof element || !parse_element(rule, element, list)) {
            return false;
        }
        text += length;
        if (*text == '\0') {
            return true;
        }
    }
}

static bool parse_choice(const char *const *choices, const char *text, uint64_t *index) {
    *index = 0;
    while (choices[*index] != NULL && strcmp(choices[*index], text) != 0) {
        (*index)++;
    }
    return choices[*index] != NULL;
}

static bool add_text(struct text_list *list, const char *value) {
    bool good = value[0] != '\0' && list->count < OPTIONS_TEXTS_MAX;
    if (good) {
        list->values[list->count++] = value;
    }
    return good;
}

static bool apply_rule(struct options *options, const struct rule *rule, const char *value) {
    void *field = (char *)options + rule->field;
    bool good = true;
    if (rule->kind == KIND_TEXTS) {
        good = add_text(field, value);
    } else if (rule->elements > 0) {
        good = parse_list(rule, value, field);
    } else if (rule->kind == KIND_FLAG) {
        *(bool *)field = true;
    } else if (rule->kind == KIND_TEXT) {
        good = value[0] != '\0';
        *(const char **)field = value;
    } else if (rule->kind == KIND_CHOICE) {
        good = parse_choice(rule->choices, value, field);
    } else {
        good = parse_number(rule, value, field);
    }
    options->seed_given |= field == &options->seed;
    options->reserve_given |= field == &options->reserve_bytes;
    return (good && (rule->good == NULL || rule->good(value))) || complain_value(options, rule, value);
}

static uint64_t list_max(const struct number_list *list) {
    uint64_t max = 0;
    for (size_t i = 0; i < list->count; i++) {
        max = list->values[i] > max ? list->values[i] : max;
    }
    return max;
}

// Options that a workload requires.

static bool check_commit(struct options *options) {
    if (options->applications.count == 0 || options->message_sizes.count == 0) {
        return complain(options, "missing option %s, which --workload=commit requires, for example --apps=1,10,100 "
                        "--msgSize=2K,20K", options->applications.count == 0 ? "--apps" : "--msgSize");
    }
    if (options->load_points.count > 1) {
        return complain(
            options,
            "--qm: a list is not allowed with --workload=commit, whose load points come from --apps; try --qm=%" PRIu64,
            options->queue_managers);
    }
    return options->log_buffer_bytes <= options->file_bytes ||
           complain(options, "--logBuffer: a write of %" PRIu64 " bytes does not fit into a file of --fileSize=%" PRIu64
                    " bytes; allowed: at most the file size; try --fileSize=64M", options->log_buffer_bytes,
                    options->file_bytes);
}

static bool check_streams(struct options *options) {
    if (options->streams.count == 0) {
        return complain(options, "missing option --stream, which --workload=streams requires, for example "
                        "--stream=name=db,pattern=random,size=8K,read=70%%,workers=8");
    }
    return (options->load_points.count == 1 && options->queue_managers == 1) ||
           complain(options, "--qm is not for streams, whose load points are those of --load; leave it out");
}

// Refuses the options that other workloads have and this one does not.
static bool refuse_foreign(struct options *options) {
    const char *const *only = options->only;
    if (options->workload != WORKLOAD_COMMIT && only[WORKLOAD_COMMIT] != NULL) {
        return complain(options, "--%s is only for applications that commit; add --workload=commit, or leave it out",
                        only[WORKLOAD_COMMIT]);
    }
    if (options->workload != WORKLOAD_STREAMS && only[WORKLOAD_STREAMS] != NULL) {
        return complain(
            options, "--%s is only for streams; add --workload=streams, or leave it out", only[WORKLOAD_STREAMS]);
    }
    return options->workload == WORKLOAD_MQ_LOG || only[WORKLOAD_MQ_LOG] == NULL ||
           complain(options, "--%s is not for --workload=%s, whose %s; leave it out", only[WORKLOAD_MQ_LOG],
                    workload_names[options->workload],
                    options->workload == WORKLOAD_COMMIT ? "writes result from --apps and --msgSize"
                                                         : "operations are those of --stream");
}

// A check by another machine is possible only if writes are on the disk when they return, and if the single line of the
// mark describes the layout. Standard output is reserved for this line and for the counts.
static bool check_acknowledge(struct options *options) {
    if (!options->acknowledge) {
        return true;
    }
    options->keep_files = true;
    if (options->block_sizes.count != 1 || options->load_points.count != 1) {
        return complain(options, "--acknowledge: a list of --bsize or --qm is not allowed; allowed: one block size and "
                                 "one load point; try --bsize=4K --qm=1");
    }
    if (options->block_sizes.values[0] % 4096 != 0 || options->alignment_bytes != 4096) {
        return complain(options,
                        "--acknowledge: --bsize=%" PRIu64 " --alignment=%" PRIu64
                        " is not allowed; allowed: a block size that is a multiple of 4096, and an alignment of 4096; "
                        "try --bsize=4K",
                        options->block_sizes.values[0], options->alignment_bytes);
    }
    if (options->files * (options->file_bytes / options->block_sizes.values[0]) == 1) {
        return complain(
            options,
            "--acknowledge: files with room for one block are not allowed, because after the cut they may "
            "contain anything: it is the block of the write in flight; allowed: room for two blocks or more; "
            "try --numFiles=8");
    }
    if (options->sync == SYNC_NONE) {
        return complain(options, "--acknowledge: --sync=none is not allowed, because nothing promises that such writes "
                                 "are on the disk; try --sync=dsync");
    }
    if (options->file_prefix[strspn(options->file_prefix, OPTIONS_RUN_ID_LETTERS)] != '\0') {
        return complain(options,
                        "--acknowledge: --filePrefix='%.200s' is not allowed; allowed: letters, digits, '.', '_' and "
                        "'-'; try --filePrefix=mqldt_testfile",
                        options->file_prefix);
    }
    bool printed = options->json || (options->tables_dir != NULL && strcmp(options->tables_dir, "-") == 0);
    return !printed || complain(options, "--acknowledge: %s is not allowed, because standard output is for the "
                                         "acknowledgements; try --tables=./result",
                                options->json ? "--json" : "--tables=-");
}

// The run that created the files determines their content.
static bool check_check(struct options *options) {
    return options->not_for_check == NULL ||
           complain(options,
                    "--%s is not for --checkAcknowledged, which reads from its file what was written; leave it out",
                    options->not_for_check);
}

// --lock measures nothing, and all its files are in one directory.
static bool check_lock(struct options *options) {
    if (options->not_for_lock != NULL) {
        return complain(options, "--%s is not for --lock, which takes only --dir, --createDirs, --runId and "
                        "--deadline; leave it out",
                        options->not_for_lock);
    }
    return strchr(options->dir, ',') == NULL ||
           complain(options, "--lock: a list of --dir is not allowed; allowed: one directory; try --dir=/mnt/log/test");
}

static bool check_workload(struct options *options) {
    if (options->lock) {
        return check_lock(options);
    }
    if (options->streams.count > 0 && !options->workload_given) {
        options->workload = WORKLOAD_STREAMS;
    }
    if (!refuse_foreign(options)) {
        return false;
    }
    if (options->check_acknowledged != NULL) {
        return check_check(options);
    }
    switch (options->workload) {
    case WORKLOAD_COMMIT: return check_commit(options);
    case WORKLOAD_STREAMS: return check_streams(options);
    default:
        return options->remove_acknowledged ||
               ((options->block_sizes.count > 0 ||
                 complain(options, "missing required option --bsize, for example --bsize=4K,16K,64K")) &&
                check_acknowledge(options));
    }
}

static bool check_output(struct options *options) {
    if (options->json && options->tables_dir != NULL) {
        return complain(options, "--json and --tables exclude each other: the document contains the same tables; leave "
                                 "one out");
    }
    bool shown = options->json || options->tables_dir != NULL || options->csv_file != NULL || options->acknowledge ||
                 options->check_acknowledged != NULL || options->remove_acknowledged || options->show_fio;
    return shown || !options->quiet ||
           complain(options, "--quiet: nothing would show the result; add --json, --tables or --csvFile");
}

// Checks that options fit together.
static bool check_together(struct options *options) {
    options->queue_managers = list_max(&options->load_points);
    size_t directories = elements(options->dir);
    if (!check_workload(options) || !check_output(options)) {
        return false;
    }
    if (options->file_bytes % 4096 != 0) {
        return complain(options, "--fileSize: %" PRIu64 " is not allowed; allowed: a multiple of 4096, MQ's log page; "
                        "try --fileSize=%" PRIu64, options->file_bytes, (options->file_bytes / 4096 + 1) * 4096);
    }
    if (list_max(&options->block_sizes) > options->file_bytes) {
        return complain(options, "--bsize: a block of %" PRIu64 " bytes does not fit into a file of --fileSize=%" PRIu64
                        " bytes; allowed: at most the file size; try --fileSize=64M",
                        list_max(&options->block_sizes), options->file_bytes);
    }
    if (directories > 1 && options->workload != WORKLOAD_STREAMS && options->check_acknowledged == NULL &&
        directories != options->queue_managers) {
        return complain(options, "--dir names %zu directories, but --qm has %" PRIu64 " queue managers; allowed: one "
                        "directory, or one for each; try --qm=%zu", directories, options->queue_managers, directories);
    }
    for (uint32_t number = 1; number <= options->queue_managers; number++) {
        char path[PATH_MAX];
        if (!options_directory(options, number, path, sizeof path)) {
            return complain(options,
                            "--dir: the path of queue manager %" PRIu32
                            " is too long; allowed: up to %d bytes; try --dir=/mnt/log/test",
                            number, PATH_MAX - 1);
        }
    }
    if (options->rate_micro_per_s != 0 && options->delay_us != 0) {
        return complain(
            options, "--rate and --delay exclude each other: an open loop has no think time; leave one out");
    }
    return true;
}

static void insert_once(struct number_list *sorted, uint64_t value) {
    size_t at = sorted->count;
    while (at > 0 && sorted->values[at - 1] > value) {
        at--;
    }
    if (at == 0 || sorted->values[at - 1] != value) {
        memmove(&sorted->values[at + 1], &sorted->values[at], (sorted->count - at) * sizeof value);
        sorted->values[at] = value;
        sorted->count++;
    }
}

// Sorts the thresholds of --over, keeps a copy of the given ones, and adds those that are always included: 1, 2 and 5
// in every decade from 100 us to 5 s.
static void complete_over(struct number_list *over, struct number_list *asked_for) {
    size_t asked = over->count;
    over->count = 0;
    for (size_t i = 0; i < asked; i++) {
        insert_once(over, over->values[i]);     // never overwrites values that are still to be read
    }
    *asked_for = *over;
    for (uint64_t decade_ns = 100000; decade_ns <= 1000000000; decade_ns *= 10) {
        insert_once(over, decade_ns);
        insert_once(over, 2 * decade_ns);
        insert_once(over, 5 * decade_ns);
    }
}

// Finds the option with the given letter or name. A name may be shortened as long as it matches only one option, or
// only one of mqldt's options (those with a letter). Returns NULL if there is no match.
static const struct rule *find(const char *word, size_t length) {
    const struct rule *any = NULL, *mqldt = NULL;
    size_t count = 0, mqldt_count = 0;
    for (const struct rule *rule = rules; rule < rules + RULES; rule++) {
        bool begins = word[1] == '-' && strncmp(rule->name, word + 2, length - 2) == 0;
        if (rule->letter == word[1] || (begins && rule->name[length - 2] == '\0')) {
            return rule;
        }
        any = begins ? rule : any;
        count += begins;
        mqldt = begins && rule->letter != 0 ? rule : mqldt;
        mqldt_count += begins && rule->letter != 0;
    }
    return count == 1 ? any : mqldt_count == 1 ? mqldt : NULL;
}

// Takes an option and its value: --name=value, --name value, -nvalue or -n value.
static enum options_outcome take_option(struct options *options, char ***words) {
    const char *word = *(*words)++;
    if (word[0] != '-' || word[1] == '\0') {
        (void)complain(
            options, "'%.200s' is not an option; values follow their option, as --bsize=4K; try logdisk --help", word);
        return OPTIONS_WRONG;
    }
    bool is_long = word[1] == '-';
    size_t length = is_long ? strcspn(word, "=") : 2;
    const struct rule *rule = find(word, length);
    if (rule == NULL) {
        (void)complain(options, "'%.200s' is unknown or ambiguous; try logdisk --help", word);
        return OPTIONS_WRONG;
    }
    const char *value = word[length] == '\0' ? NULL : word + length + is_long;
    if (value == NULL && rule->alone != NULL) {
        value = rule->alone;
    } else if (rule->argument != NULL && value == NULL && **words != NULL) {
        value = *(*words)++;
    }
    if ((rule->argument != NULL) != (value != NULL)) {
        (void)complain(
            options, "'%.200s' %s; try logdisk --help", word, value == NULL ? "requires a value" : "takes no value");
        return OPTIONS_WRONG;
    }
    if (rule->only != ONLY_NONE && options->only[rule->only - 1] == NULL) {
        options->only[rule->only - 1] = rule->name;
    }
    if (!rule->checks && options->not_for_check == NULL) {
        options->not_for_check = rule->name;
    }
    if (!rule->locks && options->not_for_lock == NULL) {
        options->not_for_lock = rule->name;
    }
    options->workload_given |= rule->field == offsetof(struct options, workload);
    return rule->asks != OPTIONS_RUN ? rule->asks : apply_rule(options, rule, value) ? OPTIONS_RUN : OPTIONS_WRONG;
}

enum options_outcome options_parse(struct options *options, char **words) {
    enum options_outcome outcome = OPTIONS_RUN;
    memset(options, 0, sizeof *options);
    options->run_id = "";
    for (size_t i = 0; i < RULES; i++) {
        if (rules[i].initial != NULL) {
            (void)apply_rule(options, &rules[i], rules[i].initial);
        }
    }
    while (*words != NULL && outcome == OPTIONS_RUN) {
        outcome = take_option(options, &words);
    }
    complete_over(&options->over, &options->over_asked);
    return outcome != OPTIONS_RUN || check_together(options) ? outcome : OPTIONS_WRONG;
}

bool options_take_queue_managers(struct options *options, uint64_t count) {
    char path[PATH_MAX];
    size_t directories = elements(options->dir);
    options->queue_managers = count;
    options->load_points = (struct number_list){.count = 1, .values = {count}};
    if (directories > 1 && directories != count) {
        return failure_set(&options->failure, EXIT_REFUSED, "--dir names %zu directories, but the run had %" PRIu64
                           " queue managers; name the --dir of the run", directories, count);
    }
    return options_directory(options, (uint32_t)count, path, sizeof path) ||
           failure_set(&options->failure, EXIT_REFUSED, "--dir: the path of queue manager %" PRIu64 " is too long",
                       count);
}

void options_help(FILE *out) {
    (void)fprintf(out, "Usage: logdisk --bsize=SIZE[,SIZE...] [--dir=DIR] [option...]\n"
                  "       logdisk --workload=commit --apps=N[,N...] --msgSize=SIZE[,SIZE...] [--dir=DIR] [option...]\n"
                  "       logdisk --stream=KEY=VALUE,... [--stream=...] [--place=KEY=VALUE,...] [option...]\n"
                  "       logdisk --checkAcknowledged=FILE [--dir=DIR] [--tables=DIR]\n"
                  "       logdisk --lock --dir=DIR [--runId=ID] [--deadline=S]\n\n"
                  "Measures how a disk writes IBM MQ's recovery log: O_DIRECT|O_DSYNC, one write at a time,\n"
                  "sequential over a ring of preformatted files. Defaults are in parentheses.\n\n"
                  "Examples:\n"
                  "  logdisk -d /MQHA/QM1/log -b 4K,16K,64K -t 60          one queue manager, three block sizes\n"
                  "  logdisk -d /MQHA/log -b 16K -q 1,4,8 --createDirs     1, 4 and 8 queue managers at once\n"
                  "  logdisk -d . -b 4K --json --quiet | jq '.results[] | [.worker, .latency_p99_ns]'\n"
                  "  logdisk -d . -b 4K -t 600 --monitor                   watch it for ten minutes\n\n");
    for (const struct rule *rule = rules; rule < rules + RULES; rule++) {
        const char *argument = rule->argument, *initial = rule->initial != NULL ? rule->initial : rule->alone;
        char letter[8] = "    ", left[64];
        if (rule->letter != 0) {
            (void)snprintf(letter, sizeof letter, "-%c, ", rule->letter);
        }
        bool alone = rule->alone != NULL;
        (void)snprintf(left, sizeof left, "%s--%s%s%s%s%s", letter, rule->name, alone ? "[" : "",
                       argument != NULL ? "=" : "", argument != NULL ? argument : "", alone ? "]" : "");
        (void)fprintf(out, "  %-34s %s%s%s%s\n", left, rule->help, initial != NULL ? " (" : "",
                      initial != NULL ? initial : "", initial != NULL ? ")" : "");
    }
    (void)fprintf(
        out, "\nExit status: 0 measured; 1 usage; 2 refused or could not set up; 3 an I/O error, short write or\n"
             "corrupt block; 4 interrupted or past the deadline; 5 acknowledged writes were lost. With\n"
             "--checkAcknowledged, 0 is kept, and 2 also means that nothing can be concluded. See logdisk(1).\n");
}

static void add_value(struct text *text, const struct rule *rule, const void *field) {
    const struct number_list *list = field;
    uint64_t value = rule->elements == 0 && rule->kind >= KIND_INTEGER ? *(const uint64_t *)field : 0;
    if (rule->elements > 0) {
        for (size_t i = 0; i < list->count; i++) {
            text_printf(text, "%s%" PRIu64, i > 0 ? " " : "", list->values[i]);
        }
    } else if (rule->kind == KIND_TEXT) {
        const char *string = *(const char *const *)field;
        text_printf(text, "%s", string != NULL ? string : "");
    } else if (rule->kind == KIND_FLAG) {
        text_printf(text, "%d", *(const bool *)field);
    } else if (rule->kind == KIND_CHOICE) {
        text_printf(text, "%s", rule->choices[value]);
    } else if (rule->kind != KIND_DECIMAL) {
        text_printf(text, "%" PRIu64, value);
    } else if (value > 0) {
        uint64_t one = 1000000000 / rule->divisor;
        text_printf(text, "%" PRIu64 ".%0*" PRIu64, value / one, rule->divisor == 1 ? 9 : 6, value % one);
    }
}

void options_each(const struct options *options, option_put *put, void *context) {
    for (const struct rule *rule = rules; rule < rules + RULES; rule++) {
        struct text value = {0};
        bool applies = rule->only == ONLY_NONE || (uint64_t)rule->only == 1 + options->workload;
        if (rule->key != NULL) {
            if (applies) {
                add_value(&value, rule, (const char *)options + rule->field);
            }
            put(context, rule->key, rule->unit, value.bytes);
        }
        text_free(&value);
    }
}

bool options_directory(const struct options *options, uint32_t number, char *path, size_t path_bytes) {
    const char *at = options->dir;
    int length;
    if (strchr(at, ',') != NULL) {
        for (uint32_t i = 1; i < number; i++) {
            at = strchr(at, ',') + 1;
        }
        length = snprintf(path, path_bytes, "%.*s", (int)strcspn(at, ","), at);
    } else if (options->queue_managers == 1) {
        length = snprintf(path, path_bytes, "%s", at);
    } else {
        length = snprintf(path, path_bytes, "%s%" PRIu32, at, number);
    }
    return length > 0 && (size_t)length < path_bytes;
}
