// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/stream_grammar.h"

#include "base/units.h"

#define VALUE_BYTES 512
#define PERCENT_PPM 10000
#define BILLION UINT64_C(1000000000)
#define SIZE_MIN_BYTES 512
#define SIZE_MAX_BYTES (UINT64_C(64) << 20)
#define PAUSE_MAX_US 60000000
#define NAME_LETTERS OPTIONS_RUN_ID_LETTERS
#define DEVICES_DIRECTORY "/dev/disk/by-id/"

#define FOR(kind) (1u << (kind))
#define FOR_OPEN (FOR(ARRIVAL_EVEN) | FOR(ARRIVAL_EXPONENTIAL))

struct key {
    const char *name;
    bool (*take)(const char *value, void *terms);
    const char *allowed, *example;
    bool required;
    unsigned patterns, arrivals;        // the patterns and arrivals that have the key; 0: all
};

// The option that is being read.
struct reading {
    const char *option, *name;          // for messages; the name may not have been read yet
    int name_length;
    const struct key *keys;
    size_t keys_count;
    unsigned seen;                      // a bit for each key
    struct failure *failure;
};

#define refuse(reading, format, ...)                                                                                   \
    failure_set((reading)->failure, EXIT_USAGE, "%s %.*s: " format, (reading)->option, (reading)->name_length,         \
                (reading)->name, __VA_ARGS__)

// Values.

static bool take_name(const char *value, char name[WORKLOAD_NAME_BYTES]) {
    bool good = value[0] != '\0' && strlen(value) < WORKLOAD_NAME_BYTES && value[strspn(value, NAME_LETTERS)] == '\0';
    if (good && strcmp(value, "all") != 0) {
        (void)snprintf(name, WORKLOAD_NAME_BYTES, "%s", value);
        return true;
    }
    return false;
}

static bool take_choice(const char *value, const char *const *names, uint64_t *choice) {
    for (*choice = 0; names[*choice] != NULL; (*choice)++) {
        if (strcmp(names[*choice], value) == 0) {
            return true;
        }
    }
    return false;
}

// "12.5%", at most 100 %, in millionths.
static bool take_percent(const char *value, uint32_t *ppm) {
    char number[32];
    uint64_t billionths;
    size_t length = strlen(value);
    if (length < 2 || length > sizeof number || value[length - 1] != '%') {
        return false;
    }
    (void)snprintf(number, sizeof number, "%.*s", (int)(length - 1), value);
    if (!parse_decimal(number, &billionths) || billionths > 100 * BILLION) {
        return false;
    }
    *ppm = (uint32_t)(billionths * PERCENT_PPM / BILLION);
    return true;
}

// "5", "5*load" or, if allowed, just "load". Shortens the text to the number.
static bool cut_load(char text[32], const char *value, bool *scales) {
    int length = snprintf(text, 32, "%s", value);
    if (length < 0 || length >= 32) {
        return false;
    }
    char *star = strstr(text, "*load");
    *scales = star != NULL && star[5] == '\0';
    if (*scales) {
        *star = '\0';
    }
    return true;
}

static bool take_workers(const char *value, void *terms) {
    struct stream *stream = terms;
    char text[32];
    uint64_t workers = 1;
    if (strcmp(value, "load") == 0) {
        stream->scales = true;
    } else if (!cut_load(text, value, &stream->scales) || !parse_integer(text, &workers)) {
        return false;
    }
    stream->workers = (uint32_t)workers;
    return workers >= 1 && workers <= STREAM_WORKERS_MAX;
}

static bool take_rate(const char *value, void *terms) {
    struct stream_terms *of = &((struct stream *)terms)->terms;
    char text[32];
    uint64_t billionths;
    bool good = cut_load(text, value, &of->rate_scales) && parse_decimal(text, &billionths) &&
                billionths <= STREAM_RATE_MAX_PER_S * BILLION;
    of->rate_micro_per_s = good ? billionths / 1000 : 0;
    return of->rate_micro_per_s >= 1000;
}

