// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// logdisk: measures what a disk takes to write IBM MQ's recovery log. The course of a run, from top to bottom.
#include "base/platform.h"

#include "host/cpu_load.h"
#include "base/clock.h"
#include "measure/crew.h"
#include "workload/test_file.h"
#include "output/console.h"
#include "run.h"
#include "output/run_csv.h"
#include "step.h"
#include "step_room.h"
#include "base/units.h"
#include "base/version.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEADLINE_SPARE_S 60
#define RESULTS_PATIENCE_NS (30 * NS_PER_S)             // for a slow disk, once the run is to end
#define OUTPUT_PATIENCE_NS (3 * NS_PER_S)
#define STEP_GAP_S 2                                    // between planned steps
#define PASS_BYTES_PER_S (UINT64_C(32) << 20)           // what plans allow for preformatting and for reading back

// Two reads of the clock lie within every latency; this is what one costs.
static uint64_t measure_clock_read_ns(void) {
    enum { READS = 1000 };
    uint64_t start = now_ns();
    for (int i = 0; i < READS; i++) {
        (void)now_ns();
    }
    return (now_ns() - start) / READS;
}

static uint64_t choose_seed(const struct options *options) {
    uint64_t seed = options->seed;
    if (!options->seed_given) {
        seed = epoch_ns() ^ now_ns() << 20 ^ (uint64_t)getpid() << 44;
        FILE *random = fopen("/dev/urandom", "r");
        if (random != NULL) {
            (void)!fread(&seed, sizeof seed, 1, random);
            (void)fclose(random);
        }
    }
    return seed;
}

static void plan_run(struct run *run) {
    const struct options *options = run->options;
    run->start_ns = now_ns();
    run->start_epoch_ns = epoch_ns();
    run->seed = choose_seed(options);
    run->clock_read_ns = measure_clock_read_ns();
    run->steps = (uint32_t)(options->block_sizes.count * options->load_points.count);
    // Whoever starts several hosts at one instant with the same options gets the same plan on each.
    uint64_t footprint = 0;
    (void)workspace_footprint(options, &footprint);     // check_surroundings refuses
    uint64_t verify_s = options->verify ? footprint / PASS_BYTES_PER_S : 0;
    run->step_gap_s = options->start_at_ns > 0 ? STEP_GAP_S + verify_s : 0;
    run->planned_s = run->steps * (options->warmup_s + options->duration_s + run->step_gap_s) - run->step_gap_s;
    run->deadline_s = options->deadline_s;
    if (run->deadline_s == 0) {
        uint64_t passes_s = footprint / PASS_BYTES_PER_S + run->steps * verify_s;
        uint64_t wait_ns = options->start_at_ns > run->start_epoch_ns ? options->start_at_ns - run->start_epoch_ns : 0;
        run->deadline_s = 2 * run->planned_s + DEADLINE_SPARE_S + passes_s + wait_ns / NS_PER_S;
    }
    run->screen.terminal = isatty(STDOUT_FILENO) == 1;
    run->progress.path = options->progress_file;
}

static void warn_of_block_sizes(struct run *run) {
    const struct number_list *sizes = &run->options->block_sizes;
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->values[i] % 4096 != 0) {
            run_warn(run, "--bsize: %" PRIu64 " is no multiple of 4096, and MQ writes its log in pages of 4096 bytes",
                     sizes->values[i]);
        }
    }
}

static bool cpus_allowed(const struct options *options) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return false;
    }
    for (unsigned cpu = 0; cpu < OPTIONS_CPUS_MAX; cpu++) {
        if (cpu_in_list(options, cpu) && (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed))) {
            return false;
        }
    }
    return true;
}

// The kernel has the last word: seccomp may forbid pinning, and a processor may be offline. 0 or errno.
static int try_cpus(const struct options *options, unsigned *cpu) {
    cpu_set_t all, one;
    int error = sched_getaffinity(0, sizeof all, &all) == 0 ? 0 : errno;
    for (*cpu = 0; error == 0 && *cpu < OPTIONS_CPUS_MAX; (*cpu)++) {
        CPU_ZERO(&one);
        CPU_SET((size_t)*cpu, &one);
        if (cpu_in_list(options, *cpu) && sched_setaffinity(0, sizeof one, &one) != 0) {
            error = errno;
            break;
        }
    }
    return error != 0 || sched_setaffinity(0, sizeof all, &all) == 0 ? error : errno;
}

// Of results.csv: a row for each queue manager of a step, and one for all.
static uint64_t result_rows(const struct run *run) {
    const struct options *options = run->options;
    uint64_t rows = 0;
    for (size_t i = 0; i < options->load_points.count; i++) {
        rows += options->block_sizes.count * (options->load_points.values[i] + 1);
    }
    return rows;
}

