// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/run_csv.h"

#include "base/clock.h"
#include "base/version.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void put_list(struct tables *tables, const char *key, const struct number_list *list) {
    size_t bytes = list->count * 21 + 1;
    char *text = calloc(1, bytes);
    size_t used = 0;
    for (size_t i = 0; text != NULL && i < list->count; i++) {
        used += (size_t)snprintf(text + used, bytes - used, "%s%" PRIu64, i > 0 ? " " : "", list->values[i]);
    }
    tables_run_text(tables, key, text != NULL ? text : "");
    free(text);
}

// Arguments that a shell would take apart are put in single quotes.
static void put_command_line(struct run *run) {
    size_t bytes = 1;
    for (int i = 0; i < run->argc; i++) {
        bytes += strlen(run->argv[i]) * 4 + 4;
    }
    char *text = calloc(1, bytes);
    char *at = text;
    for (int i = 0; text != NULL && i < run->argc; i++) {
        const char *argument = run->argv[i];
        bool bare = argument[0] != '\0' && strspn(argument, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                            "0123456789-_=,./:+@%") == strlen(argument);
        at += sprintf(at, "%s%s", i > 0 ? " " : "", bare ? "" : "'");
        for (; *argument != '\0'; argument++) {
            at += *argument == '\'' ? sprintf(at, "'\\''") : sprintf(at, "%c", *argument);
        }
        at += sprintf(at, "%s", bare ? "" : "'");
    }
    tables_run_text(&run->tables, "command_line", text != NULL ? text : "");
    free(text);
}

