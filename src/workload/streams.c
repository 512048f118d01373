// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/stream_grammar.h"

#define PAGE_BYTES UINT64_C(4096)

enum operation
stream_draw(const struct stream *stream, struct pattern *pattern, uint64_t *random, uint32_t *size_index) {
    const struct stream_terms *terms = &stream->terms;
    enum operation operation = stream_next(stream, random);
    uint32_t drawn_ppm = terms->sizes_count > 1 ? (uint32_t)(splitmix64(random) % SHARE_PPM) : 0;
    *size_index = 0;
    while (drawn_ppm >= terms->upto_ppm[*size_index]) {
        ++*size_index;
    }
    pattern_draw(pattern, terms->sizes[*size_index], operation == OPERATION_WRITE, random);
    return operation;
}

// Reading the options.

// The values of --place and --stream. Places and streams are made from them.
struct plan {
    const struct options *options;
    struct workload *workload;
    struct place_terms places[OPTIONS_TEXTS_MAX];
    uint32_t places_count;
    uint32_t place_of[WORKLOAD_STREAMS_MAX];    // the place of each stream, as an index
    struct failure *failure;
};

#define refuse(plan, ...) failure_set((plan)->failure, EXIT_USAGE, __VA_ARGS__)

// Without --place there is a single place, `data`, in the directory of --dir.
static bool read_places(struct plan *plan) {
    const struct text_list *texts = &plan->options->places;
    plan->places_count = (uint32_t)texts->count;
    for (uint32_t i = 0; i < plan->places_count; i++) {
        if (!grammar_place(texts->values[i], &plan->places[i], plan->failure)) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(plan->places[i].name, plan->places[j].name) == 0) {
                return refuse(plan, "--place %s: the name is given twice; name each place once", plan->places[i].name);
            }
        }
    }
    if (plan->places_count == 0) {
        plan->places[plan->places_count++] = (struct place_terms){.name = "data", .direct = UINT64_MAX};
    }
    return true;
}

static bool may_erase(const struct plan *plan, const char *device) {
    const struct text_list *allowed = &plan->options->erase_devices;
    size_t i = 0;
    while (i < allowed->count && strcmp(allowed->values[i], device) != 0) {
        i++;
    }
    return i < allowed->count;
}

// Copies the first device of the list that starts at the text, and moves to the next one. Returns false if there is
// none.
static bool take_next_device(const char **at, char device[PLACE_DEVICE_BYTES]) {
    size_t length = grammar_device_length(*at);
    (void)snprintf(device, PLACE_DEVICE_BYTES, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] != '\0');
    return length > 0;
}

// Returns how many times the places name a device.
static uint32_t times_named(const struct plan *plan, const char *device) {
    char each[PLACE_DEVICE_BYTES];
    uint32_t times = 0;
    for (uint32_t i = 0; i < plan->places_count; i++) {
        for (const char *at = plan->places[i].device; take_next_device(&at, each);) {
            times += strcmp(each, device) == 0;
        }
    }
    return times;
}

static bool check_devices_of(struct plan *plan, const struct place_terms *place) {
    char device[PLACE_DEVICE_BYTES];
    for (const char *at = place->device; take_next_device(&at, device);) {
        if (times_named(plan, device) > 1) {
            return refuse(
                plan, "--place %s: %s is named twice in the places; name each device once", place->name, device);
        }
        if (!may_erase(plan, device)) {
            return refuse(plan,
                          "--place %s: a test overwrites %s, and no --eraseDevice permits that; if nothing on it is "
                          "needed, add --eraseDevice=%s",
                          place->name, device, device);
        }
    }
    return true;
}

