// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/options.h"

#include "base/units.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum kind { KIND_TEXT, KIND_FLAG, KIND_SIZES, KIND_INTEGERS, KIND_DURATIONS, KIND_INTEGER, KIND_SIZE, KIND_DECIMAL, KIND_CHOICE,
            KIND_CPUS, KIND_HELP, KIND_VERSION, KIND_COLUMNS };

// An option in full. What is not named is 0 or NULL: no letter, no default, no row in run.csv.
struct rule {
    const char *name;
    char letter;
    enum kind kind;
    size_t field;               // offset in struct options
    const char *initial;        // the default, as the user would write it
    uint64_t min, max;          // in the field's own unit
    size_t elements;            // of a list at most
    uint64_t divisor;           // KIND_DECIMAL: billionths in one of the field's units
    const char *range_unit;     // of min and max, for people, with a space before it
    const char *allowed;        // the choices, or what cannot be said by min and max
    const char *example;        // a value that works
    const char *argument, *help;
    const char *key, *unit;     // in run.csv
};

#define FIELD(name) .field = offsetof(struct options, name)
#define YEAR_2100_NS (UINT64_C(4102444800) * 1000000000)

static const struct rule rules[] = {
    {"dir", 'd', KIND_TEXT, FIELD(dir), .initial = ".", .allowed = "a directory, or a comma list of one for each queue manager",
     .example = "/mnt/log/test", .argument = "DIR[,DIR...]", .help = "where to write; several queue managers: DIR1..DIRn, or the list"},
    {"filePrefix", 'f', KIND_TEXT, FIELD(file_prefix), .initial = "mqldt_testfile",
     .allowed = "a file name without a slash, up to 200 bytes", .example = "mqldt_testfile", .argument = "NAME",
     .help = "test files are NAME.0000, NAME.0001 ...", .key = "option_file_prefix", .unit = "text"},
    {"bsize", 'b', KIND_SIZES, FIELD(block_sizes), .min = 512, .max = 67108864, .elements = OPTIONS_LIST_MAX,
     .example = "4K,16K,64K", .argument = "SIZE[,SIZE...]", .help = "block sizes to write, one step each (required)", .key = "option_block_sizes_bytes",
     .unit = "bytes"},
    {"fileSize", 's', KIND_SIZE, FIELD(file_bytes), .initial = "1638400", .min = 4096, .max = UINT64_C(1) << 44,
     .range_unit = " bytes", .example = "64M", .argument = "SIZE", .help = "size of each test file",
     .key = "option_file_size_bytes", .unit = "bytes"},
    {"numFiles", 'n', KIND_INTEGER, FIELD(files), .initial = "8", .min = 1, .max = 10000, .example = "16", .argument = "N",
     .help = "test files for each queue manager", .key = "option_files", .unit = "count"},
    {"duration", 't', KIND_INTEGER, FIELD(duration_s), .initial = "10", .min = 1, .max = 604800, .range_unit = " seconds",
     .example = "60", .argument = "S", .help = "seconds to measure in each step", .key = "option_duration_s", .unit = "s"},
    {"qm", 'q', KIND_INTEGERS, FIELD(load_points), .initial = "1", .min = 1, .max = OPTIONS_QUEUE_MANAGERS_MAX,
     .elements = OPTIONS_LIST_MAX, .example = "1,2,4", .argument = "N[,N...]", .help = "load points: queue managers that write at once, for every block size",
     .key = "option_load_points", .unit = "number"},
    {"delay", 'z', KIND_INTEGER, FIELD(delay_us), .initial = "0", .max = 60000000, .range_unit = " microseconds",
     .example = "100", .argument = "US", .help = "think time after each write, outside the timed interval",
     .key = "option_delay_us", .unit = "us"},
    {"csvFile", 'c', KIND_TEXT, FIELD(csv_file), .allowed = "a file name", .example = "result.csv", .argument = "FILE",
     .help = "mqldt's table, written in place: replaced for one queue manager, appended to for several"},
    {"alignment", 'a', KIND_INTEGER, FIELD(alignment_bytes), .initial = "4096", .max = 1048576,
     .allowed = "0, or a power of two from 512 to 1048576", .example = "4096", .argument = "BYTES",
     .help = "of the memory written from; 0 is the file system's preferred block", .key = "option_alignment_bytes",
     .unit = "bytes"},
    {"backgroundThreads", 'p', KIND_INTEGER, FIELD(background_threads), .initial = "0", .max = 100, .example = "2",
     .argument = "N", .help = "threads that keep processors busy for the whole run", .key = "option_background_threads",
     .unit = "count"},
    {"createDirs", 0, KIND_FLAG, FIELD(create_dirs), .help = "make directories that do not exist, and remove them again",
     .key = "option_create_dirs", .unit = "0/1"},
    {"keepFiles", 0, KIND_FLAG, FIELD(keep_files), .help = "leave the test files (otherwise they never have a name)",
     .key = "option_keep_files", .unit = "0/1"},
    {"tables", 0, KIND_TEXT, FIELD(tables_dir), .allowed = "a directory", .example = "./result", .argument = "DIR",
     .help = "write the full result as CSV tables; once run.csv exists, all are complete"},
    {"over", 0, KIND_DURATIONS, FIELD(over), .min = 1, .max = UINT64_C(3600000000000), .elements = OPTIONS_OVER_MAX,
     .allowed = "1ns to 3600s, in whole ns, us, ms or s", .example = "2ms,10ms", .argument = "TIME[,TIME...]",
     .help = "count in over.csv the writes that took longer, as well as 100us,200us,500us ... 5s", .key = "option_over_ns",
     .unit = "ns"},
    {"progress", 0, KIND_TEXT, FIELD(progress_file), .allowed = "a file name", .example = "./progress", .argument = "FILE",
     .help = "one line, replaced once per second"},
    {"warmup", 0, KIND_INTEGER, FIELD(warmup_s), .initial = "0", .max = 86400, .range_unit = " seconds", .example = "5",
     .argument = "S", .help = "seconds to write before each step's measured time", .key = "option_warmup_s", .unit = "s"},
    {"sync", 0, KIND_CHOICE, FIELD(sync), .initial = "dsync", .allowed = "dsync sync fdatasync fsync none", .example = "dsync",
     .argument = "MODE", .help = "dsync (as MQ), sync, fdatasync, fsync (also timed separately) or none", .key = "option_sync",
     .unit = "text"},
    {"direct", 0, KIND_CHOICE, FIELD(direct), .initial = "yes", .allowed = "no yes", .example = "yes", .argument = "yes|no",
     .help = "O_DIRECT, as MQ", .key = "option_direct", .unit = "text"},
    {"rate", 0, KIND_DECIMAL, FIELD(rate_micro_per_s), .min = 1000, .max = UINT64_C(1000000000000), .divisor = 1000,
     .allowed = "0.001 to 1000000 writes per second", .example = "500", .argument = "WRITES_PER_S",
     .help = "open loop for each queue manager: response_* counts from the intended start", .key = "option_rate_per_s",
     .unit = "1/s"},
    {"startAt", 0, KIND_DECIMAL, FIELD(start_at_ns), .min = 1, .max = YEAR_2100_NS, .divisor = 1,
     .allowed = "seconds since the epoch, up to nine decimals", .example = "1790000000.5", .argument = "EPOCH",
     .help = "start the first step at that instant; later steps keep to their plan", .key = "option_start_at_epoch_s",
     .unit = "s"},
    {"deadline", 0, KIND_INTEGER, FIELD(deadline_s), .min = 1, .max = 31536000, .range_unit = " seconds", .example = "600",
     .argument = "S", .help = "seconds from the start to report what there is and end (twice the planned time + 60)",
     .key = "option_deadline_s", .unit = "s"},
    {"reserve", 0, KIND_SIZE, FIELD(reserve_bytes), .max = UINT64_C(1) << 44, .range_unit = " bytes", .example = "1G",
     .argument = "SIZE", .help = "must stay free beside the test files (1 % of the file system, 16M to 1G)"},
    {"seed", 0, KIND_INTEGER, FIELD(seed), .max = UINT64_MAX, .example = "1", .argument = "N",
     .help = "of the data written (random)", .key = "option_seed", .unit = "number"},
    {"verify", 0, KIND_FLAG, FIELD(verify), .help = "read everything back after each step and compare", .key = "option_verify",
     .unit = "0/1"},
    {"cpu", 0, KIND_CPUS, FIELD(cpu_list), .allowed = "processors, as 0-3,8", .example = "0-3", .argument = "LIST",
     .help = "pin the writers to these processors, in turn", .key = "option_cpus", .unit = "text"},
    {"runId", 0, KIND_TEXT, FIELD(run_id), .allowed = "up to 64 letters, digits, '.', '_' and '-'", .example = "2026-11-21",
     .argument = "ID", .help = "testers of one run may share a disk (none: a run of its own)", .key = "option_run_id",
     .unit = "text"},
    {"shareDevice", 0, KIND_FLAG, FIELD(share_device), .help = "test although a tester of another run is at the disk",
     .key = "option_share_device", .unit = "0/1"},
    {"mlock", 0, KIND_FLAG, FIELD(mlock), .help = "keep all pages of the process in memory", .key = "option_mlock", .unit = "0/1"},
    {"columns", 0, KIND_COLUMNS, .help = "every column of the CSV tables and every key of run.csv, as table,name,unit"},
    {"help", 'h', KIND_HELP, .help = "this text"},
    {"version", 0, KIND_VERSION, .help = "the version and the hash of its sources"},
};

