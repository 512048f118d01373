// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/run_csv.h"

#include "base/clock.h"
#include "base/version.h"
#include "output/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BARE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,./:+@%"

// A key of run.csv: its unit, and how to get its value. put leaves a key out by putting nothing. The "_n" of a name
// stands for numbers from 1, for as long as put puts a value for the number.
struct key {
    const char *name, *unit;
    void (*put)(struct csv *csv, const struct run *run, uint64_t argument);
    uint64_t argument;
};

static void put_text(struct csv *csv, struct text *text) {
    csv_text(csv, text->bytes != NULL ? text->bytes : "");
    text_free(text);
}

// Members of struct run, by their offset.

static void put_u64(struct csv *csv, const struct run *run, uint64_t offset) {
    csv_integer(csv, *(const uint64_t *)((const char *)run + offset));
}

static void put_u32(struct csv *csv, const struct run *run, uint64_t offset) {
    csv_integer(csv, *(const uint32_t *)((const char *)run + offset));
}

static void put_chars(struct csv *csv, const struct run *run, uint64_t offset) {
    csv_text(csv, (const char *)run + offset);
}

static void put_string(struct csv *csv, const struct run *run, uint64_t offset) {
    const char *string = *(const char *const *)((const char *)run + offset);
    csv_text(csv, string != NULL ? string : "");
}

// Does not compile if the member is of another type.
#define MEMBER(type, name) (offsetof(struct run, name) + 0 * sizeof(char[_Generic(((struct run *)0)->name, type: 1)]))
#define U64(name) put_u64, MEMBER(uint64_t, name)
#define U32(name) put_u32, MEMBER(uint32_t, name)
#define CHARS(name) put_chars, MEMBER(char *, name)
#define STRING(name) put_string, MEMBER(const char *, name)

// The program and its outcome.

static void put_constant(struct csv *csv, const struct run *run, uint64_t number) {
    static const char *const values[] = {"1", "logdisk", LOGDISK_VERSION, LOGDISK_SOURCE_HASH, "CLOCK_MONOTONIC"};
    csv_text(csv, values[number]);
}

// Arguments that a shell would take apart are put in single quotes.
static void put_command_line(struct csv *csv, const struct run *run, uint64_t unused) {
    struct text text = {0};
    for (int i = 0; i < run->argc; i++) {
        const char *argument = run->argv[i];
        const char *quote = argument[0] != '\0' && strspn(argument, BARE_LETTERS) == strlen(argument) ? "" : "'";
        text_printf(&text, "%s%s", i > 0 ? " " : "", quote);
        for (; *argument != '\0'; argument++) {
            text_printf(&text, *argument == '\'' ? "'\\''" : "%c", *argument);
        }
        text_printf(&text, "%s", quote);
    }
    put_text(csv, &text);
}

enum outcome_member { EXIT_STATUS, EXIT_REASON, EXIT_MESSAGE };

static void put_outcome(struct csv *csv, const struct run *run, uint64_t member) {
    const struct failure *failure = run->failure.status != EXIT_MEASURED ? &run->failure : &run->tables_failure;
    const char *interrupted = run->supervisor.reason == STOP_DEADLINE ? "deadline" : "interrupted";
    switch ((enum outcome_member)member) {
    case EXIT_STATUS: csv_integer(csv, failure->status); break;
    case EXIT_REASON:
        csv_text(csv, failure->status == EXIT_MEASURED ? "measured" : failure->status == EXIT_IO_ERROR ? "io_error"
                      : failure->status == EXIT_REFUSED ? "tables_missing" : interrupted);
        break;
    case EXIT_MESSAGE: csv_text(csv, failure->message); break;
    }
}

static void put_time(struct csv *csv, const struct run *run, uint64_t end) {
    uint64_t ns = end ? run->end_epoch_ns : run->start_epoch_ns;
    char value[48];
    (void)snprintf(value, sizeof value, "%" PRIu64 ".%06" PRIu64, ns / NS_PER_S, ns % NS_PER_S / 1000);
    csv_text(csv, value);
}

static void put_utc(struct csv *csv, const struct run *run, uint64_t end) {
    struct timespec time = ns_timespec(end ? run->end_epoch_ns : run->start_epoch_ns);
    struct tm parts;
    char value[64] = "";
    if (gmtime_r(&time.tv_sec, &parts) != NULL) {
        (void)strftime(value, sizeof value, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    csv_text(csv, value);
}

// The machine.

static void put_uname(struct csv *csv, const struct run *run, uint64_t offset) {
    struct utsname names;
    if (uname(&names) == 0) {
        csv_text(csv, (const char *)&names + offset);
    }
}

static void put_cpus(struct csv *csv, const struct run *run, uint64_t unused) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    csv_integer_if(csv, cpus > 0, (uint64_t)cpus);
}

static void put_memory(struct csv *csv, const struct run *run, uint64_t unused) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    csv_integer_if(csv, pages > 0 && page > 0, (uint64_t)pages * (uint64_t)page);
}