// A device may be overwritten only if it was named twice, with the same path.
static bool check_devices(struct plan *plan) {
    const struct text_list *allowed = &plan->options->erase_devices;
    for (uint32_t i = 0; i < plan->places_count; i++) {
        if (!check_devices_of(plan, &plan->places[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < allowed->count; i++) {
        if (times_named(plan, allowed->values[i]) == 0) {
            return refuse(plan, "--eraseDevice: no place has device=%s; name it in a --place, or leave it out",
                          allowed->values[i]);
        }
    }
    return true;
}

// Gives the directories of --dir to the places that have none. A single directory is given to all of them; a list is
// used in the order of the places.
static bool give_directories(struct plan *plan) {
    const char *list = plan->options->dir;
    uint32_t without = 0, count = 1;
    for (const char *at = list; *at != '\0'; at++) {
        count += *at == ',';
    }
    for (uint32_t i = 0; i < plan->places_count; i++) {
        struct place_terms *terms = &plan->places[i];
        if (terms->directories != NULL || terms->device[0] != '\0') {
            continue;
        }
        without++;
        terms->directories = list;
        terms->directories_length = strcspn(list, ",");
        if (!grammar_directories(list, terms->directories_length)) {
            return refuse(plan, "--dir: '%.*s' is not allowed; allowed: one directory for a place, or several as /a+/b",
                          (int)terms->directories_length, list);
        }
        list += count > 1 && without < count ? terms->directories_length + 1 : 0;
    }
    return count == 1 || count == without ||
           refuse(plan,
                  "--dir names %" PRIu32 " directories, but %" PRIu32
                  " of the places have no dir; allowed: one directory, or one for each of them; try --dir=/a, or dir "
                  "in each --place",
                  count, without);
}

// Either all shares are given and add up to 100 %, or none is given and all places have equal shares.
static bool check_shares(struct plan *plan) {
    uint32_t given = 0, count = plan->places_count;
    uint64_t sum_ppm = 0;
    for (uint32_t i = 0; i < count; i++) {
        given += plan->places[i].share_ppm > 0;
        sum_ppm += plan->places[i].share_ppm;
    }
    if (given > 0 && given < count) {
        for (uint32_t i = 0; i < count; i++) {
            if (plan->places[i].share_ppm == 0) {
                return refuse(
                    plan, "--place %s: missing key share, which other places have; name it for all or for none",
                    plan->places[i].name);
            }
        }
    }
    if (given == count && sum_ppm != SHARE_PPM) {
        return refuse(plan, "--place: the shares add up to %.4f %%; allowed: 100 %%", (double)sum_ppm / 10000);
    }
    for (uint32_t i = 0; i < count && given == 0; i++) {
        plan->places[i].share_ppm = SHARE_PPM / count + (i < SHARE_PPM % count);
    }
    return true;
}

static bool find_place(struct plan *plan, uint32_t number) {
    const struct stream *stream = &plan->workload->streams[number];
    if (stream->terms.place[0] == '\0' && plan->places_count > 1) {
        return refuse(plan, "--stream %s: missing key place, for example place=%s", stream->name, plan->places[0].name);
    }
    for (uint32_t i = 0; i < plan->places_count; i++) {
        if (stream->terms.place[0] == '\0' || strcmp(stream->terms.place, plan->places[i].name) == 0) {
            plan->place_of[number] = i;
            return true;
        }
    }
    return refuse(plan, "--stream %s: there is no place '%s'; add --place=name=%s,dir=..., or try place=%s",
                  stream->name, stream->terms.place, stream->terms.place, plan->places[0].name);
}

// At the greatest load.
static bool check_load(struct plan *plan, const struct stream *stream) {
    uint64_t load = workload_load_max(plan->workload);
    uint64_t workers = stream_workers(stream, load), rate_per_s = stream_rate_micro_per_s(stream, load) / 1000000;
    if (workers > STREAM_WORKERS_MAX) {
        return refuse(plan,
                      "--stream %s: workers: %" PRIu64
                      " at the greatest load of --load are not allowed; allowed: up to %d; try fewer, or rate=N*load",
                      stream->name, workers, STREAM_WORKERS_MAX);
    }
    return rate_per_s <= STREAM_RATE_MAX_PER_S ||
           refuse(plan,
                  "--stream %s: rate: %" PRIu64
                  " per second at the greatest load of --load are not allowed; allowed: up to %d; try less",
                  stream->name, rate_per_s, STREAM_RATE_MAX_PER_S);
}

static bool read_streams(struct plan *plan) {
    const struct text_list *texts = &plan->options->streams;
    struct workload *workload = plan->workload;
    workload->streams_count = (uint32_t)texts->count;
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        struct stream *stream = &workload->streams[i];
        if (!grammar_stream(texts->values[i], (enum sync_mode)plan->options->sync, stream, plan->failure) ||
            !find_place(plan, i) || !check_load(plan, stream)) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(stream->name, workload->streams[j].name) == 0) {
                return refuse(plan, "--stream %s: the name is given twice; name each stream once", stream->name);
            }
        }
    }
    return true;
}

// Places.

