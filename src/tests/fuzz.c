// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// libFuzzer's entry point for all parsers of external text: the command line, commands of --lock, and files of /proc
// and /sys. The first byte chooses the parser; the rest is its text.
#include "cut/witness.h"
#include "output/csv.h"
#include "base/options.h"
#include "host/cgroup.h"
#include "host/device.h"
#include "host/procfs.h"
#include "lock/protocol.h"
#include "base/units.h"
#include "workload/stream_grammar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) {
        abort();
    }
}

static struct failure failure;

static void fuzz_stream(const char *text) {
    struct stream stream;
    bool good = grammar_stream(text, SYNC_DSYNC, &stream, &failure);
    require(good == (failure.message[0] == '\0'));
    failure.message[0] = '\0';
    if (!good) {
        return;
    }
    const struct stream_terms *of = &stream.terms;
    require(of->sizes_count >= 1 && of->sizes_count <= STREAM_SIZES_MAX &&
            of->upto_ppm[of->sizes_count - 1] == SHARE_PPM);
    require(of->size_min >= 512 && of->size_max <= UINT64_C(67108864) && stream.read_ppm <= SHARE_PPM);
    require(of->pattern.start_from_ppm <= of->pattern.start_to_ppm);
    require(of->pattern.start_to_ppm + of->pattern.extent_ppm <= SHARE_PPM);
    require(stream.workers >= 1 && stream.workers <= STREAM_WORKERS_MAX);
    require((of->process != ARRIVAL_CLOSED) == (of->rate_micro_per_s > 0) && stream.name == of->name &&
            of->name[0] != '\0');
}

// Arguments are separated by line ends. Accepted values must be within the documented ranges.
static void fuzz_options(char *text) {
    static struct options options;
    char *arguments[ARGUMENTS_MAX + 1] = {0};
    int count = 0;
    for (char *line = strtok(text, "\n"); line != NULL && count < ARGUMENTS_MAX; line = strtok(NULL, "\n")) {
        arguments[count++] = line;
    }
    enum options_outcome outcome = options_parse(&options, arguments);
    require((outcome == OPTIONS_WRONG) == (options.failure.message[0] != '\0'));
    if (outcome != OPTIONS_RUN) {
        return;
    }
    if (options.check_acknowledged != NULL || options.remove_acknowledged || options.lock) {
        return;                         // these measure nothing
    }
    bool commits = options.workload == WORKLOAD_COMMIT, streams = options.workload == WORKLOAD_STREAMS;
    require(options.workload < WORKLOADS && (commits || streams) == (options.block_sizes.count == 0));
    require(streams == (options.streams.count > 0));
    for (size_t i = 0; i < options.places.count; i++) {
        struct place_terms place;
        bool good = grammar_place(options.places.values[i], &place, &failure);
        require(good == (failure.message[0] == '\0'));
        const char *slash = strrchr(place.device, '/');
        require(!good || slash == NULL ||
                (slash == place.device + 15 && strncmp(place.device, "/dev/disk/by-id/", 16) == 0));
        failure.message[0] = '\0';
    }
    for (size_t i = 0; i < options.streams.count; i++) {
        fuzz_stream(options.streams.values[i]);
    }
    require(commits == (options.applications.count > 0) && commits == (options.message_sizes.count > 0));
    require(!commits || (options.log_buffer_bytes % 4096 == 0 && options.log_buffer_bytes <= options.file_bytes));
    require(options.block_sizes.count <= OPTIONS_LIST_MAX);
    require(options.load_points.count >= 1 && options.load_points.count <= OPTIONS_LIST_MAX);
    require(options.queue_managers >= 1 && options.queue_managers <= OPTIONS_QUEUE_MANAGERS_MAX);
    for (size_t i = 0; i < options.block_sizes.count; i++) {
        require(options.block_sizes.values[i] >= 512 && options.block_sizes.values[i] <= options.file_bytes);
    }
    require(options.over.count >= 15 && options.over.count <= 15 + OPTIONS_OVER_MAX && options.over.values[0] >= 1);
    for (size_t i = 1; i < options.over.count; i++) {
        require(options.over.values[i] > options.over.values[i - 1]);
    }
    require(options.over.values[options.over.count - 1] <= UINT64_C(3600000000000));
    require(options.files >= 1 && options.files <= 10000 && options.file_bytes % 4096 == 0 && options.duration_s >= 1);
    require(options.sync <= SYNC_NONE && options.direct <= 1);
    for (uint32_t number = 1; number <= options.queue_managers; number += options.queue_managers / 3 + 1) {
        char path[4096];
        (void)options_directory(&options, number, path, sizeof path);
    }
}

