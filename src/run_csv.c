// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "run.h"

#include "base/version.h"

#include <math.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BARE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,./:+@%"

// All keys are listed, whether or not they apply to this run.
static bool applies(const struct csv *csv, bool condition) {
    return condition || csv->form == CSV_LIST;
}

static void put_and_free(struct csv *csv, const char *name, struct text *value) {
    csv_text(csv, name, "text", value->bytes);
    text_free(value);
}

// 0 if the key is being listed.
static void put_numbered(struct csv *csv, const char *prefix, uint32_t number, const char *value) {
    char end[16] = "n";
    if (number > 0) {
        (void)snprintf(end, sizeof end, "%" PRIu32, number);
    }
    csv->prefix = prefix;
    csv_text(csv, end, "text", value);
    csv->prefix = NULL;
}

// The program and its result.

// Arguments that a shell would split are enclosed in single quotes.
static void put_command_line(struct csv *csv, const struct run *run) {
    struct text text = {0};
    for (int i = 0; run->argv[i] != NULL; i++) {
        const char *argument = run->argv[i];
        const char *quote = argument[0] != '\0' && strspn(argument, BARE_LETTERS) == strlen(argument) ? "" : "'";
        text_printf(&text, "%s%s", i > 0 ? " " : "", quote);
        for (; *argument != '\0'; argument++) {
            text_printf(&text, *argument == '\'' ? "'\\''" : "%c", *argument);
        }
        text_printf(&text, "%s", quote);
    }
    put_and_free(csv, "command_line", &text);
}

static void put_outcome(struct csv *csv, const struct run *run) {
    const struct failure *failure = run->failure.status != EXIT_MEASURED ? &run->failure : &run->tables.failure;
    bool early = run->early_end.reason[0] != '\0';
    const char *stopped = early ? run->early_end.reason : run->stop_above.reason;
    const char *const reasons[] = {
        [EXIT_MEASURED] = run->options->check_acknowledged != NULL ? "kept"
                          : early                                  ? "ended_early"
                          : stopped[0] != '\0'                     ? "stopped_above"
                                                                   : "measured",
        [EXIT_LOST] = "lost",
        [EXIT_REFUSED] = "tables_missing",
        [EXIT_IO_ERROR] = "io_error",
        [EXIT_INTERRUPTED] = run->supervisor.reason == STOP_DEADLINE ? "deadline" : "interrupted"};
    csv_integer(csv, "exit_status", "number", failure->status);
    csv_text(csv, "exit_reason", "text", reasons[failure->status]);
    csv_text(csv, "exit_message", "text", failure->status == EXIT_MEASURED ? stopped : failure->message);
    csv_text(csv, "tables_missing", "text", run->tables.missing);
}