static uint32_t count_directories(const struct place_terms *terms) {
    char device[PLACE_DEVICE_BYTES];
    uint32_t count = 0;
    for (const char *at = terms->device; take_next_device(&at, device);) {
        count++;
    }
    for (size_t i = 0; i < terms->directories_length && terms->device[0] == '\0'; i++) {
        count += terms->directories[i] == '+';
    }
    return count + (terms->device[0] == '\0');
}

// Returns the path of a directory or device, as an error message shows it.
static char *place_path(const struct place_terms *terms, uint32_t number) {
    char device[PLACE_DEVICE_BYTES];
    const char *at = terms->device[0] != '\0' ? terms->device : terms->directories;
    if (terms->device[0] != '\0') {
        for (uint32_t i = 0; i <= number; i++) {
            (void)take_next_device(&at, device);
        }
        return strdup(device);
    }
    for (; number > 0; number--) {
        at = strchr(at, '+') + 1;
    }
    return strndup(at, strcspn(at, "+,"));
}

// Returns how the files of a stream must be opened.
static enum sync_mode opening_of(enum sync_mode sync) {
    return sync == SYNC_DSYNC || sync == SYNC_SYNC ? sync : SYNC_NONE;
}

// Only the streams that write to the place matter. Streams that only read can use any mode.
static bool agree_on_sync(struct plan *plan, uint32_t place, enum sync_mode *sync) {
    const struct stream *first = NULL;
    *sync = SYNC_NONE;
    for (uint32_t i = 0; i < plan->workload->streams_count; i++) {
        const struct stream *stream = &plan->workload->streams[i];
        if (plan->place_of[i] != place || !stream_has(stream, OPERATION_WRITE)) {
            continue;
        }
        if (first != NULL && opening_of(stream->sync) != *sync) {
            return refuse(plan,
                          "--stream %s: sync=%s is not possible beside sync=%s of stream %s, because files of one "
                          "place are opened in one way; choose the same, or give each a place",
                          stream->name, sync_names[stream->sync], sync_names[first->sync], first->name);
        }
        *sync = opening_of(stream->sync);
        first = first != NULL ? first : stream;
    }
    return true;
}

// Each worker of a ring has its own files.
static uint64_t ring_workers(const struct plan *plan, uint32_t place) {
    uint64_t most = 1;
    for (uint32_t i = 0; i < plan->workload->streams_count; i++) {
        const struct stream *stream = &plan->workload->streams[i];
        uint64_t workers = stream_workers(stream, workload_load_max(plan->workload));
        if (plan->place_of[i] == place && stream->pattern == PATTERN_RING && workers > most) {
            most = workers;
        }
    }
    return most;
}

static uint64_t divide_up(uint64_t value, uint64_t by) {
    return (value + by - 1) / by;
}

static char *name_prefix(const struct plan *plan, const char *place) {
    size_t bytes = strlen(plan->options->file_prefix) + strlen(place) + 2;
    char *prefix = malloc(bytes);
    if (prefix != NULL) {
        (void)snprintf(prefix, bytes, "%s.%s", plan->options->file_prefix, place);
    }
    return prefix;
}

// Divides the place's share of the capacity into files of equal size, none larger than --fileSize.
static bool open_place(struct plan *plan, uint32_t number) {
    const struct place_terms *terms = &plan->places[number];
    struct workload *workload = plan->workload;
    uint64_t capacity =
        (uint64_t)((uint128)(plan->options->file_bytes * plan->options->files) * terms->share_ppm / SHARE_PPM);
    uint32_t directories = count_directories(terms);
    uint64_t files = divide_up(divide_up(capacity, plan->options->file_bytes), directories);
    uint64_t for_rings = divide_up(ring_workers(plan, number), directories);
    files = files > for_rings ? files : for_rings;
    enum sync_mode sync;
    if (!agree_on_sync(plan, number, &sync)) {
        return false;
    }
    struct place place = {
        .sync = sync,
        .share_ppm = terms->share_ppm,
        .is_device = terms->device[0] != '\0',
        .file_prefix = name_prefix(plan, terms->name),
        .files = files,
        .file_bytes = capacity / directories / files / PAGE_BYTES * PAGE_BYTES,
        .direct = terms->direct != UINT64_MAX ? terms->direct != 0 : plan->options->direct != 0,
        .fd = -1,
        .fds = malloc(directories * files * sizeof *place.fds),
    };
    (void)snprintf(place.name, sizeof place.name, "%s", terms->name);
    bool good = place.file_prefix != NULL && place.fds != NULL;
    for (uint64_t file = 0; good && file < directories * files; file++) {
        place.fds[file] = -1;
    }
    for (uint32_t i = 0; good && i < directories; i++) {
        place.path = place_path(terms, i);
        good = place.path != NULL;
        workload->places[workload->places_count++] = place;
        place.fds += files;
    }
    return good;
}