// What was run.

static void put_directory(struct csv *csv, const struct run *run, uint64_t number) {
    if (number <= run->workspace.places) {
        csv_text(csv, run->workspace.directories[number - 1].place->path);
    }
}

static void put_initial_rate(struct csv *csv, const struct run *run, uint64_t unused) {
    const struct initial_write *written = &run->workspace.initial_write;
    csv_real(csv, written->elapsed_ns > 0 ? (double)written->bytes * 1e9 / (double)written->elapsed_ns : NAN, 0);
}

static void put_warning(struct csv *csv, const struct run *run, uint64_t number) {
    if (number <= run->warnings_count) {
        csv_text(csv, run->warnings[number - 1]);
    }
}

enum error_member { ERROR_CALL, ERROR_NUMBER, ERROR_NAME, ERROR_MESSAGE, ERROR_FILE, ERROR_OFFSET, ERROR_WORKER,
                    ERROR_BLOCK_SIZE, ERROR_OPERATION };

static void put_error(struct csv *csv, const struct run *run, uint64_t member) {
    const struct failure *failure = &run->failure;
    if (failure->status != EXIT_IO_ERROR) {
        return;
    }
    switch ((enum error_member)member) {
    case ERROR_CALL: csv_text(csv, failure->call); break;
    case ERROR_NUMBER: csv_integer_if(csv, failure->error > 0, (uint64_t)failure->error); break;
    case ERROR_NAME: csv_text(csv, failure_error_name(failure->error)); break;
    case ERROR_MESSAGE: csv_text(csv, failure_error_text(failure->error)); break;
    case ERROR_FILE: csv_text(csv, failure->file); break;
    case ERROR_OFFSET: csv_integer(csv, failure->offset_bytes); break;
    case ERROR_WORKER: csv_integer(csv, failure->queue_manager); break;
    case ERROR_BLOCK_SIZE: csv_integer(csv, failure->block_bytes); break;
    case ERROR_OPERATION: csv_integer_if(csv, failure->write > 0, failure->write); break;
    }
}

enum in_flight_member { IN_FLIGHT_AGE, IN_FLIGHT_FILE, IN_FLIGHT_OFFSET, IN_FLIGHT_WORKER };

static void put_in_flight(struct csv *csv, const struct run *run, uint64_t member) {
    if (!run->has_in_flight) {
        return;
    }
    switch ((enum in_flight_member)member) {
    case IN_FLIGHT_AGE: csv_integer(csv, run->in_flight.latency_ns); break;
    case IN_FLIGHT_FILE: csv_text(csv, run->in_flight_file); break;
    case IN_FLIGHT_OFFSET: csv_integer(csv, run->in_flight.offset_bytes); break;
    case IN_FLIGHT_WORKER: csv_integer(csv, run->in_flight.worker); break;
    }
}

static void put_verified(struct csv *csv, const struct run *run, uint64_t offset) {
    if (run->options->verify) {
        put_u64(csv, run, offset);
    }
}

static void put_mismatch(struct csv *csv, const struct run *run, uint64_t number) {
    if (number > run->verify.mismatches || number > VERIFY_MISMATCHES_KEPT) {
        return;
    }
    const struct mismatch *mismatch = &run->verify.kept[number - 1];
    struct text text = {0};
    char path[PATH_MAX];
    workspace_file_path(&run->workspace, mismatch->worker, mismatch->file, path);
    text_printf(&text, "%" PRIu64 " %s", mismatch->offset_bytes, path);
    put_text(csv, &text);
}

// Where it was run.

static void put_mount_options(struct csv *csv, const struct run *run, uint64_t unused) {
    const struct mount *mount = &run->identity.mount;
    struct text text = {0};
    if (mount->id > 0) {
        text_printf(&text, "%s,%s", mount->options, mount->super_options);
    }
    put_text(csv, &text);
}

static void put_nfs(struct csv *csv, const struct run *run, uint64_t option) {
    static const char *const options[] = {"addr", "vers", "wsize", "proto"};
    const struct mount *mount = &run->identity.mount;
    char value[128] = "";
    if (strncmp(mount->type, "nfs", 3) == 0) {
        (void)parse_mount_option(mount->super_options, options[option], value, sizeof value);
        csv_text(csv, value);
    }
}