// Everything that can be refused without touching the file system under test.
static bool check_surroundings(struct run *run, struct failure *failure) {
    const struct options *options = run->options;
    uint64_t footprint;
    if (!workspace_footprint(options, &footprint)) {
        return failure_set(failure, EXIT_REFUSED, "--fileSize x --numFiles x --qm: the test files would take more "
                           "than 2^64 bytes; take fewer or smaller files");
    }
    bool passed = options->start_at_ns > 0 && options->start_at_ns <= run->start_epoch_ns;
    if (passed && (run->start_epoch_ns - options->start_at_ns) / NS_PER_S >= run->planned_s) {
        return failure_set(failure, EXIT_REFUSED, "--startAt has passed %.3f s ago, and the run it planned with it; "
                           "name a later instant", (double)(run->start_epoch_ns - options->start_at_ns) / 1e9);
    }
    if (options->mlock && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        return failure_set(failure, EXIT_REFUSED, "--mlock: cannot lock memory: %s; raise the limit (ulimit -l), "
                           "or leave it out", strerror(errno));
    }
    if (options->cpu_list != NULL && !cpus_allowed(options)) {
        return failure_set(failure, EXIT_REFUSED, "--cpu=%s names a processor that this process may not use; name "
                           "some of those that it may (nproc, taskset -p)", options->cpu_list);
    }
    unsigned cpu;
    int error = options->cpu_list != NULL ? try_cpus(options, &cpu) : 0;
    if (error != 0) {
        return failure_set(failure, EXIT_REFUSED, "--cpu=%s: the kernel does not pin to processor %u: %s; name others, or "
                           "leave it out", options->cpu_list, cpu, strerror(error));
    }
    return csvfile_open(&run->csvfile, options->csv_file, failure) &&
           (options->progress_file == NULL || progress_check(options->progress_file, failure)) &&
           tables_open(&run->tables, options->tables_dir, result_rows(run), failure);
}

static void preparing_tick(void *argument) {
    struct run *run = argument;
    run->progress.state = "preparing";
    run->progress.steps = run->steps;
    run->progress.elapsed_s = (now_ns() - run->start_ns) / NS_PER_S;
    run->progress.remaining_s = run->planned_s;
    progress_write(&run->progress);
}

// Keeps what hung while the files were made.
static void note_hanging_preparation(struct run *run) {
    static struct activity activity;
    run->thread_hangs = true;
    if (workspace_activity(&run->workspace, &activity)) {
        run->has_in_flight = true;
        run->in_flight = (struct stall){.latency_ns = now_ns() - activity.start_ns, .in_flight = true,
                                        .start_ns = activity.start_ns, .offset_bytes = activity.offset_bytes,
                                        .queue_manager = activity.queue_manager};
        (void)snprintf(run->in_flight_call, sizeof run->in_flight_call, "%s", activity.call);
        (void)snprintf(run->in_flight_file, sizeof run->in_flight_file, "%s", activity.file);
    }
}

static void prepare(void *argument) {
    struct run *run = argument;
    workspace_prepare(&run->workspace);
    if (run->workspace.failure.status == EXIT_MEASURED && run->workspace.directories[0].fd >= 0) {
        run->direct_io_alignment_bytes = log_file_told_alignment(run->workspace.directories[0].files[0]);
        places_shared(run->options, &run->tables, run->csvfile.fd, &run->workspace, run->shared_places);
    }
}

static void look_at_disks(struct run *run) {
    const struct log_directory *directories = run->workspace.directories;
    identity_gather(&run->identity, directories[0].fd);
    for (uint32_t i = 0; i < run->workspace.queue_managers; i++) {
        bool seen = false;
        for (uint32_t before = 0; before < i; before++) {
            seen |= directories[before].device == directories[i].device;
        }
        if (!seen) {
            backing_add(&run->backing, directories[i].fd);
        }
    }
}

static bool lock_devices(struct run *run, struct failure *failure) {
    device_lock_take(&run->lock, &run->backing, run->options->run_id);
    if (run->lock.others[0] != '\0' && !run->options->share_device) {
        return failure_set(failure, EXIT_REFUSED, "another tester is at the disk under --dir: %s; wait until it has ended, or "
                           "test beside it by --shareDevice, which will show in both results", run->lock.others);
    }
    return true;
}

static void warn_of_others(struct run *run) {
    if (run->lock.others[0] != '\0') {
        run_warn(run, "--shareDevice: another tester is at the disk under --dir, and each disturbs the other: %s",
                 run->lock.others);
    }
    if (run->lock.problem[0] != '\0') {
        run_warn(run, "cannot tell whether another tester is at the disk under --dir: %s", run->lock.problem);
    }
}

// While all directories have their names, and before there is anything to clear away.
static bool before_files(void *argument, struct failure *failure) {
    struct run *run = argument;
    look_at_disks(run);
    return step_room(run, failure) && lock_devices(run, failure);
}

