// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// logdisk: measures what a disk takes to write IBM MQ's recovery log. The course of a run, from top to bottom.
#include "base/units.h"
#include "base/version.h"
#include "output/console.h"
#include "output/fio.h"
#include "run.h"

#include <fcntl.h>
#include <sys/random.h>
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

static uint64_t random_seed(void) {
    uint64_t seed;
    return getrandom(&seed, sizeof seed, 0) == sizeof seed ? seed : epoch_ns() ^ (uint64_t)getpid() << 44;
}

static void plan_run(struct run *run) {
    struct options *options = run->options;
    options->seed = options->seed_given ? options->seed : random_seed();
    run->clock_read_ns = measure_clock_read_ns();
    const struct number_list *sizes = run->workload.sizes, *load_points = run->workload.load_points;
    run->steps = (uint32_t)(sizes->count * load_points->count);
    // Hosts that start at one instant with the same options have the same plan.
    uint64_t footprint = workload_footprint(&run->workload);
    uint64_t verify_s = options->verify ? footprint / PASS_BYTES_PER_S : 0;
    run->step_gap_s = options->start_at_ns > 0 ? STEP_GAP_S + verify_s : 0;
    run->planned_s = run->steps * (options->warmup_s + options->duration_s + run->step_gap_s) - run->step_gap_s;
    if (options->deadline_s == 0) {
        uint64_t passes_s = footprint / PASS_BYTES_PER_S + run->steps * verify_s;
        uint64_t wait_ns = options->start_at_ns > run->start_epoch_ns ? options->start_at_ns - run->start_epoch_ns : 0;
        options->deadline_s = 2 * run->planned_s + DEADLINE_SPARE_S + passes_s + wait_ns / NS_PER_S;
    }
    run->monitor.every_s = options->monitor_s;
    // Rows of --monitor take the place of the live line.
    run->screen.terminal = isatty(STDOUT_FILENO) == 1 && options->monitor_s == 0 && !options->acknowledge;
    run->screen.workload = &run->workload;
}

static void *keep_busy(void *unused) {
    for (volatile uint64_t count = 0;; count = count + 1) {
    }
    return unused;
}

// They run until the process ends.
static void start_background_threads(struct run *run) {
    for (uint64_t i = 0; i < run->options->background_threads; i++) {
        pthread_t thread;
        if (!thread_start(&thread, keep_busy, NULL)) {
            run_warn(run, "--backgroundThreads: not all threads could be made");
            return;
        }
        (void)pthread_detach(thread);
    }
}

// In a thread, because files and disks may hang.
static void prepare(void *argument) {
    struct run *run = argument;
    if (!preflight_surroundings(run, &run->workspace.failure)) {
        csvfile_discard(&run->csvfile);
        trace_discard(&run->trace);
        return;
    }
    atomic_store(&run->opened, true);
    workspace_prepare(&run->workspace);
    if (run->workspace.failure.status == EXIT_MEASURED && run->workload.places[0].fd >= 0) {
        run->direct_io_alignment_bytes = test_file_direct_io_alignment(run->workload.places[0].fds[0]);
    }
}

static bool say_ready(struct run *run) {
    char ready[MARK_LINE_BYTES];
    mark_format(&run->workspace.mark, ready);
    return acknowledge_start(&run->acknowledge, ready, &run->workers);
}

// False if the run is to end.
static bool prepare_run(struct run *run) {
    struct workspace *workspace = &run->workspace;
    if (!workspace_init(workspace, run->options, &run->workload, &run->supervisor.stop)) {
        return failure_set(&run->failure, EXIT_REFUSED, "no memory");
    }
    workspace->before_files = preflight_disks;
    workspace->before_files_context = run;
    run->state = "preparing";
    console_print("Creating files...\n");
    console_flush();
    run_job(run, prepare, run, SUPERVISOR_PATIENCE_NS);
    if (!run->thread_hangs && workspace->failure.status != EXIT_MEASURED) {
        run->failure = workspace->failure;
        return false;
    }
    if (run->supervisor.reason != STOP_NONE) {
        if (run->thread_hangs && workspace_activity(workspace, &run->in_flight)) {
            run->in_flight_age_ns = now_ns() - run->in_flight.start_ns;
        }
        run_note_stop(run);
        return false;
    }
    preflight_warn(run);
    if (run->options->acknowledge && !say_ready(run)) {
        return failure_set(
            &run->failure, EXIT_REFUSED, "--acknowledge: no memory, or no thread, for the acknowledgements");
    }
    screen_initial_write(&workspace->initial_write);
    run->disturbance = (struct disturbance){.disk = run->identity.disk, .threads_known = true};
    cgroup_find(&run->disturbance.cgroup);
    return true;
}