static void add_number(struct text *text, const struct block_number *number) {
    text_printf(text, "%s%" PRIu32 ":%" PRIu32, text->length > 0 ? " " : "", number->major, number->minor);
}

static void put_device_number(struct csv *csv, const struct run *run, uint64_t unused) {
    struct text text = {0};
    if (run->identity.number.major > 0) {
        add_number(&text, &run->identity.number);
    }
    put_text(csv, &text);
}

static void put_backing_disks(struct csv *csv, const struct run *run, uint64_t unused) {
    struct text text = {0};
    for (uint32_t i = 0; i < run->backing.disks_count; i++) {
        add_number(&text, &run->backing.disks[i]);
    }
    put_text(csv, &text);
}

static void put_direct_alignment(struct csv *csv, const struct run *run, uint64_t unused) {
    csv_integer_if(csv, run->direct_io_alignment_bytes > 0, run->direct_io_alignment_bytes);
}

// What else went on.

enum share { SHARE_STEAL, SHARE_IDLE, SHARE_PSI_CPU, SHARE_PSI_IO, SHARE_PSI_MEMORY, SHARE_RUN_QUEUE, SHARE_FOREIGN };

static double foreign_share(const struct disturbance *disturbance) {
    uint64_t foreign = 0;
    bool known = disturbance_foreign_bytes(disturbance, &foreign);
    double all = (double)foreign + (double)disturbance->own_device_bytes;
    return known && all > 0 ? (double)foreign / all : NAN;
}

static bool threads_known(const struct disturbance *disturbance) {
    return disturbance->threads_known && disturbance->writers_elapsed_ns > 0;
}

// The kernel's count begins before the first write, when the writers wake up: on a crowded host it can exceed the run.
static double run_queue_share(const struct disturbance *disturbance) {
    double waited = threads_known(disturbance)
                        ? (double)disturbance->run_queue_wait_ns / (double)disturbance->writers_elapsed_ns : NAN;
    return waited > 1 ? 1 : waited;
}

static void put_share(struct csv *csv, const struct run *run, uint64_t share) {
    const struct disturbance *disturbance = &run->disturbance;
    double value = NAN;
    switch ((enum share)share) {
    case SHARE_STEAL: value = disturbance_share(disturbance, COUNTER_CPU_STEAL, COUNTER_CPU_TOTAL); break;
    case SHARE_IDLE: value = disturbance_share(disturbance, COUNTER_CPU_IDLE, COUNTER_CPU_TOTAL); break;
    case SHARE_PSI_CPU: value = disturbance_time_share(disturbance, COUNTER_PSI_CPU); break;
    case SHARE_PSI_IO: value = disturbance_time_share(disturbance, COUNTER_PSI_IO); break;
    case SHARE_PSI_MEMORY: value = disturbance_time_share(disturbance, COUNTER_PSI_MEMORY); break;
    case SHARE_RUN_QUEUE: value = run_queue_share(disturbance); break;
    case SHARE_FOREIGN: value = foreign_share(disturbance); break;
    }
    csv_real(csv, value, 6);
}

static void put_switches(struct csv *csv, const struct run *run, uint64_t unused) {
    csv_integer_if(csv, threads_known(&run->disturbance), run->disturbance.involuntary_switches);
}

static void put_counter(struct csv *csv, const struct run *run, uint64_t counter) {
    const struct counters *sum = &run->disturbance.sum;
    uint64_t unit = counter == COUNTER_PAGED_IN || counter == COUNTER_PAGED_OUT ? 1024 : 1;
    csv_integer_if(csv, sum->known[counter], sum->values[counter] * unit);
}

static void put_foreign(struct csv *csv, const struct run *run, uint64_t unused) {
    uint64_t foreign = 0;
    csv_integer_if(csv, disturbance_foreign_bytes(&run->disturbance, &foreign), foreign);
}

static void put_complete(struct csv *csv, const struct run *run, uint64_t unused) {
    csv_integer(csv, run->tables_missing[0] == '\0');
}