static bool prepare_files(struct run *run) {
    if (!workspace_init(&run->workspace, run->options, run->seed)) {
        return failure_set(&run->failure, EXIT_REFUSED, "no memory");
    }
    if (!crew_try((uint32_t)run->options->queue_managers, &run->failure)) {
        return false;
    }
    run->workspace.before_files = before_files;
    run->workspace.before_files_context = run;
    output_print("Creating files...\n");
    output_flush();
    preparing_tick(run);
    if (!supervisor_run(&run->supervisor, prepare, run, &run->workspace.stop, preparing_tick, run, NS_PER_S)) {
        note_hanging_preparation(run);
    } else if (run->workspace.failure.status != EXIT_MEASURED) {
        run->failure = run->workspace.failure;
        return false;
    }
    if (run->supervisor.reason != STOP_NONE) {
        run_note_stop(run);
        return false;
    }
    warn_of_others(run);
    if (run->shared_places[0] != '\0') {
        run_warn(run, "on a file system under test: %s; what hangs there cannot be written until it thaws, and writing it "
                 "disturbs the test; another file system is better", run->shared_places);
    }
    screen_initial_write(&run->workspace.initial_write);
    disturbance_start(&run->disturbance, run->identity.disk.major, run->identity.disk.minor);
    return true;
}

// The clock may have been stepped while files were made: the planned start is taken over as late as can be.
static void plan_start(struct run *run) {
    if (run->options->start_at_ns > 0) {
        uint64_t epoch = epoch_ns(), now = now_ns();
        uint64_t late_ns = epoch > run->options->start_at_ns ? epoch - run->options->start_at_ns : 0;
        bool before_boot = late_ns + NS_PER_S > now;                // the monotonic clock has no such instant
        run->first_begin_ns = late_ns == 0 ? now + (run->options->start_at_ns - epoch) : before_boot ? now : now - late_ns;
    }
}

static void run_steps(struct run *run) {
    const struct options *options = run->options;
    uint32_t number = 0;
    plan_start(run);
    for (size_t point = 0; point < options->load_points.count; point++) {
        for (size_t size = 0; size < options->block_sizes.count; size++) {
            if (!step_run(run, ++number, options->block_sizes.values[size],
                          (uint32_t)options->load_points.values[point])) {
                return;
            }
        }
    }
}

// Tables first: whoever waits for the run waits for them. In a thread, since their disks may hang.
static void write_results(void *argument) {
    struct run *run = argument;
    char missing[TABLES_NAMES_BYTES];
    int error;
    bool complete = tables_commit(&run->tables, missing, &error);
    if (!complete) {
        (void)failure_set(&run->tables_failure, EXIT_REFUSED, "--tables: cannot write %s: %s", missing, strerror(error));
    }
    run_table_write(run, missing);
    run->results_written = tables_commit_run(&run->tables, complete) && complete;
    if (run->csvfile.path != NULL && run->steps_measured > 0) {
        run->results_written &= csvfile_write(&run->csvfile, run->options->queue_managers > 1, run->rows, run->steps_measured);
    } else {
        csvfile_discard(&run->csvfile);             // nothing measured replaces no earlier result
    }
}

static enum exit_status finish(struct run *run) {
    bool written = supervisor_finish(&run->supervisor, write_results, run, RESULTS_PATIENCE_NS);
    if (!written) {
        run->thread_hangs = true;
        output_complain(run->supervisor.hurried
                            ? "the results were not written: another signal came while they were being written"
                            : "the results cannot be written: the file system of --tables or --csvFile hangs");
    }
    if (written && run->failure.status == EXIT_MEASURED) {
        run->failure = run->tables_failure;
    }
    written = written && run->results_written;
    run->progress.state = "finished";
    run->progress.error = run->failure.status != EXIT_MEASURED;
    run->progress.remaining_s = 0;
    progress_write(&run->progress);
    return run->failure.status == EXIT_MEASURED && !written ? EXIT_REFUSED : run->failure.status;
}

// Directories that had to wait for it; without any the files are closed when the process ends.
static void close_workspace(struct run *run) {
    if (run->thread_hangs || workspace_left_behind(&run->workspace) == NULL) {
        return;
    }
    run->thread_hangs = !supervisor_finish(&run->supervisor, workspace_close, &run->workspace, RESULTS_PATIENCE_NS);
    const char *left = workspace_left_behind(&run->workspace);
    if (left != NULL) {
        output_complain("--createDirs: cannot remove %s, which this run made; remove it by hand", left);
    }
}

// What can be refused before the first byte; in a thread, since it looks at disks that may hang.
static void check(void *argument) {
    struct run *run = argument;
    run->checked = check_surroundings(run, &run->check_failure);
}