static void put_time(struct csv *csv, const char *prefix, uint64_t epoch_ns) {
    struct timespec time = ns_timespec(epoch_ns);
    struct tm parts;
    char epoch_s[48], utc[64] = "";
    (void)snprintf(epoch_s, sizeof epoch_s, "%" PRIu64 ".%06" PRIu64, epoch_ns / NS_PER_S, epoch_ns % NS_PER_S / 1000);
    if (gmtime_r(&time.tv_sec, &parts) != NULL) {
        (void)strftime(utc, sizeof utc, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    csv->prefix = prefix;
    csv_text(csv, "time_epoch_s", "s", epoch_s);
    csv_text(csv, "time_utc", "text", utc);
    csv->prefix = NULL;
}

static void put_program(struct csv *csv, const struct run *run) {
    csv_integer(csv, "schema_version", "number", 1);
    csv_text(csv, "program", "text", "logdisk");
    csv_text(csv, "version", "text", LOGDISK_VERSION);
    csv_text(csv, "source_hash", "text", LOGDISK_SOURCE_HASH);
    csv_integer(csv, "method_version", "number", LOGDISK_METHOD_VERSION);
    put_command_line(csv, run);
    csv_text(csv, "workload", "text", run->workload.name);
    csv_text(csv, "load_unit", "text", run->workload.load_unit);
    csv_text(csv, "step_size", "text", run->workload.step_size);
    put_outcome(csv, run);
    put_time(csv, "start_", run->start_epoch_ns);
    put_time(csv, "end_", run->end_epoch_ns);
    csv_text(csv, "clock", "text", "CLOCK_MONOTONIC");
    csv_text(csv, "clock_source", "text", run->identity.clock_source);
    csv_integer(csv, "clock_read_ns", "ns", run->clock_read_ns);
}

static void put_machine(struct csv *csv) {
    struct utsname names = {0};
    (void)uname(&names);        // cannot fail with a valid pointer
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    csv_text(csv, "kernel_release", "text", names.release);
    csv_text(csv, "kernel_version", "text", names.version);
    csv_text(csv, "machine", "text", names.machine);
    csv_text(csv, "hostname", "text", names.nodename);
    csv_integer_if(csv, "cpus_online", "count", cpus > 0, (uint64_t)cpus);
    csv_integer_if(csv, "memory_bytes", "bytes", pages > 0 && page > 0, (uint64_t)pages * (uint64_t)page);
}

// The options and steps of the run.

static void put_option(void *csv, const char *key, const char *unit, const char *value) {
    csv_text(csv, key, ((struct csv *)csv)->form == CSV_MEMBERS ? "text" : unit, value);  // because some are lists
}

// The thresholds above which over.csv counts the writes of single workers.
static void put_worker_thresholds(struct csv *csv, const struct run *run) {
    struct text list = {0};
    for (size_t i = 0; i < run->options->over_asked.count; i++) {
        text_printf(&list, "%s%" PRIu64, i > 0 ? " " : "", run->options->over_asked.values[i]);
    }
    csv_text(csv, "over_worker_ns", "ns", list.bytes != NULL ? list.bytes : "");
    text_free(&list);
}

static void put_plan(struct csv *csv, const struct run *run) {
    const struct initial_write *written = &run->workspace.initial_write;
    for (uint32_t i = csv->form == CSV_LIST ? 0 : 1; i <= run->workload.places_count; i++) {
        put_numbered(csv, "directory_", i, i > 0 ? run->workload.places[i - 1].path : "");
    }
    for (uint32_t i = csv->form == CSV_LIST ? 0 : 1; i <= run->options->places.count; i++) {
        put_numbered(csv, "place_", i, i > 0 ? run->options->places.values[i - 1] : "");
    }
    for (uint32_t i = csv->form == CSV_LIST ? 0 : 1; i <= run->options->streams.count; i++) {
        put_numbered(csv, "stream_", i, i > 0 ? run->options->streams.values[i - 1] : "");
    }
    for (uint32_t i = csv->form == CSV_LIST ? 0 : 1; i <= run->options->stop_above.count; i++) {
        put_numbered(csv, "stop_above_", i, i > 0 ? run->options->stop_above.values[i - 1] : "");
    }
    for (uint32_t i = csv->form == CSV_LIST ? 0 : 1; i <= run->options->fail_above.count; i++) {
        put_numbered(csv, "fail_above_", i, i > 0 ? run->options->fail_above.values[i - 1] : "");
    }
    if (applies(csv, run->options->fail_above.count > 0)) {
        csv_integer(csv, "fail_odds", "number", run->options->fail_odds);
    }
    if (applies(csv, run->options->pass_after_s > 0)) {
        csv_integer(csv, "pass_after_s", "s", run->options->pass_after_s);
        csv_integer(csv, "pass_odds", "number", run->options->pass_odds);
        csv_text(csv, "steps_kept", "text", run->early_end.kept_steps.bytes);
    }
    put_worker_thresholds(csv, run);
    csv_integer(csv, "steps_planned", "count", run->steps);
    csv_integer(csv, "steps_measured", "count", run->steps_measured);
    csv_integer(csv, "planned_duration_s", "s", run->planned_s);
    csv_integer(csv, "initial_write_bytes", "bytes", written->bytes);
    csv_integer(csv, "initial_write_ns", "ns", written->elapsed_ns);
    csv_real(csv, "initial_write_bytes_per_s", "bytes/s",
             written->elapsed_ns > 0 ? (double)written->bytes * 1e9 / (double)written->elapsed_ns : NAN, 0);
    csv_integer(csv, "initial_write_slowest_ns", "ns", written->slowest_part_ns);
}

static void put_error(struct csv *csv, const struct failure *failure) {
    csv_text(csv, "error_call", "text", failure->call);
    csv_integer_if(csv, "error_errno", "number", failure->error > 0, (uint64_t)failure->error);
    csv_text(csv, "error_errno_name", "text", failure_error_name(failure->error));
    csv_text(csv, "error_message", "text", failure_error_text(failure->error));
    csv_text(csv, "error_file", "text", failure->file);
    csv_integer(csv, "error_offset_bytes", "bytes", failure->offset_bytes);
    csv_integer(csv, "error_worker", "number", failure->queue_manager);
    csv_integer(csv, "error_block_size_bytes", "bytes", failure->block_bytes);
    csv_integer_if(csv, "error_operation_number", "number", failure->write > 0, failure->write);
}

static void put_in_flight(struct csv *csv, const struct run *run) {
    csv_integer(csv, "in_flight_age_ns", "ns", run->in_flight_age_ns);
    csv_text(csv, "in_flight_file", "text", run->in_flight.file);
    csv_integer(csv, "in_flight_offset_bytes", "bytes", run->in_flight.offset_bytes);
    csv_integer(csv, "in_flight_worker", "number", run->in_flight.place);
}

static void put_verified(struct csv *csv, const struct run *run) {
    csv_integer(csv, "verify_blocks", "count", run->verify.blocks);
    csv_integer(csv, "verify_mismatches", "count", run->verify.mismatches);
    for (uint32_t i = csv->form == CSV_LIST ? 0 : 1; i <= run->verify.mismatches && i <= VERIFY_MISMATCHES_KEPT; i++) {
        const struct mismatch *mismatch = &run->verify.kept[i > 0 ? i - 1 : 0];
        char path[PATH_MAX] = "", value[PATH_MAX + 24];
        if (i > 0) {
            workspace_file_path(&run->workspace, mismatch->worker, mismatch->file, path);
        }
        (void)snprintf(value, sizeof value, "%" PRIu64 " %s", mismatch->offset_bytes, path);
        put_numbered(csv, "verify_mismatch_", i, value);
    }
}

static bool threads_are_known(const struct disturbance *disturbance) {
    return disturbance->threads_known && disturbance->writers_elapsed_ns > 0;
}

// The kernel starts counting when the writers wake up, before the first write. On a crowded host, the count can
// therefore exceed the duration of the run.
static double run_queue_wait_share(const struct disturbance *disturbance) {
    double waited = (double)disturbance->run_queue_wait_ns / (double)disturbance->writers_elapsed_ns;
    return !threads_are_known(disturbance) ? NAN : waited > 1 ? 1 : waited;
}

static double foreign_io_share(const struct disturbance *disturbance) {
    double foreign = disturbance_foreign_bytes(disturbance);
    double all = foreign + (double)(disturbance->own_device_bytes + disturbance->own_device_read_bytes);
    return all > 0 ? foreign / all : NAN;
}

// The step that ended early, and the disturbance during this step alone. The shares of all steps together could hide
// it.
static void put_early_end(struct csv *csv, const struct run *run) {
    const struct early_end *early_end = &run->early_end;
    const struct disturbance step = disturbance_since(&run->disturbance, &run->before_step);
    csv->prefix = "ended_early_";
    csv_integer(csv, "step", "number", early_end->step);
    csv_text(csv, "limit", "text", early_end->broken != NULL ? early_end->broken->given : "");
    csv_real(csv, "cpu_steal_share", "ratio", disturbance_share(&step, COUNTER_CPU_STEAL, COUNTER_CPU_TOTAL), 6);
    csv_real(csv, "psi_cpu_some_share", "ratio", disturbance_time_share(&step, COUNTER_PSI_CPU), 6);
    csv_real(csv, "run_queue_wait_share", "ratio", run_queue_wait_share(&step), 6);
    csv_real(csv, "cpu_throttled_share", "ratio", disturbance_throttled_share(&step), 6);
    csv_real(csv, "foreign_io_share", "ratio", foreign_io_share(&step), 6);
    csv->prefix = NULL;
}

static void put_events(struct csv *csv, const struct run *run) {
    if (applies(csv, run->failure.status == EXIT_IO_ERROR)) {
        put_error(csv, &run->failure);
    }
    if (applies(csv, run->in_flight.call != NULL)) {
        put_in_flight(csv, run);
    }
    for (uint32_t i = csv->form == CSV_LIST ? 0 : 1; i <= run->warnings_count; i++) {
        put_numbered(csv, "warning_", i, i > 0 ? run->warnings[i - 1] : "");
    }
    if (applies(csv, run->trace.path != NULL)) {
        csv_integer(csv, "trace_operations_dropped", "count", run->trace.dropped);
    }
    if (applies(csv, run->early_end.broken != NULL)) {
        put_early_end(csv, run);
    }
    if (applies(csv, run->options->verify)) {
        put_verified(csv, run);
    }
    if (applies(csv, run->options->check_acknowledged != NULL)) {
        check_put(csv, &run->check);
    }
}

// The host and the storage.

static void
put_nfs(struct csv *csv, const char *name, const char *unit, const struct mount *mount, const char *option) {
    char value[128] = "";
    if (applies(csv, strncmp(mount->type, "nfs", 3) == 0)) {
        (void)parse_mount_option(mount->super_options, option, value, sizeof value);
        csv_text(csv, name, unit, value);
    }
}

static void put_numbers(struct csv *csv, const char *name, const struct block_number *numbers, uint32_t count) {
    struct text text = {0};
    for (uint32_t i = 0; i < count; i++) {
        text_printf(&text, "%s%" PRIu32 ":%" PRIu32, i > 0 ? " " : "", numbers[i].major, numbers[i].minor);
    }
    put_and_free(csv, name, &text);
}

static void put_device(struct csv *csv, const char *prefix, const struct device *device) {
    csv->prefix = prefix;
    csv_text(csv, "name", "text", device->name);
    for (int i = 0; i < DEVICE_FACTS; i++) {
        csv_text(csv, device_facts[i].name, device_facts[i].unit, device->facts[i]);
    }
    csv->prefix = NULL;
}

static void put_sync_probe(struct csv *csv, const struct sync_probe *probe) {
    bool known = probe->plain_p50_ns > 0 && probe->sync_p50_ns > 0;
    csv_integer_if(csv, "sync_probe_plain_p50_ns", "ns", known, probe->plain_p50_ns);
    csv_integer_if(csv, "sync_probe_sync_p50_ns", "ns", known, probe->sync_p50_ns);
    csv_real(csv, "sync_probe_ratio", "ratio", known ? (double)probe->sync_p50_ns / (double)probe->plain_p50_ns : NAN,
             3);
}

static void put_storage(struct csv *csv, const struct run *run) {
    const struct identity *identity = &run->identity;
    const struct mount *mount = &identity->mount;
    struct text mount_options = {0};
    if (mount->id > 0) {
        text_printf(&mount_options, "%s,%s", mount->options, mount->super_options);
    }
    csv_text(csv, "filesystem_type", "text", mount->type);
    bool sized = run->workspace.size_bytes > 0;         // a block device under test has no file system
    csv_integer_if(csv, "filesystem_size_bytes", "bytes", sized, run->workspace.size_bytes);
    csv_integer_if(csv, "filesystem_free_bytes", "bytes", sized, run->workspace.free_bytes);
    csv_text(csv, "mount_point", "text", mount->point);
    csv_text(csv, "mount_source", "text", mount->source);
    put_and_free(csv, "mount_options", &mount_options);
    put_nfs(csv, "nfs_server_address", "text", mount, "addr");
    put_nfs(csv, "nfs_version", "text", mount, "vers");
    put_nfs(csv, "nfs_wsize_bytes", "bytes", mount, "wsize");
    put_nfs(csv, "nfs_protocol", "text", mount, "proto");
    put_numbers(csv, "device_number", &identity->number, identity->number.major > 0);
    put_device(csv, "device_", &identity->device);
    put_device(csv, "device_member_", &identity->member);
    csv_text(csv, "device_stack", "text", identity->stack.text);
    put_sync_probe(csv, &run->workspace.sync_probe);
    csv_integer_if(csv, "direct_io_alignment_bytes", "bytes", run->direct_io_alignment_bytes > 0,
                   run->direct_io_alignment_bytes);
    csv_text(csv, "backing_filesystem_type", "text", run->backing.type);
    csv_text(csv, "backing_unknown", "text", run->backing.unknown);
    put_numbers(csv, "backing_disks", run->backing.disks.numbers, run->backing.disks.count);
    csv_text(csv, "device_shared_with", "text", run->lock.others);
}

// Other activity on the host.

static void put_disturbance(struct csv *csv, const struct run *run) {
    const struct disturbance *disturbance = &run->disturbance;
    csv_real(csv, "cpu_steal_share", "ratio", disturbance_share(disturbance, COUNTER_CPU_STEAL, COUNTER_CPU_TOTAL), 6);
    csv_real(csv, "cpu_idle_share", "ratio", disturbance_share(disturbance, COUNTER_CPU_IDLE, COUNTER_CPU_TOTAL), 6);
    csv_real(csv, "psi_cpu_some_share", "ratio", disturbance_time_share(disturbance, COUNTER_PSI_CPU), 6);
    csv_real(csv, "psi_io_some_share", "ratio", disturbance_time_share(disturbance, COUNTER_PSI_IO), 6);
    csv_real(csv, "psi_memory_some_share", "ratio", disturbance_time_share(disturbance, COUNTER_PSI_MEMORY), 6);
    csv_real(csv, "run_queue_wait_share", "ratio", run_queue_wait_share(disturbance), 6);
    csv_integer_if(csv, "involuntary_context_switches", "count", threads_are_known(disturbance),
                   disturbance->involuntary_switches);
    csv_real(csv, "cpu_throttled_ns", "ns", disturbance_throttled_ns(disturbance), 0);
    csv_real(csv, "cpu_throttled_share", "ratio", disturbance_throttled_share(disturbance), 6);
    csv_integer(csv, "oversleep_max_ns", "ns", run->oversleep_max_ns);
    csv_integer(csv, "oversleep_max_step", "number", run->oversleep_max_step);
    csv_real(csv, "device_read_bytes", "bytes", disturbance_sum(disturbance, COUNTER_DEVICE_READ), 0);
    csv_real(csv, "device_written_bytes", "bytes", disturbance_sum(disturbance, COUNTER_DEVICE_WRITTEN), 0);
    csv_integer(csv, "own_written_bytes", "bytes", disturbance->own_bytes);
    csv_real(csv, "foreign_io_bytes", "bytes", disturbance_foreign_bytes(disturbance), 0);
    csv_real(csv, "foreign_io_share", "ratio", foreign_io_share(disturbance), 6);
    csv_real(csv, "swap_in_pages", "count", disturbance_sum(disturbance, COUNTER_SWAP_IN), 0);
    csv_real(csv, "swap_out_pages", "count", disturbance_sum(disturbance, COUNTER_SWAP_OUT), 0);
    csv_real(csv, "major_faults", "count", disturbance_sum(disturbance, COUNTER_MAJOR_FAULTS), 0);
    csv_real(csv, "paged_in_bytes", "bytes", disturbance_sum(disturbance, COUNTER_PAGED_IN), 0);
    csv_real(csv, "paged_out_bytes", "bytes", disturbance_sum(disturbance, COUNTER_PAGED_OUT), 0);
}

void run_csv_put(struct csv *csv, const struct run *run) {
    csv->table = "run.csv";
    put_program(csv, run);
    put_machine(csv);
    options_each(run->options, put_option, csv);
    put_plan(csv, run);
    put_events(csv, run);
    put_storage(csv, run);
    put_disturbance(csv, run);
    csv_integer(csv, "complete", "0/1", run->tables.missing[0] == '\0');
}