static bool take_stream_name(const char *value, void *stream) {
    return take_name(value, ((struct stream *)stream)->terms.name);
}

static bool take_stream_place(const char *value, void *stream) {
    return take_name(value, ((struct stream *)stream)->terms.place);
}

static bool take_pattern(const char *value, void *stream) {
    uint64_t kind;
    bool good = take_choice(value, pattern_names, &kind);
    ((struct stream *)stream)->pattern = (enum pattern_kind)kind;
    return good;
}

static bool take_size_value(const char *text, uint64_t *bytes) {
    return parse_size(text, bytes) && *bytes >= SIZE_MIN_BYTES && *bytes <= SIZE_MAX_BYTES;
}

// Takes one element of a mix, such as "4K:40", and adds its share to upto_ppm, the sum of the shares before it.
static bool take_share(char *text, struct stream_terms *of, uint32_t *upto_ppm) {
    char *colon = strchr(text, ':'), percent[40];
    uint32_t ppm = 0;
    if (colon == NULL || of->sizes_count == STREAM_SIZES_MAX) {
        return false;
    }
    *colon = '\0';
    (void)snprintf(percent, sizeof percent, "%.32s%%", colon + 1);
    if (!take_size_value(text, &of->sizes[of->sizes_count]) || !take_percent(percent, &ppm) || ppm == 0 ||
        ppm > SHARE_PPM - *upto_ppm) {
        return false;
    }
    *upto_ppm += ppm;
    of->upto_ppm[of->sizes_count++] = *upto_ppm;
    return true;
}

// "8K", or a mix "4K:60+8K:40".
static bool take_size(const char *value, void *stream) {
    struct stream_terms *of = &((struct stream *)stream)->terms;
    uint32_t upto_ppm = 0;
    if (take_size_value(value, &of->sizes[0])) {
        of->sizes_count = 1;
        of->upto_ppm[0] = SHARE_PPM;
        return true;
    }
    for (;;) {
        char element[64];
        size_t length = strcspn(value, "+");
        (void)snprintf(element, sizeof element, "%.*s", (int)length, value);
        if (length >= sizeof element || !take_share(element, of, &upto_ppm)) {
            return false;
        }
        if (value[length] == '\0') {
            return upto_ppm == SHARE_PPM;
        }
        value += length + 1;
    }
}

static bool take_read(const char *value, void *stream) {
    return take_percent(value, &((struct stream *)stream)->read_ppm);
}

static bool take_sync(const char *value, void *stream) {
    uint64_t sync;
    bool good = take_choice(value, sync_names, &sync);
    ((struct stream *)stream)->sync = (enum sync_mode)sync;
    return good;
}

static bool take_arrival(const char *value, void *stream) {
    uint64_t process;
    bool good = take_choice(value, arrival_names, &process);
    ((struct stream *)stream)->terms.process = (enum arrival_process)process;
    return good;
}

static bool take_pause(const char *value, void *stream) {
    uint64_t us;
    bool good = parse_integer(value, &us) && us <= PAUSE_MAX_US;
    ((struct stream *)stream)->arrival.pause_ns = good ? us * 1000 : 0;
    return good;
}

// "15%", or "20%-60%".
static bool take_start(const char *value, void *stream) {
    struct pattern_terms *of = &((struct stream *)stream)->terms.pattern;
    char from[32];
    const char *dash = strchr(value, '-');
    if (dash == NULL) {
        bool good = take_percent(value, &of->start_from_ppm);
        of->start_to_ppm = of->start_from_ppm;
        return good;
    }
    (void)snprintf(from, sizeof from, "%.*s", dash - value < 32 ? (int)(dash - value) : 31, value);
    return take_percent(from, &of->start_from_ppm) && take_percent(dash + 1, &of->start_to_ppm) &&
           of->start_from_ppm <= of->start_to_ppm;
}

static bool take_extent(const char *value, void *stream) {
    uint32_t *ppm = &((struct stream *)stream)->terms.pattern.extent_ppm;
    return take_percent(value, ppm) && *ppm > 0;
}

