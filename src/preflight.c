// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/console.h"
#include "run.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS 0x01021994         // statfs(2)'s TMPFS_MAGIC

bool preflight_surroundings(struct run *run, struct failure *failure) {
    const struct options *options = run->options;
    if (workload_footprint(&run->workload) == UINT64_MAX) {
        return failure_set(failure, EXIT_REFUSED, "--fileSize x --numFiles x --qm: the test files would take more "
                           "than 2^64 bytes; take fewer or smaller files");
    }
    uint64_t planned_ns = options->start_at_ns > 0 ? options->start_at_ns : UINT64_MAX;
    if (run->start_epoch_ns > planned_ns && (run->start_epoch_ns - planned_ns) / NS_PER_S >= run->planned_s) {
        return failure_set(failure, EXIT_REFUSED, "--startAt was %.3f s ago, and the planned end of the run has "
                           "passed as well; name a later instant", (double)(run->start_epoch_ns - planned_ns) / 1e9);
    }
    if (options->mlock && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        return failure_set(failure, EXIT_REFUSED, "--mlock: cannot lock memory: %s; raise the limit (ulimit -l), "
                           "or leave it out", strerror(errno));
    }
    return csvfile_open(&run->csvfile, options->csv_file, failure) &&
           progress_open(&run->progress, options->progress_file, failure) &&
           trace_open(&run->trace, options->trace_file, options->trace_operations, failure) &&
           tables_open(&run->tables, options->tables_dir, options->json,
                       options->workload == WORKLOAD_STREAMS ? TABLES_OF_STREAMS : TABLES_OF_LOG, failure);
}

static bool under_test(const struct workload *workload, dev_t file_system) {
    for (uint32_t i = 0; i < workload->places_count; i++) {
        const struct place *place = &workload->places[i];
        struct statfs system;
        if (place->file_system == file_system && fstatfs(place->fd, &system) == 0 && system.f_type != TMPFS) {
            return true;
        }
    }
    return false;
}

// Returns the number of the file system of a regular file or directory; 0 for anything else.
static dev_t number_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) ? file_system_of(fd) : 0;
}

static bool note_if_under_test(struct run *run, const char *name, dev_t file_system) {
    size_t length = strlen(run->under_test);
    bool noted = file_system != 0 && under_test(&run->workload, file_system);
    if (noted) {
        (void)snprintf(run->under_test + length, sizeof run->under_test - length, "%s%s", length > 0 ? ", " : "", name);
    }
    return noted;
}

// File systems in memory (tmpfs) are ignored, because they do not hang.
static void look_at_own_files(struct run *run) {
    (void)note_if_under_test(run, "--tables", number_of(run->tables.dir_fd));
    (void)note_if_under_test(run, "--csvFile", number_of(run->csvfile.fd));
    run->progress_under_test = note_if_under_test(run, "--progress", run->progress.file_system);
    (void)(run->trace.path != NULL && note_if_under_test(run, "--trace", number_of(run->trace.fd)));
    bool screen = note_if_under_test(run, "standard output", number_of(STDOUT_FILENO));
    run->console_under_test = note_if_under_test(run, "standard error", number_of(STDERR_FILENO)) || screen;
    atomic_store(&run->own_files_known, true);
}

static void look_for_memory(struct run *run) {
    for (uint32_t i = 0; i < run->workload.places_count && run->in_memory[0] == '\0'; i++) {
        const struct place *place = &run->workload.places[i];
        struct statfs system;
        if (fstatfs(place->fd, &system) == 0 && system.f_type == TMPFS) {
            (void)snprintf(run->in_memory, sizeof run->in_memory, "%s", place->path);
        }
    }
}

static void look_at_disks(struct run *run) {
    const struct place *places = run->workload.places;
    identity_gather(&run->identity, places[0].fd);
    for (uint32_t i = 0; i < run->workload.places_count; i++) {
        if (i == 0 || places[i].device != places[i - 1].device) {
            backing_add(&run->backing, places[i].fd);
        }
    }
}

static bool lock_devices(struct run *run, struct failure *failure) {
    device_lock_take(&run->lock, &run->backing.disks, run->options->run_id);
    if (run->lock.others[0] != '\0' && !run->options->share_device) {
        return failure_set(failure, EXIT_REFUSED,
                           "another tester is using the disk under --dir: %s; wait until it has ended, or test at "
                           "the same time with --shareDevice, which both results will show",
                           run->lock.others);
    }
    return true;
}

bool preflight_disks(void *context, struct failure *failure) {
    struct run *run = context;
    look_at_own_files(run);
    look_for_memory(run);
    look_at_disks(run);
    return workers_create(&run->workers, &run->workspace, failure) &&
           lock_devices(run, failure);
}

void preflight_warn(struct run *run) {
    const struct number_list *sizes = &run->workload.writes;
    bool log = run->options->workload != WORKLOAD_STREAMS;
    for (size_t i = 0; i < sizes->count && log; i++) {
        if (sizes->values[i] % 4096 != 0) {
            run_warn(run,
                     "--bsize: %" PRIu64 " is not a multiple of 4096, and MQ writes its log in pages of 4096 bytes",
                     sizes->values[i]);
        }
    }
    if (run->in_memory[0] != '\0') {
        // Not in run.csv, where filesystem_type says it.
        console_complain("warning: %s is in memory (tmpfs), so the figures say nothing about a disk; name a directory "
                         "on the disk",
                         run->in_memory);
    }
    if (run->csvfile.unread) {
        run_warn(run, "nobody reads --csvFile=%s yet; the result will wait there for a reader", run->csvfile.path);
    }
    if (run->lock.others[0] != '\0') {
        run_warn(run, "--shareDevice: another tester is using the disk under --dir, and each disturbs the other: %s",
                 run->lock.others);
    }
    if (run->lock.problem[0] != '\0') {
        run_warn(run, "cannot tell whether another tester is using the disk under --dir: %s", run->lock.problem);
    }
    if (run->under_test[0] != '\0') {
        run_warn(run,
                 "on a file system under test: %s; what hangs there cannot be written until it thaws, and writing it "
                 "disturbs the test; another file system is better",
                 run->under_test);
    }
}