static void run_steps(struct run *run) {
    const struct options *options = run->options;
    uint32_t number = 0;
    // Planned as late as possible, because the wall clock may be stepped while files are made.
    uint64_t boot_ns = boot_epoch_ns(), at_ns = options->start_at_ns;
    if (at_ns > 0) {                    // the monotonic clock has no instant before it began
        run->first_begin_ns = at_ns > boot_ns + NS_PER_S ? at_ns - boot_ns : now_ns();
    }
    const struct number_list *sizes = run->workload.sizes, *load_points = run->workload.load_points;
    for (size_t point = 0; point < load_points->count; point++) {
        for (size_t size = 0; size < sizes->count; size++) {
            if (!step_run(run, ++number, sizes->values[size], (uint32_t)load_points->values[point])) {
                return;
            }
        }
        if (run->stop_above.reason[0] != '\0') {
            console_print("\n%s\n", run->stop_above.reason);
            return;
        }
    }
}

// In a thread, because files may hang. If the mark cannot be changed, the line `end` may have been sent nevertheless.
static void note_end(void *argument) {
    struct run *run = argument;
    for (uint32_t i = 0; i < run->workload.places_count; i++) {
        int mark = run->workload.places[i].mark;
        (void)(mark > 0 && mark_note_end(mark));
    }
}

static void say_end(struct run *run) {
    const struct failure *failure = &run->failure;
    const char *how = failure->status == EXIT_IO_ERROR ? failure_error_name(failure->error)
                      : failure->status == EXIT_MEASURED ? "time"
                      : run->supervisor.reason == STOP_DEADLINE ? "deadline" : "signal";
    if (acknowledge_is_drained(&run->acknowledge)) {
        run_warn(run, "--acknowledge: nothing takes the acknowledgements any more: %s; so the run was ended",
                 strerror(run->acknowledge.outlet.error));
    }
    acknowledge_end(&run->acknowledge, how);
    if (strcmp(how, "signal") == 0 && !run->thread_hangs) {
        run_job(run, note_end, run, SUPERVISOR_PATIENCE_NS);
    }
}

// Tables come first, because the caller of the tester waits for them. In the thread that writes files, while main only
// waits.
static void write_results(void *argument) {
    struct run *run = argument;
    bool complete = tables_complete(&run->tables);
    run->end_epoch_ns = epoch_ns();
    run->options->alignment_bytes = run->workspace.alignment_bytes;
    if (run->tables.path != NULL) {
        run_csv_put(&run->tables.files[TABLE_RUN].rows, run);
        complete &= tables_complete_run(&run->tables);
    }
    bool several = run->options->queue_managers > 1;
    run->results_written = csvfile_write(&run->csvfile, several) && complete && run->trace.error == 0;
}

static bool await_reader(void *argument) {
    return supervisor_await(argument, console_is_drained, NULL, RESULTS_PATIENCE_NS);
}

// Prints the tables, and then the summary for people, so that a log ends with it.
static void print_results(struct run *run) {
    if (run->tables.printed) {
        console_release();
        bool whole = tables_print(&run->tables, await_reader, &run->supervisor);
        if (!whole && run->failure.status == EXIT_MEASURED) {
            (void)failure_set(&run->failure, EXIT_REFUSED, "--tables=-: the tables were not printed in full");
        }
    }
    if (run->tables.printed && run->options->check_acknowledged == NULL) {
        screen_summary(&run->screen);
        console_print("%" PRIu32 " of %" PRIu32 " steps measured\n", run->steps_measured, run->steps);
    }
}

