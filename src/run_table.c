// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform.h"

#include "run_table.h"

#include "clock.h"
#include "version.h"

#include <inttypes.h>
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

static const char *exit_reason(const struct run *run) {
    if (run->failure.status == EXIT_IO_ERROR) {
        return "io_error";
    }
    return run->failure.status == EXIT_MEASURED ? "measured"
           : run->supervisor.reason == STOP_DEADLINE ? "deadline" : "interrupted";
}

static void put_outcome(struct run *run) {
    struct tables *tables = &run->tables;
    tables_run_integer(tables, "exit_status", run->failure.status);
    tables_run_text(tables, "exit_reason", exit_reason(run));
    tables_run_text(tables, "exit_message", run->failure.message);
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

void run_table_write(struct run *run) {
    struct tables *tables = &run->tables;
    tables_run_integer(tables, "schema_version", 1);
    tables_run_text(tables, "program", "logdisk");
    tables_run_text(tables, "version", LOGDISK_VERSION);
    tables_run_text(tables, "source_hash", LOGDISK_SOURCE_HASH);
    put_command_line(run);
    put_outcome(run);
    put_machine(run);
    put_options(run);
    put_initial_write(run);
    put_error(run);
}