#define RULES (sizeof rules / sizeof rules[0])

struct complaint {
    char *message;
};

static bool complain(const struct complaint *complaint, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Fills the message; always false, so that a caller can return it.
static bool complain(const struct complaint *complaint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(complaint->message, OPTIONS_MESSAGE_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

#define ALLOWED_BYTES 100

static const char *allowed(const struct rule *rule, char text[ALLOWED_BYTES]) {
    char low[SIZE_NAME_BYTES], high[SIZE_NAME_BYTES];
    bool sizes = rule->kind == KIND_SIZE || rule->kind == KIND_SIZES;
    if (rule->allowed != NULL) {
        return rule->allowed;
    }
    (void)snprintf(low, sizeof low, "%" PRIu64, rule->min);
    (void)snprintf(high, sizeof high, "%" PRIu64, rule->max);
    (void)snprintf(text, ALLOWED_BYTES, "%s to %s%s", sizes ? format_size(low, rule->min) : low,
                   sizes ? format_size(high, rule->max) : high, rule->range_unit != NULL ? rule->range_unit : "");
    return text;
}

static bool complain_value(const struct complaint *complaint, const struct rule *rule, const char *value) {
    char range[ALLOWED_BYTES];
    return complain(complaint, "--%s: '%.200s' is not allowed; allowed: %s; try --%s=%s", rule->name, value,
                    allowed(rule, range), rule->name, rule->example);
}

static bool parse_number(const struct rule *rule, const char *text, uint64_t *value) {
    uint64_t number = 0;
    bool good;
    switch (rule->kind) {
    case KIND_SIZE: case KIND_SIZES: good = parse_size(text, &number); break;
    case KIND_DECIMAL: good = parse_decimal(text, &number); number /= rule->divisor; break;
    case KIND_DURATIONS: good = parse_duration(text, &number); break;
    default: good = parse_integer(text, &number); break;
    }
    if (!good || number < rule->min || number > rule->max) {
        return false;
    }
    *value = number;
    return true;
}

static bool parse_list(const struct rule *rule, const char *text, struct number_list *list) {
    list->count = 0;
    for (const char *at = text;; at++) {
        char element[32];
        size_t length = strcspn(at, ",");
        if (length >= sizeof element || list->count == rule->elements) {
            return false;
        }
        memcpy(element, at, length);
        element[length] = '\0';
        if (!parse_number(rule, element, &list->values[list->count])) {
            return false;
        }
        list->count++;
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

static bool parse_choice(const char *choices, const char *text, uint64_t *value) {
    size_t length = strlen(text);
    uint64_t index = 0;
    for (const char *at = choices; *at != '\0'; index++) {
        size_t choice = strcspn(at, " ");
        if (choice == length && memcmp(at, text, length) == 0) {
            *value = index;
            return true;
        }
        at += choice;
        at += *at == ' ';
    }
    return false;
}

static bool parse_cpu_range(const char *text, uint8_t *bits) {
    char part[32];
    (void)snprintf(part, sizeof part, "%s", text);
    char *dash = strchr(part, '-');
    uint64_t first, last;
    if (dash != NULL) {
        *dash = '\0';
    }
    if (!parse_integer(part, &first) || !parse_integer(dash != NULL ? dash + 1 : part, &last) || first > last ||
        last >= OPTIONS_CPUS_MAX) {
        return false;
    }
    for (uint64_t cpu = first; cpu <= last; cpu++) {
        bits[cpu / 8] |= (uint8_t)(1u << cpu % 8);
    }
    return true;
}

bool parse_cpu_list(const char *text, uint8_t bits[OPTIONS_CPUS_MAX / 8]) {
    memset(bits, 0, OPTIONS_CPUS_MAX / 8);
    for (const char *at = text;; at++) {
        char part[32];
        size_t length = strcspn(at, ",");
        if (length >= sizeof part) {
            return false;
        }
        memcpy(part, at, length);
        part[length] = '\0';
        if (!parse_cpu_range(part, bits)) {
            return false;
        }
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

bool cpu_in_list(const struct options *options, unsigned cpu) {
    return cpu < OPTIONS_CPUS_MAX && (options->cpus[cpu / 8] >> cpu % 8 & 1) != 0;
}

static size_t elements(const char *list) {
    size_t count = 1;
    for (const char *at = list; *at != '\0'; at++) {
        count += *at == ',';
    }
    return count;
}

static bool apply_rule(struct options *options, const struct rule *rule, const char *value,
                       const struct complaint *complaint) {
    void *field = (char *)options + rule->field;
    bool good = true;
    switch (rule->kind) {
    case KIND_FLAG:
        *(bool *)field = true;
        break;
    case KIND_TEXT:
        good = value[0] != '\0';
        *(const char **)field = value;
        break;
    case KIND_CPUS:
        good = parse_cpu_list(value, options->cpus);
        *(const char **)field = value;
        break;
    case KIND_SIZES: case KIND_INTEGERS: case KIND_DURATIONS:
        good = parse_list(rule, value, field);
        break;
    case KIND_CHOICE:
        good = parse_choice(rule->allowed, value, field);
        break;
    default:
        good = parse_number(rule, value, field);
        break;
    }
    if (!good && rule->elements > 0 && elements(value) > rule->elements) {
        char range[ALLOWED_BYTES];
        return complain(complaint, "--%s: a list of %zu is not allowed; allowed: up to %zu elements, %s; try --%s=%s", rule->name,
                        elements(value), rule->elements, allowed(rule, range), rule->name, rule->example);
    }
    if (!good) {
        return complain_value(complaint, rule, value);
    }
    options->seed_given |= field == &options->seed;
    options->reserve_given |= field == &options->reserve_bytes;
    return true;
}

static const struct rule *rule_named(const char *name) {
    for (size_t i = 0; i < RULES; i++) {
        if (strcmp(rules[i].name, name) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

static uint64_t list_max(const struct number_list *list) {
    uint64_t max = 0;
    for (size_t i = 0; i < list->count; i++) {
        max = list->values[i] > max ? list->values[i] : max;
    }
    return max;
}

// What the options must agree on.
static bool check_together(struct options *options, const struct complaint *complaint) {
    options->queue_managers = list_max(&options->load_points);
    size_t directories = elements(options->dir);
    if (options->block_sizes.count == 0) {
        return complain(complaint, "missing required option --bsize, for example --bsize=4K,16K,64K");
    }
    if (options->file_bytes % 4096 != 0) {
        return complain(complaint, "--fileSize: %" PRIu64 " is not allowed; allowed: a multiple of 4096, MQ's log page; "
                        "try --fileSize=%" PRIu64, options->file_bytes, (options->file_bytes / 4096 + 1) * 4096);
    }
    if (list_max(&options->block_sizes) > options->file_bytes) {
        return complain(complaint, "--bsize: a block of %" PRIu64 " bytes does not fit into a file of --fileSize=%" PRIu64
                        " bytes; allowed: at most the file size; try --fileSize=64M",
                        list_max(&options->block_sizes), options->file_bytes);
    }
    if (directories > 1 && directories != options->queue_managers) {
        return complain(complaint, "--dir names %zu directories, but --qm has %" PRIu64 " queue managers; allowed: one "
                        "directory, or one for each; try --qm=%zu", directories, options->queue_managers, directories);
    }
    for (const char *at = options->dir; *at != '\0'; at++) {
        if ((*at == ',' && (at == options->dir || at[1] == ',' || at[1] == '\0'))) {
            return complain_value(complaint, rule_named("dir"), options->dir);
        }
    }
    for (uint32_t number = 1; number <= options->queue_managers; number++) {
        char path[PATH_MAX];
        if (!options_directory(options, number, path, sizeof path)) {
            return complain(complaint, "--dir: the path of queue manager %" PRIu32 " is too long; allowed: up to %d bytes; "
                            "try --dir=/mnt/log/test", number, PATH_MAX - 1);
        }
    }
    if (strlen(options->file_prefix) > 200 || strchr(options->file_prefix, '/') != NULL) {
        return complain_value(complaint, rule_named("filePrefix"), options->file_prefix);
    }
    if (strlen(options->run_id) > OPTIONS_RUN_ID_MAX ||
        options->run_id[strspn(options->run_id, OPTIONS_RUN_ID_LETTERS)] != '\0') {
        return complain_value(complaint, rule_named("runId"), options->run_id);
    }
    uint64_t alignment = options->alignment_bytes;
    if (alignment != 0 && (alignment < 512 || (alignment & (alignment - 1)) != 0)) {
        char text[24];
        (void)snprintf(text, sizeof text, "%" PRIu64, alignment);
        return complain_value(complaint, rule_named("alignment"), text);
    }
    if (options->rate_micro_per_s != 0 && options->delay_us != 0) {
        return complain(complaint, "--rate and --delay exclude each other: an open loop has no think time; leave one out");
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

// Sorts --over, and adds what is always in it: 1, 2 and 5 in every decade from 100 us to 5 s.
static void complete_over(struct number_list *over) {
    static const unsigned steps[] = {1, 2, 5};
    size_t asked = over->count;
    over->count = 0;
    for (size_t i = 0; i < asked; i++) {
        insert_once(over, over->values[i]);     // never behind what is still to be read
    }
    for (uint64_t decade_ns = 100000; decade_ns <= 1000000000; decade_ns *= 10) {
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            insert_once(over, steps[i] * decade_ns);
        }
    }
}

static void set_defaults(struct options *options) {
    memset(options, 0, sizeof *options);
    options->run_id = "";
    for (size_t i = 0; i < RULES; i++) {
        if (rules[i].initial != NULL) {
            (void)apply_rule(options, &rules[i], rules[i].initial, NULL);
        }
    }
}

// The option of that name, of which it is the only abbreviation, or the only one among mqldt's options, which are those
// with a letter; NULL: none.
static const struct rule *find_long(const char *name, size_t length) {
    const struct rule *any = NULL, *mqldt = NULL;
    size_t count = 0, mqldt_count = 0;
    for (size_t i = 0; i < RULES; i++) {
        if (strncmp(rules[i].name, name, length) == 0) {
            if (rules[i].name[length] == '\0') {
                return &rules[i];
            }
            any = &rules[i];
            mqldt = rules[i].letter != 0 ? &rules[i] : mqldt;
            count++;
            mqldt_count += rules[i].letter != 0;
        }
    }
    return count == 1 ? any : mqldt_count == 1 ? mqldt : NULL;
}

struct words {
    struct options *options;
    int argc, next;
    char **argv;
    struct complaint complaint;
};

// value: what was attached to the option; NULL: nothing, so that it is the next argument.
static enum options_outcome apply(struct words *words, const struct rule *rule, const char *value, const char *shown) {
    if (rule->argument != NULL && value == NULL && words->next < words->argc) {
        value = words->argv[words->next++];
    }
    if ((rule->argument != NULL) != (value != NULL)) {
        (void)complain(&words->complaint, "'%.200s' %s; try logdisk --help", shown,
                       value == NULL ? "wants a value" : "takes no value");
        return OPTIONS_WRONG;
    }
    switch (rule->kind) {
    case KIND_HELP: return OPTIONS_HELP;
    case KIND_VERSION: return OPTIONS_VERSION;
    case KIND_COLUMNS: return OPTIONS_COLUMNS;
    default: return apply_rule(words->options, rule, value, &words->complaint) ? OPTIONS_RUN : OPTIONS_WRONG;
    }
}

static enum options_outcome apply_letters(struct words *words, const char *letters) {
    enum options_outcome outcome = OPTIONS_RUN;
    for (; *letters != '\0' && outcome == OPTIONS_RUN; letters++) {
        const struct rule *rule = NULL;
        char shown[8];
        bool printed = *letters > ' ' && *letters < 127;
        (void)snprintf(shown, sizeof shown, printed ? "-%c" : "-\\x%02x", (unsigned)*letters & 0xff);
        for (size_t i = 0; i < RULES; i++) {
            rule = rules[i].letter == *letters ? &rules[i] : rule;
        }
        if (rule == NULL) {
            (void)complain(&words->complaint, "'%s' is unknown; try logdisk --help", shown);
            return OPTIONS_WRONG;
        }
        if (rule->argument != NULL) {
            return apply(words, rule, letters[1] != '\0' ? letters + 1 : NULL, shown);
        }
        outcome = apply(words, rule, NULL, shown);
    }
    return outcome;
}

static enum options_outcome apply_word(struct words *words, const char *word) {
    size_t length = strcspn(word, "=");
    if (word[0] != '-' || word[1] == '\0') {
        (void)complain(&words->complaint, "'%.200s' is not an option; values follow their option, as --bsize=4K; try "
                       "logdisk --help", word);
        return OPTIONS_WRONG;
    }
    if (word[1] != '-') {
        return apply_letters(words, word + 1);
    }
    const struct rule *rule = find_long(word + 2, length - 2);
    if (rule == NULL) {
        (void)complain(&words->complaint, "'%.200s' is unknown or ambiguous; try logdisk --help", word);
        return OPTIONS_WRONG;
    }
    return apply(words, rule, word[length] == '=' ? word + length + 1 : NULL, word);
}

enum options_outcome options_parse(struct options *options, int argc, char **argv,
                                   char message[OPTIONS_MESSAGE_BYTES]) {
    struct words words = {.options = options, .argc = argc, .next = 1, .argv = argv, .complaint = {message}};
    enum options_outcome outcome = OPTIONS_RUN;
    set_defaults(options);
    message[0] = '\0';
    while (words.next < argc && outcome == OPTIONS_RUN) {
        outcome = apply_word(&words, argv[words.next++]);
    }
    complete_over(&options->over);
    return outcome != OPTIONS_RUN || check_together(options, &words.complaint) ? outcome : OPTIONS_WRONG;
}

void options_help(FILE *out) {
    (void)fprintf(out, "Usage: logdisk --bsize=SIZE[,SIZE...] [--dir=DIR] [option...]\n\n"
                  "Measures what a disk takes to write IBM MQ's recovery log: O_DIRECT|O_DSYNC, one write at a time,\n"
                  "sequential over a ring of preformatted files. Defaults are in parentheses.\n\n");
    for (size_t i = 0; i < RULES; i++) {
        char left[64];
        char letter[8] = "    ";
        if (rules[i].letter != 0) {
            (void)snprintf(letter, sizeof letter, "-%c, ", rules[i].letter);
        }
        (void)snprintf(left, sizeof left, "%s--%s%s%s", letter, rules[i].name, rules[i].argument != NULL ? "=" : "",
                       rules[i].argument != NULL ? rules[i].argument : "");
        const char *initial = rules[i].initial;
        (void)fprintf(out, "  %-34s %s%s%s%s\n", left, rules[i].help, initial != NULL ? " (" : "",
                      initial != NULL ? initial : "", initial != NULL ? ")" : "");
    }
    (void)fprintf(out, "\nExit status: 0 measured; 1 usage; 2 refused or could not set up; 3 an I/O error, short write or\n"
                  "corrupt block; 4 interrupted or past the deadline. See logdisk(1).\n");
}

static void put_choice(const char *choices, uint64_t index, struct text *text) {
    for (; index > 0; index--) {
        choices = strchr(choices, ' ') + 1;
    }
    text_add(text, choices, strcspn(choices, " "));
}

size_t options_count(void) {
    return RULES;
}

const char *option_key(size_t number) {
    return rules[number].key;
}

const char *option_unit(size_t number) {
    return rules[number].unit;
}

void option_value(const struct options *options, size_t number, struct text *text) {
    const struct rule *rule = &rules[number];
    const void *field = (const char *)options + rule->field;
    uint64_t value = rule->kind >= KIND_INTEGER && rule->kind <= KIND_CHOICE ? *(const uint64_t *)field : 0;
    switch (rule->kind) {
    case KIND_TEXT: case KIND_CPUS: {
        const char *string = *(const char *const *)field;
        text_printf(text, "%s", string != NULL ? string : "");
        break;
    }
    case KIND_FLAG: text_printf(text, "%d", *(const bool *)field); break;
    case KIND_CHOICE: put_choice(rule->allowed, value, text); break;
    case KIND_DECIMAL:
        if (value > 0) {
            uint64_t one = 1000000000 / rule->divisor;
            text_printf(text, "%" PRIu64 ".%0*" PRIu64, value / one, rule->divisor == 1 ? 9 : 6, value % one);
        }
        break;
    case KIND_SIZES: case KIND_INTEGERS: case KIND_DURATIONS: {
        const struct number_list *list = field;
        for (size_t i = 0; i < list->count; i++) {
            text_printf(text, "%s%" PRIu64, i > 0 ? " " : "", list->values[i]);
        }
        break;
    }
    default: text_printf(text, "%" PRIu64, value); break;
    }
}

const char *sync_name(uint64_t sync) {
    static const char *const names[] = {"dsync", "sync", "fdatasync", "fsync", "none"};
    return sync < sizeof names / sizeof names[0] ? names[sync] : "";
}

bool options_directory_list(const struct options *options) {
    return strchr(options->dir, ',') != NULL;
}

bool options_directory(const struct options *options, uint32_t number, char *path, size_t path_bytes) {
    int length;
    if (options_directory_list(options)) {
        const char *at = options->dir;
        for (uint32_t i = 1; i < number; i++) {
            at = strchr(at, ',') + 1;
        }
        length = snprintf(path, path_bytes, "%.*s", (int)strcspn(at, ","), at);
    } else if (options->queue_managers == 1) {
        length = snprintf(path, path_bytes, "%s", options->dir);
    } else {
        length = snprintf(path, path_bytes, "%s%" PRIu32, options->dir, number);
    }
    return length > 0 && (size_t)length < path_bytes;
}