static void put_time(struct tables *tables, const char *prefix, uint64_t time_epoch_ns) {
    char key[64], value[64];
    struct timespec time = ns_timespec(time_epoch_ns);
    struct tm parts;
    (void)snprintf(key, sizeof key, "%s_time_epoch_s", prefix);
    (void)snprintf(value, sizeof value, "%" PRIu64 ".%06" PRIu64, time_epoch_ns / NS_PER_S,
                   time_epoch_ns % NS_PER_S / 1000);
    tables_run_text(tables, key, value);
    (void)snprintf(key, sizeof key, "%s_time_utc", prefix);
    value[0] = '\0';
    if (gmtime_r(&time.tv_sec, &parts) != NULL) {
        (void)strftime(value, sizeof value, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    tables_run_text(tables, key, value);
}

static const char *exit_reason(const struct run *run, enum exit_status status) {
    switch (status) {
    case EXIT_MEASURED: return "measured";
    case EXIT_IO_ERROR: return "io_error";
    case EXIT_REFUSED: return "tables_missing";
    default: return run->supervisor.reason == STOP_DEADLINE ? "deadline" : "interrupted";
    }
}

static void put_outcome(struct run *run, const char *tables_missing) {
    struct tables *tables = &run->tables;
    const struct failure *outcome = run->failure.status != EXIT_MEASURED ? &run->failure : &run->tables_failure;
    tables_run_integer(tables, "exit_status", outcome->status);
    tables_run_text(tables, "exit_reason", exit_reason(run, outcome->status));
    tables_run_text(tables, "exit_message", outcome->message);
    tables_run_text(tables, "tables_missing", tables_missing);
    put_time(tables, "start", run->start_epoch_ns);
    put_time(tables, "end", epoch_ns());
}

static void put_machine(struct run *run) {
    struct tables *tables = &run->tables;
    struct utsname names;
    tables_run_text(tables, "clock", "CLOCK_MONOTONIC");
    tables_run_integer(tables, "clock_read_ns", run->clock_read_ns);
    if (uname(&names) == 0) {
        tables_run_text(tables, "kernel_release", names.release);
        tables_run_text(tables, "kernel_version", names.version);
        tables_run_text(tables, "machine", names.machine);
        tables_run_text(tables, "hostname", names.nodename);
    }
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (cpus > 0) {
        tables_run_integer(tables, "cpus_online", (uint64_t)cpus);
    }
    if (pages > 0 && page > 0) {
        tables_run_integer(tables, "memory_bytes", (uint64_t)pages * (uint64_t)page);
    }
}

static void put_options(struct run *run) {
    struct tables *tables = &run->tables;
    const struct options *options = run->options;
    put_list(tables, "option_block_sizes_bytes", &options->block_sizes);
    put_list(tables, "option_load_points", &options->load_points);
    tables_run_integer(tables, "option_duration_s", options->duration_s);
    tables_run_integer(tables, "option_warmup_s", options->warmup_s);
    tables_run_integer(tables, "option_file_size_bytes", options->file_bytes);
    tables_run_integer(tables, "option_files", options->files);
    tables_run_text(tables, "option_file_prefix", options->file_prefix);
    tables_run_integer(tables, "option_delay_us", options->delay_us);
    tables_run_text(tables, "option_sync", sync_name(options->sync));
    tables_run_text(tables, "option_direct", options->direct != 0 ? "yes" : "no");
    tables_run_integer(tables, "option_seed", run->seed);
    tables_run_integer(tables, "option_alignment_bytes", run->workspace.alignment_bytes);
    tables_run_integer(tables, "option_background_threads", options->background_threads);
    tables_run_integer(tables, "option_create_dirs", options->create_dirs);
    tables_run_integer(tables, "option_keep_files", options->keep_files);
    if (options->rate_micro_per_s > 0) {
        tables_run_real(tables, "option_rate_per_s", (double)options->rate_micro_per_s / 1e6, 6);
    } else {
        tables_run_text(tables, "option_rate_per_s", "");
    }
    tables_run_integer(tables, "option_deadline_s", run->deadline_s);
    if (options->start_at_ns > 0) {
        char text[48];
        (void)snprintf(text, sizeof text, "%" PRIu64 ".%09" PRIu64, options->start_at_ns / NS_PER_S,
                       options->start_at_ns % NS_PER_S);
        tables_run_text(tables, "option_start_at_epoch_s", text);
    } else {
        tables_run_text(tables, "option_start_at_epoch_s", "");
    }
    tables_run_integer(tables, "option_verify", options->verify);
    tables_run_text(tables, "option_run_id", options->run_id);
    tables_run_integer(tables, "option_share_device", options->share_device);
    tables_run_text(tables, "option_cpus", options->cpu_list != NULL ? options->cpu_list : "");
    tables_run_integer(tables, "option_mlock", options->mlock);
    for (uint32_t i = 0; i < run->workspace.queue_managers; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "directory_%" PRIu32, i + 1);
        tables_run_text(tables, key, run->workspace.directories[i].path);
    }
    tables_run_integer(tables, "steps_planned", run->steps);
    tables_run_integer(tables, "steps_measured", run->steps_measured);
    tables_run_integer(tables, "planned_duration_s", run->planned_s);
}

static void put_initial_write(struct run *run) {
    const struct initial_write *initial_write = &run->workspace.initial_write;
    struct tables *tables = &run->tables;
    tables_run_integer(tables, "initial_write_bytes", initial_write->bytes);
    tables_run_integer(tables, "initial_write_ns", initial_write->elapsed_ns);
    if (initial_write->elapsed_ns > 0) {
        tables_run_real(tables, "initial_write_bytes_per_s",
                        (double)initial_write->bytes * 1e9 / (double)initial_write->elapsed_ns, 0);
    } else {
        tables_run_text(tables, "initial_write_bytes_per_s", "");
    }
    tables_run_integer(tables, "initial_write_slowest_ns", initial_write->slowest_part_ns);
}

static void put_error(struct run *run) {
    const struct failure *failure = &run->failure;
    struct tables *tables = &run->tables;
    if (failure->status == EXIT_IO_ERROR) {
        tables_run_text(tables, "error_call", failure->call);
        if (failure->error > 0) {
            tables_run_integer(tables, "error_errno", (uint64_t)failure->error);
        } else {
            tables_run_text(tables, "error_errno", "");
        }
        tables_run_text(tables, "error_errno_name", failure_error_name(failure->error));
        tables_run_text(tables, "error_message", failure_error_text(failure->error));
        tables_run_text(tables, "error_file", failure->file);
        tables_run_integer(tables, "error_offset_bytes", failure->offset_bytes);
        tables_run_integer(tables, "error_queue_manager", failure->queue_manager);
        tables_run_integer(tables, "error_block_size_bytes", failure->block_bytes);
        if (failure->write > 0) {
            tables_run_integer(tables, "error_write", failure->write);
        } else {
            tables_run_text(tables, "error_write", "");
        }
    }
    if (run->has_in_flight) {
        tables_run_integer(tables, "in_flight_age_ns", run->in_flight.latency_ns);
        tables_run_text(tables, "in_flight_file", run->in_flight_file);
        tables_run_integer(tables, "in_flight_offset_bytes", run->in_flight.offset_bytes);
        tables_run_integer(tables, "in_flight_queue_manager", run->in_flight.queue_manager);
    }
    for (uint32_t i = 0; i < run->warnings_count; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "warning_%" PRIu32, i + 1);
        tables_run_text(tables, key, run->warnings[i]);
    }
}