#define DEVICE(prefix, facts)                                                                                         \
    {prefix "_name", "text", CHARS(facts.name)}, {prefix "_model", "text", CHARS(facts.model)}, \
    {prefix "_scheduler", "text", CHARS(facts.scheduler)},                                                \
    {prefix "_write_cache", "text", CHARS(facts.write_cache)},                                            \
    {prefix "_rotational", "text", CHARS(facts.rotational)},                                              \
    {prefix "_nomerges", "text", CHARS(facts.nomerges)},                                                  \
    {prefix "_wbt_lat_us", "us", CHARS(facts.wbt_lat_us)},                                                \
    {prefix "_logical_block_bytes", "bytes", CHARS(facts.logical_block_bytes)},                           \
    {prefix "_physical_block_bytes", "bytes", CHARS(facts.physical_block_bytes)}

static const struct key keys[] = {
    {"schema_version", "number", put_constant, 0},
    {"program", "text", put_constant, 1},
    {"version", "text", put_constant, 2},
    {"source_hash", "text", put_constant, 3},
    {"command_line", "text", put_command_line, 0},
    {"workload", "text", STRING(workload.name)},
    {"load_unit", "text", STRING(workload.load_unit)},
    {"exit_status", "number", put_outcome, EXIT_STATUS},
    {"exit_reason", "text", put_outcome, EXIT_REASON},
    {"exit_message", "text", put_outcome, EXIT_MESSAGE},
    {"tables_missing", "text", CHARS(tables_missing)},
    {"start_time_epoch_s", "s", put_time, 0},
    {"start_time_utc", "text", put_utc, 0},
    {"end_time_epoch_s", "s", put_time, 1},
    {"end_time_utc", "text", put_utc, 1},
    {"clock", "text", put_constant, 4},
    {"clock_source", "text", CHARS(identity.clock_source)},
    {"clock_read_ns", "ns", U64(clock_read_ns)},
    {"kernel_release", "text", put_uname, offsetof(struct utsname, release)},
    {"kernel_version", "text", put_uname, offsetof(struct utsname, version)},
    {"machine", "text", put_uname, offsetof(struct utsname, machine)},
    {"hostname", "text", put_uname, offsetof(struct utsname, nodename)},
    {"cpus_online", "count", put_cpus, 0},
    {"memory_bytes", "bytes", put_memory, 0},
    {"option_", NULL, NULL, 0},             // all options that have a key
    {"directory_n", "text", put_directory, 0},
    {"steps_planned", "count", U32(steps)},
    {"steps_measured", "count", U32(steps_measured)},
    {"planned_duration_s", "s", U64(planned_s)},
    {"initial_write_bytes", "bytes", U64(workspace.initial_write.bytes)},
    {"initial_write_ns", "ns", U64(workspace.initial_write.elapsed_ns)},
    {"initial_write_bytes_per_s", "bytes/s", put_initial_rate, 0},
    {"initial_write_slowest_ns", "ns", U64(workspace.initial_write.slowest_part_ns)},
    {"error_call", "text", put_error, ERROR_CALL},
    {"error_errno", "number", put_error, ERROR_NUMBER},
    {"error_errno_name", "text", put_error, ERROR_NAME},
    {"error_message", "text", put_error, ERROR_MESSAGE},
    {"error_file", "text", put_error, ERROR_FILE},
    {"error_offset_bytes", "bytes", put_error, ERROR_OFFSET},
    {"error_worker", "number", put_error, ERROR_WORKER},
    {"error_block_size_bytes", "bytes", put_error, ERROR_BLOCK_SIZE},
    {"error_operation_number", "number", put_error, ERROR_OPERATION},
    {"in_flight_age_ns", "ns", put_in_flight, IN_FLIGHT_AGE},
    {"in_flight_file", "text", put_in_flight, IN_FLIGHT_FILE},
    {"in_flight_offset_bytes", "bytes", put_in_flight, IN_FLIGHT_OFFSET},
    {"in_flight_worker", "number", put_in_flight, IN_FLIGHT_WORKER},
    {"warning_n", "text", put_warning, 0},
    {"verify_blocks", "count", put_verified, MEMBER(uint64_t, verified_blocks)},
    {"verify_mismatches", "count", put_verified, MEMBER(uint64_t, verify_mismatches)},
    {"verify_mismatch_n", "text", put_mismatch, 0},
    {"filesystem_type", "text", CHARS(identity.mount.type)},
    {"filesystem_size_bytes", "bytes", U64(workspace.size_bytes)},
    {"filesystem_free_bytes", "bytes", U64(workspace.free_bytes)},
    {"mount_point", "text", CHARS(identity.mount.point)},
    {"mount_source", "text", CHARS(identity.mount.source)},
    {"mount_options", "text", put_mount_options, 0},
    {"nfs_server_address", "text", put_nfs, 0},
    {"nfs_version", "text", put_nfs, 1},
    {"nfs_wsize_bytes", "bytes", put_nfs, 2},
    {"nfs_protocol", "text", put_nfs, 3},
    {"device_number", "text", put_device_number, 0},
    DEVICE("device", identity.device),
    DEVICE("device_member", identity.member),
    {"device_stack", "text", CHARS(identity.stack.text)},
    {"direct_io_alignment_bytes", "bytes", put_direct_alignment, 0},
    {"backing_filesystem_type", "text", CHARS(backing.type)},
    {"backing_unknown", "text", STRING(backing.unknown)},
    {"backing_disks", "text", put_backing_disks, 0},
    {"device_shared_with", "text", CHARS(lock.others)},
    {"cpu_steal_share", "ratio", put_share, SHARE_STEAL},
    {"cpu_idle_share", "ratio", put_share, SHARE_IDLE},
    {"psi_cpu_some_share", "ratio", put_share, SHARE_PSI_CPU},
    {"psi_io_some_share", "ratio", put_share, SHARE_PSI_IO},
    {"psi_memory_some_share", "ratio", put_share, SHARE_PSI_MEMORY},
    {"run_queue_wait_share", "ratio", put_share, SHARE_RUN_QUEUE},
    {"involuntary_context_switches", "count", put_switches, 0},
    {"oversleep_max_ns", "ns", U64(oversleep_max_ns)},
    {"oversleep_max_step", "number", U32(oversleep_max_step)},
    {"device_read_bytes", "bytes", put_counter, COUNTER_DEVICE_READ},
    {"device_written_bytes", "bytes", put_counter, COUNTER_DEVICE_WRITTEN},
    {"own_written_bytes", "bytes", U64(disturbance.own_bytes)},
    {"foreign_io_bytes", "bytes", put_foreign, 0},
    {"foreign_io_share", "ratio", put_share, SHARE_FOREIGN},
    {"swap_in_pages", "count", put_counter, COUNTER_SWAP_IN},
    {"swap_out_pages", "count", put_counter, COUNTER_SWAP_OUT},
    {"major_faults", "count", put_counter, COUNTER_MAJOR_FAULTS},
    {"paged_in_bytes", "bytes", put_counter, COUNTER_PAGED_IN},
    {"paged_out_bytes", "bytes", put_counter, COUNTER_PAGED_OUT},
    {"complete", "0/1", put_complete, 0},
};

