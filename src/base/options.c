// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/options.h"

#include "base/units.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

enum kind { KIND_TEXT, KIND_FLAG, KIND_INTEGER, KIND_SIZE, KIND_DECIMAL, KIND_SIZES, KIND_INTEGERS, KIND_CHOICE,
            KIND_CPUS, KIND_HELP, KIND_VERSION };

struct rule {
    const char *name;
    char letter;                // 0: none
    enum kind kind;
    size_t field;               // offset in struct options
    uint64_t min, max;          // in the field's own unit
    uint64_t unit;              // KIND_DECIMAL: billionths in one of the field's units
    const char *allowed;        // the range or the choices, for people
    const char *try;            // an example that works
    const char *argument, *help;
};

#define FIELD(name) offsetof(struct options, name)
#define YEAR_2100_NS (UINT64_C(4102444800) * 1000000000)

static const struct rule rules[] = {
    {"dir", 'd', KIND_TEXT, FIELD(dir), 0, 0, 0, "a directory, or a comma list of one for each queue manager",
     "--dir=/mnt/log/test", "DIR[,DIR...]", "where to write (.); several queue managers: DIR1..DIRn, or the list"},
    {"filePrefix", 'f', KIND_TEXT, FIELD(file_prefix), 0, 0, 0, "a file name without a slash, up to 200 bytes",
     "--filePrefix=mqldt_testfile", "NAME", "test files are NAME.0000, NAME.0001 ... (mqldt_testfile)"},
    {"bsize", 'b', KIND_SIZES, FIELD(block_sizes), 512, 67108864, 0, "sizes from 512 to 64M, as 4096, 4K or 1M",
     "--bsize=4K,16K,64K", "SIZE[,SIZE...]", "block sizes to write, one step each (mandatory)"},
    {"fileSize", 's', KIND_SIZE, FIELD(file_bytes), 4096, UINT64_C(1) << 44, 0, "4096 to 16384G bytes",
     "--fileSize=64M", "SIZE", "size of each test file (1638400)"},
    {"numFiles", 'n', KIND_INTEGER, FIELD(files), 1, 10000, 0, "1 to 10000", "--numFiles=16", "N",
     "test files for each queue manager (8)"},
    {"duration", 't', KIND_INTEGER, FIELD(duration_s), 1, 604800, 0, "1 to 604800 seconds", "--duration=60", "S",
     "seconds to measure in each step (10)"},
    {"qm", 'q', KIND_INTEGERS, FIELD(load_points), 1, OPTIONS_QUEUE_MANAGERS_MAX, 0, "numbers from 1 to 1000",
     "--qm=1,2,4", "N[,N...]", "queue managers writing at once; each load point is run for every block size (1)"},
    {"delay", 'z', KIND_INTEGER, FIELD(delay_us), 0, 60000000, 0, "0 to 60000000 microseconds", "--delay=100", "US",
     "think time after each write, outside the timed interval (0)"},
    {"csvFile", 'c', KIND_TEXT, FIELD(csv_file), 0, 0, 0, "a file name", "--csvFile=result.csv", "FILE",
     "mqldt's table, written in place: replaced for one queue manager, appended to for several"},
    {"alignment", 'a', KIND_INTEGER, FIELD(alignment_bytes), 0, 1048576, 0, "0, or a power of two from 512 to 1048576",
     "--alignment=4096", "BYTES", "of the memory written from; 0 is the file system's preferred block (4096)"},
    {"backgroundThreads", 'p', KIND_INTEGER, FIELD(background_threads), 0, 100, 0, "0 to 100",
     "--backgroundThreads=2", "N", "threads that keep processors busy all the while (0)"},
    {"createDirs", 0, KIND_FLAG, FIELD(create_dirs), 0, 0, 0, "", "", "",
     "make directories that do not exist, and remove them again"},
    {"keepFiles", 0, KIND_FLAG, FIELD(keep_files), 0, 0, 0, "", "", "",
     "leave the test files (else they have no name from the first moment on)"},
    {"tables", 0, KIND_TEXT, FIELD(tables_dir), 0, 0, 0, "a directory", "--tables=./result", "DIR",
     "write the full result as CSV tables; run.csv comes last and says that all are complete"},
    {"progress", 0, KIND_TEXT, FIELD(progress_file), 0, 0, 0, "a file name", "--progress=./progress", "FILE",
     "one line, replaced once a second"},
    {"warmup", 0, KIND_INTEGER, FIELD(warmup_s), 0, 86400, 0, "0 to 86400 seconds", "--warmup=5", "S",
     "write that long before each step's measured time (0)"},
    {"sync", 0, KIND_CHOICE, FIELD(sync), 0, 0, 0, "dsync sync fdatasync fsync none", "--sync=dsync", "MODE",
     "dsync (as MQ), sync, fdatasync, fsync (timed apart as well) or none (dsync)"},
    {"direct", 0, KIND_CHOICE, FIELD(direct), 0, 0, 0, "no yes", "--direct=yes", "yes|no", "O_DIRECT (yes, as MQ)"},
    {"rate", 0, KIND_DECIMAL, FIELD(rate_micro_per_s), 1000, UINT64_C(1000000000000), 1000,
     "0.001 to 1000000 writes a second", "--rate=500", "WRITES_PER_S",
     "open loop for each queue manager: response_* counts from the intended start"},
    {"startAt", 0, KIND_DECIMAL, FIELD(start_at_ns), 1, YEAR_2100_NS, 1, "seconds since the epoch, up to nine decimals",
     "--startAt=1790000000.5", "EPOCH", "start the first step at that instant; later steps keep to their plan"},
    {"deadline", 0, KIND_INTEGER, FIELD(deadline_s), 1, 31536000, 0, "1 to 31536000 seconds", "--deadline=600", "S",
     "report what there is and end, that long after the start (twice the planned time + 60)"},
    {"reserve", 0, KIND_SIZE, FIELD(reserve_bytes), 0, UINT64_C(1) << 44, 0, "0 to 16384G bytes", "--reserve=1G", "SIZE",
     "must stay free beside the test files (1 % of the file system, 16M to 1G)"},
    {"seed", 0, KIND_INTEGER, FIELD(seed), 0, UINT64_MAX, 0, "0 to 18446744073709551615", "--seed=1", "N",
     "of the data written (random)"},
    {"verify", 0, KIND_FLAG, FIELD(verify), 0, 0, 0, "", "", "", "read everything back after each step and compare"},
    {"cpu", 0, KIND_CPUS, FIELD(cpu_list), 0, 0, 0, "processors, as 0-3,8", "--cpu=0-3", "LIST",
     "pin the writers to these processors, in turn"},
    {"runId", 0, KIND_TEXT, FIELD(run_id), 0, 0, 0, "up to 64 letters, digits, '.', '_' and '-'", "--runId=2026-11-21",
     "ID", "testers of one run may share a disk (none: of no run)"},
    {"shareDevice", 0, KIND_FLAG, FIELD(share_device), 0, 0, 0, "", "", "",
     "test although a tester of another run is at the disk"},
    {"mlock", 0, KIND_FLAG, FIELD(mlock), 0, 0, 0, "", "", "", "keep all pages of the process in memory"},
    {"help", 'h', KIND_HELP, 0, 0, 0, 0, "", "", "", "this text"},
    {"version", 0, KIND_VERSION, 0, 0, 0, 0, "", "", "", "the version and the hash of its sources"},
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

static bool complain_value(const struct complaint *complaint, const struct rule *rule, const char *value) {
    return complain(complaint, "--%s: '%.200s' is not allowed; allowed: %s; try %s", rule->name, value, rule->allowed,
                    rule->try);
}

static bool parse_number(const struct rule *rule, const char *text, uint64_t *value) {
    uint64_t number = 0;
    bool good;
    switch (rule->kind) {
    case KIND_SIZE: case KIND_SIZES: good = parse_size(text, &number); break;
    case KIND_DECIMAL: good = parse_decimal(text, &number); number /= rule->unit; break;
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
        if (length >= sizeof element || list->count == OPTIONS_LIST_MAX) {
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
    case KIND_SIZES: case KIND_INTEGERS:
        good = parse_list(rule, value, field);
        break;
    case KIND_CHOICE:
        good = parse_choice(rule->allowed, value, field);
        break;
    default:
        good = parse_number(rule, value, field);
        break;
    }
    if (!good && (rule->kind == KIND_SIZES || rule->kind == KIND_INTEGERS) && elements(value) > OPTIONS_LIST_MAX) {
        return complain(complaint, "--%s: a list of %zu is not allowed; allowed: up to %d elements, %s; try %s", rule->name,
                        elements(value), OPTIONS_LIST_MAX, rule->allowed, rule->try);
    }
    if (!good) {
        return complain_value(complaint, rule, value);
    }
    options->seed_given |= rule->field == FIELD(seed);
    options->reserve_given |= rule->field == FIELD(reserve_bytes);
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

// What options have to say to each other.
static bool check_together(struct options *options, const struct complaint *complaint) {
    options->queue_managers = list_max(&options->load_points);
    size_t directories = elements(options->dir);
    if (options->block_sizes.count == 0) {
        return complain(complaint, "--bsize is missing: it has to name the block sizes; try --bsize=4K,16K,64K");
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

static void set_defaults(struct options *options) {
    memset(options, 0, sizeof *options);
    options->dir = ".";
    options->file_prefix = "mqldt_testfile";
    options->run_id = "";
    options->file_bytes = 1638400;
    options->files = 8;
    options->duration_s = 10;
    options->alignment_bytes = 4096;
    options->load_points = (struct number_list){.count = 1, .values = {1}};
    options->direct = 1;
}

static void build_getopt(struct option longs[RULES + 1], char letters[2 * RULES + 2]) {
    char *letter = letters;
    *letter++ = ':';
    for (size_t i = 0; i < RULES; i++) {
        bool bare = rules[i].kind == KIND_FLAG || rules[i].kind == KIND_HELP || rules[i].kind == KIND_VERSION;
        longs[i] = (struct option){rules[i].name, bare ? no_argument : required_argument, NULL, 256 + (int)i};
        if (rules[i].letter != 0) {
            *letter++ = rules[i].letter;
            if (!bare) {
                *letter++ = ':';
            }
        }
    }
    *letter = '\0';
    longs[RULES] = (struct option){NULL, 0, NULL, 0};
}

static const struct rule *rule_of(int found) {
    if (found >= 256 && found < 256 + (int)RULES) {
        return &rules[found - 256];
    }
    for (size_t i = 0; i < RULES; i++) {
        if (rules[i].letter != 0 && rules[i].letter == found) {
            return &rules[i];
        }
    }
    return NULL;
}

// What an abbreviation means that is ambiguous only because of what we added to mqldt's options, which are those with a
// letter; NULL: nothing.
static const struct rule *mqldt_abbreviation(const char *argument) {
    const struct rule *meant = NULL;
    if (argument == NULL || strncmp(argument, "--", 2) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < RULES; i++) {
        if (rules[i].letter != 0 && strncmp(rules[i].name, argument + 2, strcspn(argument + 2, "=")) == 0) {
            if (meant != NULL) {
                return NULL;
            }
            meant = &rules[i];
        }
    }
    return meant;
}

// The value of a long option that getopt gave up on: behind its =, or the next argument, which is then done with.
static char *take_value(int argc, char **argv, char *argument) {
    char *equals = strchr(argument, '=');
    return equals != NULL ? equals + 1 : optind < argc ? argv[optind++] : NULL;
}

// Of a letter getopt tells which it was; it may stand in the middle of an argument that is not behind optind yet.
static void complain_option(const struct complaint *complaint, int found, const char *argument) {
    const char *why = found == ':' ? "wants a value" : "is unknown, ambiguous or takes no value";
    if (optopt > ' ' && optopt < 127) {
        (void)complain(complaint, "'-%c' %s; try logdisk --help", optopt, found == ':' ? why : "is unknown");
    } else if (optopt != 0 && optopt < 256) {
        (void)complain(complaint, "'-\\x%02x' is unknown; try logdisk --help", (unsigned)optopt & 0xff);
    } else {
        (void)complain(complaint, "'%.200s' %s; try logdisk --help", argument != NULL ? argument : "", why);
    }
}

enum options_outcome options_parse(struct options *options, int argc, char **argv,
                                   char message[OPTIONS_MESSAGE_BYTES]) {
    struct complaint complaint = {message};
    struct option longs[RULES + 1];
    char letters[2 * RULES + 2];
    build_getopt(longs, letters);
    set_defaults(options);
    message[0] = '\0';
    optind = 0;
    opterr = 0;
    for (;;) {
        int found = getopt_long(argc, argv, letters, longs, NULL);
        if (found == -1) {
            break;
        }
        const struct rule *rule = rule_of(found);
        char *argument = optind > 0 && optind <= argc ? argv[optind - 1] : NULL;
        if (rule == NULL && found == '?' && optopt == 0 && (rule = mqldt_abbreviation(argument)) != NULL) {
            optarg = take_value(argc, argv, argument);
            found = ':';                // should the value be missing
        }
        if (rule == NULL || (found == ':' && optarg == NULL)) {
            complain_option(&complaint, found, argument);
            return OPTIONS_WRONG;
        }
        if (rule->kind == KIND_HELP) {
            return OPTIONS_HELP;
        }
        if (rule->kind == KIND_VERSION) {
            return OPTIONS_VERSION;
        }
        if (!apply_rule(options, rule, optarg, &complaint)) {
            return OPTIONS_WRONG;
        }
    }
    if (optind < argc) {
        (void)complain(&complaint, "'%.200s' is no option; values follow their option, as --bsize=4K; try logdisk --help",
                       argv[optind]);
        return OPTIONS_WRONG;
    }
    return check_together(options, &complaint) ? OPTIONS_RUN : OPTIONS_WRONG;
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
        (void)snprintf(left, sizeof left, "%s--%s%s%s", letter, rules[i].name, rules[i].argument[0] ? "=" : "",
                       rules[i].argument);
        (void)fprintf(out, "  %-34s %s\n", left, rules[i].help);
    }
    (void)fprintf(out, "\nExit status: 0 measured; 1 usage; 2 refused or could not set up; 3 an I/O error, short write or\n"
                  "corrupt block; 4 interrupted or past the deadline. See logdisk(1).\n");
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