static bool open_places(struct plan *plan) {
    struct workload *workload = plan->workload;
    uint32_t count = 0, first[OPTIONS_TEXTS_MAX];
    for (uint32_t i = 0; i < plan->places_count; i++) {
        count += count_directories(&plan->places[i]);
    }
    workload->places = calloc(count, sizeof *workload->places);
    for (uint32_t i = 0; i < plan->places_count; i++) {
        first[i] = workload->places_count;
        if (workload->places == NULL || !open_place(plan, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        struct stream *stream = &workload->streams[i];
        uint32_t of = plan->place_of[i];
        stream->first_place = first[of];
        stream->terms.files = (uint32_t)(workload->places[first[of]].files * count_directories(&plan->places[of]));
        (void)snprintf(stream->terms.place, sizeof stream->terms.place, "%s", plan->places[of].name);
    }
    return true;
}

static bool check_use(struct plan *plan) {
    for (uint32_t place = 0; place < plan->places_count; place++) {
        bool used = false;
        for (uint32_t i = 0; i < plan->workload->streams_count; i++) {
            used = used || plan->place_of[i] == place;
        }
        if (!used) {
            return refuse(plan, "--place %s: no stream uses it; name it in a --stream (place=%s), or leave it out",
                          plan->places[place].name, plan->places[place].name);
        }
    }
    return true;
}

// Returns whether each stream fits into its place.
static bool check_room(struct plan *plan) {
    for (uint32_t i = 0; i < plan->workload->streams_count; i++) {
        const struct stream *stream = &plan->workload->streams[i];
        const struct stream_terms *of = &stream->terms;
        uint64_t file_bytes = plan->workload->places[stream->first_place].file_bytes;
        uint64_t needed = stream->pattern == PATTERN_WALK ? WALK_BLOCKS_A_LEAF * of->size_max : of->size_max;
        needed = of->pattern.align_bytes > needed ? of->pattern.align_bytes : needed;
        if (needed > file_bytes) {
            return refuse(plan,
                          "--stream %s: %" PRIu64 " bytes do not fit into the files of place %s, which have %" PRIu64
                          "; take larger or more files (--fileSize, --numFiles), a larger share, or fewer workers",
                          stream->name, needed, of->place, file_bytes);
        }
        uint64_t run =
            (uint64_t)((uint128)(file_bytes / of->size_min * of->files) * of->pattern.extent_ppm / SHARE_PPM);
        if (stream->pattern == PATTERN_RUNS && run < of->size_max / of->size_min) {
            return refuse(plan,
                          "--stream %s: run: a run is shorter than its largest size of %" PRIu64
                          " bytes; take more files (--numFiles), or a longer run",
                          stream->name, of->size_max);
        }
    }
    return true;
}

// The sizes that the disk must accept, without duplicates.
static void list_sizes(struct workload *workload) {
    struct number_list *list = &workload->writes;
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        const struct stream_terms *of = &workload->streams[i].terms;
        for (uint32_t j = 0; j < of->sizes_count; j++) {
            size_t at = 0;
            while (at < list->count && list->values[at] != of->sizes[j]) {
                at++;
            }
            list->values[at] = of->sizes[j];
            list->count += at == list->count;
        }
    }
}

bool streams_open(struct workload *workload, const struct options *options, struct failure *failure) {
    static const struct number_list no_size = {.count = 1};
    struct plan plan = {.options = options, .workload = workload, .failure = failure};
    *workload = (struct workload){
        .name = "streams",
        .load_unit = options->load_unit,
        .step_size = "none",
        .step_title = "",
        .sizes = &no_size,
        .load_points = &options->loads,
        .write_option = "--stream",
        .load_option = "--stream",
        .worker_title = "worker",
    };
    if (!read_places(&plan) || !give_directories(&plan) || !check_devices(&plan) || !check_shares(&plan) ||
        !read_streams(&plan) || !check_use(&plan) || !open_places(&plan) || !check_room(&plan)) {
        return false;
    }
    list_sizes(workload);
    return true;
}