#define KEYS (sizeof keys / sizeof keys[0])

static bool is_numbered(const struct key *key) {
    const char *end = key->name + strlen(key->name) - 2;
    return strcmp(end, "_n") == 0;
}

// False, and no row, if the key has no value.
static bool put_row(struct csv *csv, const struct run *run, const struct key *key, uint64_t number) {
    size_t before = csv->text.length;
    char name[64];
    int length = (int)strlen(key->name) - (number > 0);
    (void)snprintf(name, sizeof name, "%.*s%.0" PRIu64, length, key->name, number);
    csv_text(csv, name);
    size_t named = csv->text.length;
    key->put(csv, run, number > 0 ? number : key->argument);
    if (csv->text.length == named) {
        text_cut(&csv->text, before);
        csv->in_row = false;
        return false;
    }
    csv_end_row(csv);
    return true;
}

static void put_options(struct csv *csv, const struct options *options) {
    for (size_t i = 0; i < options_count(); i++) {
        struct text value = {0};
        if (option_key(i) != NULL) {
            option_value(options, i, &value);
            csv_text(csv, option_key(i));
            put_text(csv, &value);
            csv_end_row(csv);
        }
    }
}

void run_csv_put(struct csv *csv, const struct run *run) {
    csv_text(csv, "key");
    csv_text(csv, "value");
    csv_end_row(csv);
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].put == NULL) {
            put_options(csv, run->options);
        } else if (!is_numbered(&keys[i])) {
            (void)put_row(csv, run, &keys[i], 0);
        } else {
            for (uint64_t number = 1; put_row(csv, run, &keys[i], number); number++) {
            }
        }
    }
}

void run_csv_list(struct csv *csv) {
    for (size_t i = 0; i < KEYS; i++) {
        for (size_t j = 0; keys[i].put == NULL && j < options_count(); j++) {
            if (option_key(j) != NULL) {
                columns_list_row(csv, TABLE_RUN, option_key(j), option_unit(j));
            }
        }
        if (keys[i].put != NULL) {
            columns_list_row(csv, TABLE_RUN, keys[i].name, keys[i].unit);
        }
    }
}