static void put_verify(struct run *run) {
    struct tables *tables = &run->tables;
    if (!run->options->verify) {
        return;
    }
    tables_run_integer(tables, "verify_blocks", run->verified_blocks);
    tables_run_integer(tables, "verify_mismatches", run->verify_mismatches);
    for (uint64_t i = 0; i < run->verify.mismatches && i < VERIFY_MISMATCHES_KEPT; i++) {
        const struct mismatch *mismatch = &run->verify.kept[i];
        char key[48], path[PATH_MAX], value[PATH_MAX + 32];
        workspace_file_path(&run->workspace, mismatch->queue_manager, mismatch->file, path);
        (void)snprintf(key, sizeof key, "verify_mismatch_%" PRIu64, i + 1);
        (void)snprintf(value, sizeof value, "%" PRIu64 " %s", mismatch->offset_bytes, path);
        tables_run_text(tables, key, value);
    }
}

// Facts that sysfs gives as text are put as they are.
static void put_device(struct tables *tables, const char *prefix, const struct device_facts *facts) {
    const struct { const char *name, *value; } rows[] = {
        {"name", facts->name}, {"model", facts->model}, {"scheduler", facts->scheduler},
        {"write_cache", facts->write_cache}, {"rotational", facts->rotational}, {"nomerges", facts->nomerges},
        {"wbt_lat_us", facts->wbt_lat_us}, {"logical_block_bytes", facts->logical_block_bytes},
        {"physical_block_bytes", facts->physical_block_bytes}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "%s_%s", prefix, rows[i].name);
        tables_run_text(tables, key, rows[i].value);
    }
}

static void put_nfs(struct tables *tables, const struct mount *mount) {
    static const struct { const char *key, *option; } rows[] = {
        {"nfs_server_address", "addr"}, {"nfs_version", "vers"}, {"nfs_wsize_bytes", "wsize"}, {"nfs_protocol", "proto"}};
    for (size_t i = 0; strncmp(mount->type, "nfs", 3) == 0 && i < sizeof rows / sizeof rows[0]; i++) {
        char value[128] = "";
        (void)parse_mount_option(mount->super_options, rows[i].option, value, sizeof value);
        tables_run_text(tables, rows[i].key, value);
    }
}

static void put_backing(struct run *run) {
    char text[BACKING_DISKS_MAX * 24] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < run->backing.disks_count; i++) {
        const struct block_number *disk = &run->backing.disks[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu32 ":%" PRIu32, i > 0 ? " " : "", disk->major, disk->minor);
    }
    tables_run_text(&run->tables, "backing_filesystem_type", run->backing.type);
    tables_run_text(&run->tables, "backing_unknown", run->backing.unknown != NULL ? run->backing.unknown : "");
    tables_run_text(&run->tables, "backing_disks", text);
    tables_run_text(&run->tables, "device_shared_with", run->lock.others);
}

static void put_identity(struct run *run) {
    struct tables *tables = &run->tables;
    const struct identity *identity = &run->identity;
    const struct mount *mount = &identity->mount;
    char text[2 * MOUNT_FIELD_BYTES + 2] = "";
    tables_run_text(tables, "clock_source", identity->clock_source);
    tables_run_text(tables, "filesystem_type", mount->type);
    tables_run_integer(tables, "filesystem_size_bytes", run->workspace.size_bytes);
    tables_run_integer(tables, "filesystem_free_bytes", run->workspace.free_bytes);
    tables_run_text(tables, "mount_point", mount->point);
    tables_run_text(tables, "mount_source", mount->source);
    if (mount->id > 0) {
        (void)snprintf(text, sizeof text, "%s,%s", mount->options, mount->super_options);
    }
    tables_run_text(tables, "mount_options", text);
    put_nfs(tables, mount);
    text[0] = '\0';
    if (identity->number.major > 0) {
        (void)snprintf(text, sizeof text, "%" PRIu32 ":%" PRIu32, identity->number.major, identity->number.minor);
    }
    tables_run_text(tables, "device_number", text);
    put_device(tables, "device", &identity->device);
    put_device(tables, "device_member", &identity->member);
    tables_run_text(tables, "device_stack", identity->stack.text);
    if (run->direct_io_alignment_bytes > 0) {
        tables_run_integer(tables, "direct_io_alignment_bytes", run->direct_io_alignment_bytes);
    } else {
        tables_run_text(tables, "direct_io_alignment_bytes", "");
    }
}