static bool take_align(const char *value, void *stream) {
    return take_size_value(value, &((struct stream *)stream)->terms.pattern.align_bytes);
}

static bool take_place_name(const char *value, void *place) {
    return take_name(value, ((struct place_terms *)place)->name);
}

bool grammar_directories(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '+' && (i == 0 || i == length - 1 || text[i - 1] == '+')) {
            return false;
        }
    }
    return length > 0;
}

// Keeps the text itself; see read_keys.
static bool take_directories(const char *value, void *place) {
    (void)place;
    return grammar_directories(value, strlen(value));
}

size_t grammar_device_length(const char *text) {
    const char *end = strstr(text, "+/");
    return end != NULL ? (size_t)(end - text) : strlen(text);
}

// Checks that the path is an entry of DEVICES_DIRECTORY, because only such names always refer to the same device.
static bool is_device_name(const char *path, size_t length) {
    size_t directory = strlen(DEVICES_DIRECTORY);
    const char *name = path + directory;
    if (length <= directory || strncmp(path, DEVICES_DIRECTORY, directory) != 0) {
        return false;
    }
    length -= directory;
    return memchr(name, '/', length) == NULL && strncmp(name, "..", length) != 0;
}

static bool take_device(const char *value, void *place) {
    (void)snprintf(((struct place_terms *)place)->device, PLACE_DEVICE_BYTES, "%s", value);
    bool good = strlen(value) < PLACE_DEVICE_BYTES;
    for (const char *at = value; good; at++) {
        size_t length = grammar_device_length(at);
        good = is_device_name(at, length);
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    return good;
}

static bool take_place_share(const char *value, void *place) {
    uint32_t *ppm = &((struct place_terms *)place)->share_ppm;
    return take_percent(value, ppm) && *ppm > 0;
}

static bool take_direct(const char *value, void *place) {
    static const char *const no_yes[] = {"no", "yes", NULL};
    return take_choice(value, no_yes, &((struct place_terms *)place)->direct);
}

#define NAME_ALLOWED "up to 32 letters, digits, '.', '_' and '-', but not 'all'"
#define PERCENT_ALLOWED "a percentage above 0 and up to 100%"

static const struct key place_keys[] = {
    {"name", take_place_name, .allowed = NAME_ALLOWED, .example = "data", .required = true},
    {"dir", take_directories, .allowed = "one directory, or several such as /a+/b", .example = "/mnt/data/test"},
    {"device", take_device, .allowed = "a name directly below " DEVICES_DIRECTORY ", or several with + between them",
     .example = DEVICES_DIRECTORY "nvme-MODEL_SERIAL"},
    {"share", take_place_share, .allowed = PERCENT_ALLOWED, .example = "45%"},
    {"direct", take_direct, .allowed = "no yes", .example = "yes"},
};

static const struct key stream_keys[] = {
    {"name", take_stream_name, .allowed = NAME_ALLOWED, .example = "db", .required = true},
    {"place", take_stream_place, .allowed = NAME_ALLOWED, .example = "data"},
    {"pattern", take_pattern, .allowed = "ring random walk runs", .example = "random", .required = true},
    {"size", take_size,
     .allowed = "a size from 512 to 64M, or up to 16 of them with shares that add up to 100, such as 4K:60+8K:40",
     .example = "8K", .required = true},
    {"read", take_read, .allowed = "a percentage from 0% to 100%", .example = "70%"},
    {"sync", take_sync, .allowed = "dsync sync fdatasync fsync none", .example = "dsync"},
    {"workers", take_workers, .allowed = "1 to 4096, load, or a number and *load, such as 2*load", .example = "8"},
    {"arrival", take_arrival, .allowed = "closed even exponential", .example = "closed"},
    {"pause", take_pause, .allowed = "0 to 60000000 microseconds", .example = "1000", .arrivals = FOR(ARRIVAL_CLOSED)},
    {"rate", take_rate, .allowed = "0.001 to 1000000 operations per second, or that and *load, such as 1.75*load",
     .example = "500", .required = true, .arrivals = FOR_OPEN},
    {"start", take_start, .allowed = "a percentage of the place, for runs also a range such as 20%-60%",
     .example = "15%", .required = true, .patterns = FOR(PATTERN_WALK) | FOR(PATTERN_RUNS)},
    {"align", take_align, .allowed = "a size from 512 to 64M", .example = "8K", .patterns = FOR(PATTERN_RANDOM)},
    {"run", take_extent, .allowed = PERCENT_ALLOWED, .example = "10%", .required = true, .patterns = FOR(PATTERN_RUNS)},
    {"width", take_extent, .allowed = PERCENT_ALLOWED, .example = "5%", .required = true,
     .patterns = FOR(PATTERN_WALK)},
};

// Reading.

static struct reading start_reading(const char *option, const char *text, const struct key *keys, size_t count,
                                    struct failure *failure) {
    const char *name = strncmp(text, "name=", 5) == 0 ? text : strstr(text, ",name=");
    struct reading reading = {.option = option, .keys = keys, .keys_count = count, .failure = failure};
    reading.name = name == NULL ? text : strchr(name, '=') + 1;
    size_t length = strcspn(reading.name, ",");
    reading.name_length = length < WORKLOAD_NAME_BYTES ? (int)length : WORKLOAD_NAME_BYTES - 1;
    return reading;
}

static const char *names_of_keys(const struct reading *reading, char text[200]) {
    size_t length = 0;
    for (size_t i = 0; i < reading->keys_count && length < 200; i++) {
        length += (size_t)snprintf(text + length, 200 - length, "%s%s", i > 0 ? " " : "", reading->keys[i].name);
    }
    return text;
}

static const struct key *find_key(const struct reading *reading, const char *text, size_t length) {
    for (size_t i = 0; i < reading->keys_count; i++) {
        if (strlen(reading->keys[i].name) == length && strncmp(reading->keys[i].name, text, length) == 0) {
            return &reading->keys[i];
        }
    }
    return NULL;
}

// Reads one KEY=VALUE.
static bool read_key(struct reading *reading, const char *text, size_t length, void *terms) {
    char value[VALUE_BYTES], names[200];
    size_t name_length = strcspn(text, "=,");
    const struct key *key = name_length < length ? find_key(reading, text, name_length) : NULL;
    if (key == NULL) {
        return refuse(reading, "'%.*s' is not a known key and its value; allowed: %s; see logdisk(1)",
                      length < 100 ? (int)length : 100, text, names_of_keys(reading, names));
    }
    unsigned bit = 1u << (key - reading->keys);
    if ((reading->seen & bit) != 0) {
        return refuse(reading, "%s is given twice; leave one out", key->name);
    }
    reading->seen |= bit;
    const char *start = text + name_length + 1;
    size_t value_length = length - name_length - 1;
    (void)snprintf(value, sizeof value, "%.*s", (int)(value_length < VALUE_BYTES ? value_length : VALUE_BYTES), start);
    if (value_length >= VALUE_BYTES || !key->take(value, terms)) {
        return refuse(reading, "%s: '%.100s' is not allowed; allowed: %s; try %s=%s", key->name, value, key->allowed,
                      key->name, key->example);
    }
    return true;
}

static bool read_keys(struct reading *reading, const char *text, void *terms) {
    for (;; text++) {
        size_t length = strcspn(text, ",");
        if (!read_key(reading, text, length, terms)) {
            return false;
        }
        text += length;
        if (*text == '\0') {
            return true;
        }
    }
}

// Returns whether the pattern and the arrivals of the stream allow all keys that were given.
static bool check_keys(struct reading *reading, enum pattern_kind pattern, enum arrival_process process) {
    for (size_t i = 0; i < reading->keys_count; i++) {
        const struct key *key = &reading->keys[i];
        bool of_pattern = key->patterns == 0 || (key->patterns & FOR(pattern)) != 0;
        bool of_arrivals = key->arrivals == 0 || (key->arrivals & FOR(process)) != 0;
        bool given = (reading->seen & 1u << i) != 0;
        if (given && !of_pattern) {
            return refuse(reading, "%s is not for pattern=%s; leave it out", key->name, pattern_names[pattern]);
        }
        if (given && !of_arrivals) {
            return refuse(reading, "%s is not for arrival=%s; leave it out", key->name, arrival_names[process]);
        }
        if (!given && key->required && of_pattern && of_arrivals) {
            return refuse(reading, "missing key %s, for example %s=%s", key->name, key->name, key->example);
        }
    }
    return true;
}

bool grammar_place(const char *text, struct place_terms *terms, struct failure *failure) {
    struct reading reading =
        start_reading("--place", text, place_keys, sizeof place_keys / sizeof place_keys[0], failure);
    *terms = (struct place_terms){.direct = UINT64_MAX};
    if (!read_keys(&reading, text, terms) || !check_keys(&reading, PATTERN_RING, ARRIVAL_CLOSED)) {
        return false;
    }
    const char *directories = strncmp(text, "dir=", 4) == 0 ? text : strstr(text, ",dir=");
    if (directories != NULL) {
        terms->directories = strchr(directories, '=') + 1;
        terms->directories_length = strcspn(terms->directories, ",");
    }
    return terms->directories == NULL || terms->device[0] == '\0' ||
           refuse(&reading, "%s", "dir and device exclude each other; leave one out");
}

// Determines the smallest and the largest size. Each size must be a multiple of the smallest, so that all operations
// are aligned to it.
static bool check_sizes(struct reading *reading, struct stream *stream) {
    struct stream_terms *of = &stream->terms;
    of->size_min = of->size_max = of->sizes[0];
    for (uint32_t i = 1; i < of->sizes_count; i++) {
        of->size_min = of->sizes[i] < of->size_min ? of->sizes[i] : of->size_min;
        of->size_max = of->sizes[i] > of->size_max ? of->sizes[i] : of->size_max;
    }
    for (uint32_t i = 0; i < of->sizes_count; i++) {
        if (of->sizes[i] % of->size_min != 0) {
            return refuse(
                reading, "size: %" PRIu64 " is not a multiple of the smallest size, %" PRIu64 "; change one of them",
                of->sizes[i], of->size_min);
        }
    }
    if (of->pattern.align_bytes % of->size_max != 0) {
        return refuse(
            reading, "align: %" PRIu64 " is not a multiple of the largest size, %" PRIu64 "; change one of them",
            of->pattern.align_bytes, of->size_max);
    }
    stream->block_bytes = of->sizes_count == 1 ? of->sizes[0] : 0;
    return stream->pattern != PATTERN_WALK || of->sizes_count == 1 ||
           refuse(reading, "%s", "size: a walk has one size; try size=4K");
}

static bool check_extent(struct reading *reading, const struct stream *stream) {
    const struct pattern_terms *of = &stream->terms.pattern;
    if (stream->pattern == PATTERN_WALK && of->start_from_ppm != of->start_to_ppm) {
        return refuse(reading, "%s", "start: a walk has one start, not a range; try start=15%");
    }
    return of->start_to_ppm + of->extent_ppm <= SHARE_PPM ||
           refuse(reading,
                  "start and %s go beyond the end of the place; allowed: together up to 100%%; try a smaller %s",
                  stream->pattern == PATTERN_WALK ? "width" : "run", stream->pattern == PATTERN_WALK ? "width" : "run");
}

bool grammar_stream(const char *text, enum sync_mode sync, struct stream *stream, struct failure *failure) {
    struct reading reading =
        start_reading("--stream", text, stream_keys, sizeof stream_keys / sizeof stream_keys[0], failure);
    *stream = (struct stream){.sync = sync, .workers = 1, .shares_place = true};
    stream->name = stream->terms.name;
    return read_keys(&reading, text, stream) && check_keys(&reading, stream->pattern, stream->terms.process) &&
           check_sizes(&reading, stream) && check_extent(&reading, stream);
}