static void finish(struct run *run) {
    struct failure *failure = &run->failure;
    if (job_run(&run->files, &run->supervisor, write_results, run, RESULTS_PATIENCE_NS)) {
        csvfile_report(&run->csvfile);
        *failure = failure->status == EXIT_MEASURED ? run->tables.failure : *failure;
        run->state = "finished";
        run_progress(run);
        print_results(run);
    } else {
        run->thread_hangs = true;
        console_complain(run->supervisor.hurried
                             ? "the results were not written: another signal came while they were being written"
                             : "the results cannot be written: the file system of --tables or --csvFile hangs");
    }
    if (failure->status == EXIT_MEASURED && (run->thread_hangs || !run->results_written)) {
        failure->status = EXIT_REFUSED;
    }
}

// The files themselves only if directories have to be removed afterwards. If not,
// they are closed when the process ends.
static void close_workspace(struct run *run) {
    if (!run->thread_hangs) {
        workers_end(&run->workers);     // their descriptor tables hold the test files
    }
    if (run->thread_hangs || workspace_left_behind(&run->workspace) == NULL) {
        return;
    }
    run->thread_hangs = !job_run(&run->work, &run->supervisor, workspace_close, &run->workspace, RESULTS_PATIENCE_NS);
    const char *left = workspace_left_behind(&run->workspace);
    if (left != NULL) {
        console_complain("--createDirs: cannot remove %s, which this run made; remove it by hand", left);
    }
}

static void measure(struct run *run) {
    screen_options(run->options);
    start_background_threads(run);
    if (prepare_run(run)) {
        run_steps(run);
        if (run->options->acknowledge) {
            say_end(run);
        }
    }
}

// A check has no deadline of its own.
static void set_deadline(struct run *run) {
    uint64_t deadline_s = run->options->deadline_s;
    bool countable = deadline_s > 0 && deadline_s < (UINT64_MAX - run->start_ns) / NS_PER_S;
    run->supervisor.deadline_ns = countable ? run->start_ns + deadline_s * NS_PER_S : UINT64_MAX;
}

static void go(struct run *run) {
    set_deadline(run);
    if (run->options->check_acknowledged != NULL) {
        check_acknowledged(run);
    } else {
        measure(run);
    }
    if (!atomic_load(&run->opened)) {
        return;
    }
    if (run->failure.status == EXIT_REFUSED) {
        tables_discard(&run->tables);
        trace_discard(&run->trace);
        csvfile_discard(&run->csvfile);
    } else {
        finish(run);
    }
    if (run->options->check_acknowledged == NULL) {
        close_workspace(run);
    }
}

// If standard output is the only result, failing to write it fails the run. If there is another result, a reader that
// has disappeared (a pipe into head) is not worth a message.
static void judge_screen(struct run *run, bool drained) {
    bool alone = run->tables.printed ||
                 (run->options->tables_dir == NULL && (run->csvfile.path == NULL || run->csvfile.on_screen));
    int error = console_error();
    if (!drained || (error != 0 && (error != EPIPE || alone))) {
        console_complain("cannot write to standard output: %s", drained ? strerror(error) : "nothing takes it");
        run->failure.status = alone && run->failure.status == EXIT_MEASURED ? EXIT_REFUSED : run->failure.status;
    }
}

// The line `end` could not be sent: the reader is too slow or has disappeared.
static void judge_acknowledge(struct run *run) {
    struct acknowledge *acknowledge = &run->acknowledge;
    bool started = atomic_load(&acknowledge->end) != NULL;
    bool drained =
        !started || supervisor_await(&run->supervisor, acknowledge_is_drained, acknowledge, OUTPUT_PATIENCE_NS);
    if (started && (!drained || acknowledge->gone)) {
        console_complain("--acknowledge: the end of the acknowledgements could not be written: %s",
                         drained ? strerror(acknowledge->outlet.error) : "nothing takes it");
        run->failure.status = run->failure.status == EXIT_MEASURED ? EXIT_REFUSED : run->failure.status;
    }
}

// Waits for pending output, unless it hangs, and then prints why the run failed.
static void close_outputs(struct run *run) {
    struct supervisor *supervisor = &run->supervisor;
    console_release();
    bool drained = supervisor_await(supervisor, console_is_drained, NULL, OUTPUT_PATIENCE_NS);
    if (run->options->acknowledge) {
        judge_acknowledge(run);
    } else {
        judge_screen(run, drained);
    }
    if (run->failure.message[0] != '\0') {
        console_complain("%s", run->failure.message);
    }
    (void)supervisor_await(supervisor, drained ? console_is_drained : complaints_are_drained, NULL, OUTPUT_PATIENCE_NS);
    (void)supervisor_await(supervisor, job_thread_idle, &run->files, OUTPUT_PATIENCE_NS);    // the last progress
    run->thread_hangs |= !job_thread_end(&run->files) || !job_thread_end(&run->work);
}