static void put_counter(struct tables *tables, const char *key, const struct disturbance *disturbance, enum counter counter,
                        uint64_t unit) {
    if (disturbance->sum.known[counter]) {
        tables_run_integer(tables, key, disturbance->sum.values[counter] * unit);
    } else {
        tables_run_text(tables, key, "");
    }
}

static void put_foreign(struct run *run) {
    struct tables *tables = &run->tables;
    const struct disturbance *disturbance = &run->disturbance;
    uint64_t foreign = 0;
    if (!disturbance_foreign_bytes(disturbance, &foreign)) {
        tables_run_text(tables, "foreign_io_bytes", "");
        tables_run_text(tables, "foreign_io_share", "");
        return;
    }
    double all = (double)foreign + (double)disturbance->own_device_bytes;
    tables_run_integer(tables, "foreign_io_bytes", foreign);
    tables_run_real(tables, "foreign_io_share", all > 0 ? (double)foreign / all : NAN, 6);
}

static void put_disturbance(struct run *run) {
    struct tables *tables = &run->tables;
    const struct disturbance *disturbance = &run->disturbance;
    bool threads = disturbance->threads_known && disturbance->writers_elapsed_ns > 0;
    tables_run_real(tables, "cpu_steal_share", disturbance_share(disturbance, COUNTER_CPU_STEAL, COUNTER_CPU_TOTAL), 6);
    tables_run_real(tables, "cpu_idle_share", disturbance_share(disturbance, COUNTER_CPU_IDLE, COUNTER_CPU_TOTAL), 6);
    tables_run_real(tables, "psi_cpu_some_share", disturbance_time_share(disturbance, COUNTER_PSI_CPU), 6);
    tables_run_real(tables, "psi_io_some_share", disturbance_time_share(disturbance, COUNTER_PSI_IO), 6);
    tables_run_real(tables, "psi_memory_some_share", disturbance_time_share(disturbance, COUNTER_PSI_MEMORY), 6);
    // The kernel's count begins before the first write, when the writers wake up: on a crowded host it can exceed the run.
    double waited = threads ? (double)disturbance->run_queue_wait_ns / (double)disturbance->writers_elapsed_ns : NAN;
    tables_run_real(tables, "run_queue_wait_share", waited > 1 ? 1 : waited, 6);
    if (threads) {
        tables_run_integer(tables, "involuntary_context_switches", disturbance->involuntary_switches);
    } else {
        tables_run_text(tables, "involuntary_context_switches", "");
    }
    tables_run_integer(tables, "oversleep_max_ns", run->oversleep_max_ns);
    tables_run_integer(tables, "oversleep_max_step", run->oversleep_max_step);
    put_counter(tables, "device_read_bytes", disturbance, COUNTER_DEVICE_READ, 1);
    put_counter(tables, "device_written_bytes", disturbance, COUNTER_DEVICE_WRITTEN, 1);
    tables_run_integer(tables, "own_written_bytes", disturbance->own_bytes);
    put_foreign(run);
    put_counter(tables, "swap_in_pages", disturbance, COUNTER_SWAP_IN, 1);
    put_counter(tables, "swap_out_pages", disturbance, COUNTER_SWAP_OUT, 1);
    put_counter(tables, "major_faults", disturbance, COUNTER_MAJOR_FAULTS, 1);
    put_counter(tables, "paged_in_bytes", disturbance, COUNTER_PAGED_IN, 1024);
    put_counter(tables, "paged_out_bytes", disturbance, COUNTER_PAGED_OUT, 1024);
}

void run_table_write(struct run *run, const char *tables_missing) {
    struct tables *tables = &run->tables;
    tables_run_integer(tables, "schema_version", 1);
    tables_run_text(tables, "program", "logdisk");
    tables_run_text(tables, "version", LOGDISK_VERSION);
    tables_run_text(tables, "source_hash", LOGDISK_SOURCE_HASH);
    put_command_line(run);
    put_outcome(run, tables_missing);
    put_machine(run);
    put_options(run);
    put_initial_write(run);
    put_error(run);
    put_verify(run);
    put_identity(run);
    put_backing(run);
    put_disturbance(run);
}