static void fuzz_kernel_text(char *text) {
    struct mount mount;
    struct lock_name name;
    uint64_t sum;
    char value[16];
    if (parse_mountinfo_line(text, &mount)) {
        require(mount.point[0] != '\0' && memchr(mount.point, '\0', sizeof mount.point) != NULL);
        require(memchr(mount.super_options, '\0', sizeof mount.super_options) != NULL);
    }
    (void)parse_mount_option(text, "addr", value, sizeof value);
    (void)parse_lock_name(text, &name);
    (void)parse_figures(text, "cpu", 0xff, &sum);
    (void)parse_figures(text, "", 1 << 6, &sum);
    parse_chosen(text, value, sizeof value);
    static struct cgroup cgroup;
    if (parse_cgroup(text, "cpu", &cgroup)) {
        require(cgroup.path[0] == '/');
        (void)cgroup_locate(&cgroup, "/", "/sys/fs/cgroup");
    }
    require(memchr(value, '\0', sizeof value) != NULL);
}

static void fuzz_units(char *text) {
    uint64_t value = 0;
    char size[SIZE_NAME_BYTES], thousands[THOUSANDS_BYTES];
    if (parse_size(text, &value)) {
        uint64_t again = 0;
        require(parse_size(format_size(size, value), &again) && again == value);
        (void)format_thousands(thousands, value);
    }
    (void)parse_integer(text, &value);
    (void)parse_decimal(text, &value);
    (void)parse_duration(text, &value);
}

// Any text becomes exactly one field: quotes are paired, and there are no raw control characters.
static void fuzz_csv(char *text) {
    struct csv csv = {0};
    csv_field(&csv, text);
    const char *field = csv.text.bytes != NULL ? csv.text.bytes : "";
    size_t length = strlen(field);
    bool quoted = length >= 2 && field[0] == '"';
    require(!quoted || field[length - 1] == '"');
    for (size_t i = 0; i < length; i++) {
        require((unsigned char)field[i] >= 0x20);
        require(quoted || (field[i] != ',' && field[i] != '"'));
    }
    text_free(&csv.text);
}

// Accepted text is consistent: a geometry that can be read, and counts that the stamps can distinguish.
static void fuzz_witness(char *text) {
    static struct witness witness;
    struct geometry geometry;
    FILE *file = text[0] != '\0' ? fmemopen(text, strlen(text), "r") : NULL;
    memset(&witness, 0, sizeof witness);
    failure.message[0] = '\0';
    bool good = file != NULL && witness_read(&witness, file, &failure);
    require(file == NULL || good == (failure.message[0] == '\0'));
    if (file != NULL) {
        (void)fclose(file);
    }
    failure.message[0] = '\0';
    if (!good) {
        return;
    }
    geometry_of_mark(&geometry, &witness.mark);
    require(geometry.positions >= 1 && geometry.block_bytes % 4096 == 0 &&
            strchr(witness.mark.file_prefix, '/') == NULL);
    require(geometry.queue_managers >= 1 && geometry.queue_managers <= OPTIONS_QUEUE_MANAGERS_MAX);
    for (uint32_t i = 0; i <= OPTIONS_QUEUE_MANAGERS_MAX; i++) {
        require(witness.counts[i] <= witness.counts_max &&
                (witness.counts[i] == 0 || (i >= 1 && i <= geometry.queue_managers)));
    }
    require(strcmp(witness.reason, "signal") != 0 && witness.last_tick_ns >= witness.first_tick_ns);
}

static bool consists_of(const char *text, const char *letters) {
    return text[strspn(text, letters)] == '\0';
}

// Accepted commands name no other directory, and have the arguments that their form requires.
static void fuzz_command(char *text) {
    struct command command;
    char message[PROTOCOL_MESSAGE_BYTES];
    bool good = command_parse(&command, text, message);
    require(good == (message[0] == '\0') && strlen(message) < sizeof message - 1 && strchr(message, '\n') == NULL);
    require(command.number <= PROTOCOL_LOCKERS_MAX && command.action <= ACTIONS_OF_USERS);
    if (!good) {
        return;
    }
    bool bare = command.action == ACTION_START || command.action == ACTION_EXIT || command.action == ACTION_KILL ||
                task_stopped_by(command.action) != TASKS;
    require(command.number >= 1 && command.action < ACTIONS_OF_USERS && bare == (command.file[0] == '\0'));
    require(consists_of(command.file, "abcdefghijklmnopqrstuvwxyz0123456789_-"));
    require(consists_of(command.hex, "0123456789abcdef") && strlen(command.hex) % 2 == 0);
    require((command.hex[0] != '\0') == (command.action == ACTION_NONCE_WRITE));
    require(command.action != ACTION_CREATE || (command.values[0] > 0 && command.values[0] % PROTOCOL_PAGE_BYTES == 0));
    require(command.action != ACTION_MANY || (command.values[0] >= 1 && command.values[0] <= PROTOCOL_MANY_MAX &&
                                              strlen(command.file) + 5 <= PROTOCOL_FILE_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 8192) {
        return 0;
    }
    char *text = malloc(size);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    static void (*const targets[])(char *) = {fuzz_options, fuzz_kernel_text, fuzz_units, fuzz_csv, fuzz_witness,
                                           fuzz_command};
    targets[data[0] % 6](text);
    free(text);
    return 0;
}