static bool supervise_check(struct run *run) {
    atomic_bool stop = false;
    if (!supervisor_run(&run->supervisor, check, run, &stop, NULL, NULL, 0)) {
        run->thread_hangs = true;
        run_note_stop(run);
        return false;
    }
    if (!run->checked) {
        run->failure = run->check_failure;
        csvfile_discard(&run->csvfile);
    }
    return run->checked;
}

static void discard_results(struct run *run) {
    tables_discard(&run->tables);
    csvfile_discard(&run->csvfile);
}

static enum exit_status measure(struct run *run) {
    bool countable = run->deadline_s < (UINT64_MAX - run->start_ns) / NS_PER_S;
    run->supervisor.deadline_ns = countable ? run->start_ns + run->deadline_s * NS_PER_S : UINT64_MAX;
    screen_options(&run->screen, run->options);
    if (!supervise_check(run)) {
        return run->failure.status;
    }
    if (!progress_start(&run->progress)) {
        discard_results(run);
        (void)failure_set(&run->failure, EXIT_REFUSED, "--progress: cannot make a thread for it");
        return EXIT_REFUSED;
    }
    warn_of_block_sizes(run);
    if (run->csvfile.unread) {
        run_warn(run, "nobody reads --csvFile=%s yet; the result will wait there for a reader", run->csvfile.path);
    }
    if (!background_start(run->options->background_threads)) {
        run_warn(run, "--backgroundThreads: not all threads could be made");
    }
    if (prepare_files(run)) {
        run_steps(run);
    }
    enum exit_status status = EXIT_REFUSED;
    if (run->failure.status == EXIT_REFUSED) {
        discard_results(run);
    } else {
        status = finish(run);
    }
    close_workspace(run);
    return status;
}

// Standard output is a result that could not be written where there is no other. A reader that has gone (a pipe into
// head) is no complaint worth where there is.
static enum exit_status judge_screen(const struct run *run, bool idle, enum exit_status status) {
    bool alone = run->options->tables_dir == NULL && (run->csvfile.path == NULL || run->csvfile.on_screen);
    int error = output_error();
    if (idle && (error == 0 || (error == EPIPE && !alone))) {
        return status;
    }
    output_complain("cannot write to standard output: %s", idle ? strerror(error) : "nothing takes it");
    return status == EXIT_MEASURED && alone ? EXIT_REFUSED : status;
}

// The progress file is a convenience: nobody waits long for it.
static bool progress_ended(void *until_ns) {
    return progress_idle() || now_ns() >= *(const uint64_t *)until_ns;
}

// Says what has to be said, and waits for what is still being written, where that does not hang.
static enum exit_status close_outputs(struct run *run, enum exit_status status) {
    struct supervisor *supervisor = &run->supervisor;
    uint64_t until_ns = now_ns() + OUTPUT_PATIENCE_NS;
    output_flush();
    bool idle = supervisor_await(supervisor, output_screen_idle, NULL, OUTPUT_PATIENCE_NS);
    status = judge_screen(run, idle, status);
    if (run->failure.status != EXIT_MEASURED) {
        output_complain("%s", run->failure.message);
    }
    if (supervisor_await(supervisor, output_complaints_idle, NULL, OUTPUT_PATIENCE_NS) && idle) {
        output_end();
    } else {
        run->thread_hangs = true;
    }
    (void)supervisor_await(supervisor, progress_ended, &until_ns, OUTPUT_PATIENCE_NS);
    if (progress_idle()) {
        progress_end();
    } else {
        run->thread_hangs = true;
    }
    return status;
}

// Where a standard stream is closed, the next file opened would take its number, and what is meant for the screen would
// go into it. The stand-in is open for reading only, so that writing to it still fails.
static bool fill_standard_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv) {
    static struct options options;
    static struct run run;
    static char message[OPTIONS_MESSAGE_BYTES];
    if (!fill_standard_descriptors()) {
        return EXIT_REFUSED;
    }
    group_digits_as_locale();
    switch (options_parse(&options, argc, argv, message)) {
    case OPTIONS_HELP:
        options_help(stdout);
        return fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_REFUSED;
    case OPTIONS_VERSION:
        (void)printf("logdisk %s %s\n", LOGDISK_VERSION, LOGDISK_SOURCE_HASH);
        return fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_REFUSED;
    case OPTIONS_WRONG:
        output_complain("%s", message);
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    run.options = &options;
    run.argc = argc;
    run.argv = argv;
    plan_run(&run);
    if (!supervisor_start(&run.supervisor) || !output_start()) {
        (void)fprintf(stderr, "logdisk: cannot set up signals and threads: %s\n", strerror(errno));
        return EXIT_REFUSED;
    }
    enum exit_status status = close_outputs(&run, measure(&run));
    if (run.thread_hangs) {
        _exit((int)status);             // the thread in the hung call cannot be waited for
    }
    return (int)status;
}