// If a standard stream is closed, the next file opened would take its number, and what is meant for the screen would
// go into it. The stand-in is open for reading only, so that writing to it still fails.
static bool fill_standard_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            return false;
        }
    }
    return true;
}

// --removeAcknowledged.
static enum exit_status remove_acknowledged(struct options *options) {
    uint64_t removed = 0;
    if (!mark_remove_files(options, &removed, &options->failure)) {
        console_complain("%s", options->failure.message);
        return options->failure.status;
    }
    console_print("%" PRIu64 " files removed\n", removed);
    console_flush();
    return EXIT_MEASURED;
}

// Options that replace a run, such as --help.
static enum exit_status print(enum options_outcome outcome, const struct run *run) {
    if (outcome == OPTIONS_HELP) {
        options_help(stdout);
    } else if (outcome == OPTIONS_VERSION) {
        (void)printf("logdisk %s %s\n", LOGDISK_VERSION, LOGDISK_SOURCE_HASH);
    } else {
        struct csv csv = {.form = CSV_LIST};
        text_printf(&csv.text, "table,name,unit\n");
        for (int table = 0; table < TABLE_RUN; table++) {
            columns_put(&csv, (enum table)table, NULL);
        }
        run_csv_put(&csv, run);
        (void)fputs(csv.text.bytes != NULL ? csv.text.bytes : "", stdout);
        text_free(&csv.text);
    }
    return fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_REFUSED;
}

static bool open_workload(struct run *run) {
    struct options *options = run->options;
    bool good = options->workload == WORKLOAD_STREAMS  ? streams_open(&run->workload, options, &options->failure)
                : options->workload == WORKLOAD_COMMIT ? commit_open(&run->workload, options)
                                                       : mq_log_open(&run->workload, options);
    if (!good && options->failure.status == EXIT_MEASURED) {
        (void)failure_set(&options->failure, EXIT_REFUSED, "no memory");
    }
    return good;
}

// What is measured, and how long it takes; nothing if files are checked.
static bool open_run(struct run *run) {
    struct options *options = run->options;
    run->start_ns = now_ns();
    run->start_epoch_ns = epoch_ns();
    if (options->check_acknowledged != NULL) {
        return true;
    }
    return (!options->acknowledge || acknowledge_look(&options->failure)) && open_workload(run) &&
           stop_above_open(&run->stop_above, &options->stop_above, &run->workload, &options->failure);
}

int main(int unused, char **argv) {
    static struct options options;
    static struct run run = {.options = &options, .csvfile = {.fd = -1}};
    run.argv = argv;
    if (!fill_standard_descriptors()) {
        return EXIT_REFUSED;
    }
    group_digits_as_locale();
    enum options_outcome outcome = options_parse(&options, argv + 1);
    if (outcome == OPTIONS_WRONG) {
        console_complain("%s", options.failure.message);
        return EXIT_USAGE;
    }
    if (outcome != OPTIONS_RUN) {
        return (int)print(outcome, &run);
    }
    if (options.remove_acknowledged) {
        return (int)remove_acknowledged(&options);
    }
    if (!open_run(&run)) {
        console_complain("%s", options.failure.message);
        return (int)options.failure.status;
    }
    if (options.show_fio) {
        fio_print(stdout, &run.workload, &options);
        return fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_REFUSED;
    }
    if (options.check_acknowledged == NULL) {
        plan_run(&run);
    }
    if (options.acknowledge) {
        console_use_standard_error();
    }
    if (!supervisor_start(&run.supervisor) || !job_thread_start(&run.work) || !job_thread_start(&run.files)) {
        (void)fprintf(stderr, "logdisk: cannot set up signals and threads: %s\n", strerror(errno));
        return EXIT_REFUSED;
    }
    console_hold();
    go(&run);
    close_outputs(&run);
    if (run.thread_hangs) {
        _exit((int)run.failure.status); // the thread in the hung call cannot be waited for
    }
    return (int)run.failure.status;
}
