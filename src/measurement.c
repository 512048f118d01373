// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A measurement, from top to bottom: its options, the plan, the preparation, the steps, and the end.
#include "base/units.h"
#include "output/console.h"
#include "run.h"

#include <sys/random.h>
#include <unistd.h>

#define DEADLINE_SPARE_S 60
#define CLOSE_PATIENCE_NS (30 * NS_PER_S)               // for a slow disk, after the run was told to end
#define STEP_GAP_S 2                                    // pause between planned steps
#define PASS_BYTES_PER_S (UINT64_C(32) << 20)  // the rate that plans assume for preformatting and for reading back

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

bool measurement_open(struct run *run) {
    struct options *options = run->options;
    return (!options->acknowledge || acknowledge_look(&options->failure)) && open_workload(run) &&
           stop_above_open(&run->stop_above, &options->stop_above, &run->workload, &options->failure) &&
           early_end_open(&run->early_end, options, &options->failure);
}

// Returns the cost of one read of the clock. Every latency contains two such reads.
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

void measurement_plan(struct run *run) {
    struct options *options = run->options;
    options->seed = options->seed_given ? options->seed : random_seed();
    run->clock_read_ns = measure_clock_read_ns();
    const struct number_list *sizes = run->workload.sizes, *load_points = run->workload.load_points;
    run->steps = (uint32_t)(sizes->count * load_points->count);
    // Hosts with the same options and the same start time have the same plan.
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
    // The rows of --monitor replace the live line.
    run->screen.terminal = isatty(STDOUT_FILENO) == 1 && options->monitor_s == 0 && !options->acknowledge;
    run->screen.workload = &run->workload;
}

static void *keep_busy(void *unused) {
    for (volatile uint64_t count = 0;; count = count + 1) {
    }
    return unused;
}

// These threads run until the process ends.
static void start_background_threads(struct run *run) {
    for (uint64_t i = 0; i < run->options->background_threads; i++) {
        pthread_t thread;
        if (!thread_start(&thread, keep_busy, NULL)) {
            run_warn(run, "--backgroundThreads: not all threads could be created");
            return;
        }
        (void)pthread_detach(thread);
    }
}

// Runs in a thread, because files and disks may hang.
static void prepare(void *argument) {
    struct run *run = argument;
    if (!preflight_surroundings(run, &run->workspace.failure)) {
        csvfile_discard(&run->csvfile);
        trace_discard(&run->trace);
        return;
    }
    atomic_store(&run->opened, true);
    if (run->options->acknowledge) {
        acknowledge_prepare(&run->acknowledge, &run->workspace);
    }
    workspace_prepare(&run->workspace);
    if (run->workspace.failure.status == EXIT_MEASURED && run->workload.places[0].fd >= 0) {
        run->direct_io_alignment_bytes = test_file_direct_io_alignment(run->workload.places[0].fds[0]);
    }
}

// Returns false if the run should end.
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
    if (run->options->acknowledge && !acknowledge_start(&run->acknowledge, &run->workers)) {
        return failure_set(
            &run->failure, EXIT_REFUSED, "--acknowledge: no memory, or no thread, for the acknowledgements");
    }
    screen_initial_write(&workspace->initial_write);
    run->disturbance = (struct disturbance){.disks = run->identity.stack.tops, .threads_known = true};
    cgroup_find(&run->disturbance.cgroup, "cpu");
    io_limits_init(&run->io_limits, &run->backing.levels);
    return true;
}

static void run_steps(struct run *run) {
    const struct options *options = run->options;
    uint32_t number = 0;
    // The steps are planned as late as possible, because the wall clock may be stepped while files are being created.
    uint64_t boot_ns = boot_epoch_ns(), at_ns = options->start_at_ns;
    if (at_ns > 0) {                    // 0 if the time is before the origin of the monotonic clock
        run->first_begin_ns = at_ns > boot_ns + NS_PER_S ? at_ns - boot_ns : now_ns();
    }
    const struct number_list *sizes = run->workload.sizes, *load_points = run->workload.load_points;
    for (size_t point = 0; point < load_points->count; point++) {
        for (size_t size = 0; size < sizes->count; size++) {
            if (!step_run(run, ++number, sizes->values[size], (uint32_t)load_points->values[point])) {
                return;
            }
            if (run->early_end.reason[0] != '\0') {
                console_print("\n%s\n", run->early_end.reason);
                return;
            }
            if (run->early_end.kept_step == number) {
                console_print("step %" PRIu32 " was ended after %zu s because all limits of --failAbove are kept\n",
                              number, run->early_end.seconds);
                run->first_begin_ns = 0;        // the next steps do not wait for their planned times
            }
        }
        if (run->stop_above.reason[0] != '\0') {
            console_print("\n%s\n", run->stop_above.reason);
            return;
        }
    }
}

static void say_end(struct run *run) {
    const struct failure *failure = &run->failure;
    const char *how = failure->status == EXIT_IO_ERROR ? failure_error_name(failure->error)
                      : failure->status == EXIT_MEASURED ? "time"
                      : run->supervisor.reason == STOP_DEADLINE ? "deadline" : "signal";
    if (acknowledge_is_drained(&run->acknowledge)) {
        run_warn(run, "--acknowledge: nothing reads the acknowledgements any more: %s; so the run was ended",
                 strerror(run->acknowledge.outlet.error));
    }
    acknowledge_end(&run->acknowledge, how);
    if (strcmp(how, "signal") == 0 && !run->thread_hangs) {
        run_job(run, marked_files_note_end, &run->workload, SUPERVISOR_PATIENCE_NS);
    }
}

void measurement_run(struct run *run) {
    screen_options(run->options);
    start_background_threads(run);
    if (prepare_run(run)) {
        run_steps(run);
        if (run->options->acknowledge) {
            say_end(run);
        }
    }
}

// The files are closed here only if directories have to be removed afterwards. Otherwise, they are closed when the
// process ends.
void measurement_close(struct run *run) {
    if (!run->thread_hangs) {
        workers_end(&run->workers);     // their descriptor tables hold the test files
    }
    if (run->thread_hangs || workspace_left_behind(&run->workspace) == NULL) {
        return;
    }
    run->thread_hangs = !job_run(&run->work, &run->supervisor, workspace_close, &run->workspace, CLOSE_PATIENCE_NS);
    const char *left = workspace_left_behind(&run->workspace);
    if (left != NULL) {
        console_complain("--createDirs: cannot remove %s, which this run made; remove it by hand", left);
    }
}
