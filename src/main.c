// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// logdisk: measures how long a disk takes to write IBM MQ's recovery log. Reads the command line, starts what was
// requested, reports the results, and ends with an exit status. The entry points:
//
//   a measurement          measurement.c: checks before the first byte (preflight.c), then runs its steps (step.c)
//   --acknowledge          cut/acknowledge.c: a measurement that also tells another machine which writes have returned
//   --checkAcknowledged    cut/check.c: after the power was cut, checks whether these writes are there
//   --removeAcknowledged   cut/remove.c: removes the files of --acknowledge
//   --lock                 lock/agent.c: locks files of a shared file system, as another machine requests
//   --showFio              output/fio.c: prints the closest fio job
#include "base/units.h"
#include "base/version.h"
#include "cut/durability_csv.h"
#include "cut/remove.h"
#include "lock/agent.h"
#include "lock/own_folder.h"
#include "output/console.h"
#include "output/fio.h"
#include "run.h"

#include <fcntl.h>
#include <unistd.h>

#define RESULTS_PATIENCE_NS (30 * NS_PER_S)             // for a slow disk, after the run was told to end
#define OUTPUT_PATIENCE_NS (3 * NS_PER_S)

// Tables come first, because the caller of the tester waits for them. The function runs in the thread that writes
// files, and the main thread only waits.
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

// Prints the tables, and then the summary for people, so that the summary is the last part of a log.
static void print_results(struct run *run) {
    if (run->tables.printed) {
        console_release();
        bool whole = tables_print(&run->tables, await_reader, &run->supervisor);
        if (!whole && run->failure.status == EXIT_MEASURED) {
            (void)failure_set(&run->failure, EXIT_REFUSED, "the result was not printed in full");
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

static void set_deadline(struct run *run) {
    uint64_t deadline_s = run->options->deadline_s;
    bool countable = deadline_s > 0 && deadline_s < (UINT64_MAX - run->start_ns) / NS_PER_S;
    run->supervisor.deadline_ns = countable ? run->start_ns + deadline_s * NS_PER_S : UINT64_MAX;
}

static void check(struct run *run) {
    struct check *check = &run->check;
    check->options = run->options;
    check->stop = &run->supervisor.stop;
    check->tables = &run->tables;
    check->tables_opened = &run->opened;
    check->identity = &run->identity;
    run->workload.name = "mq-log";
    run->workload.load_unit = "queue managers";
    run->workload.step_size = "block";
    run->state = "checking";
    run_job(run, check_read, check, SUPERVISOR_PATIENCE_NS);
    if (!run->thread_hangs && check->reader.failure.status != EXIT_MEASURED) {
        run->failure = check->reader.failure;
    } else if (run->supervisor.reason != STOP_NONE) {
        run_note_stop(run);
    } else {
        check_report(check, &run->failure);
    }
}

static void go(struct run *run) {
    bool checks = run->options->check_acknowledged != NULL;
    set_deadline(run);
    if (checks) {
        check(run);
    } else {
        measurement_run(run);
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
    if (!checks) {
        measurement_close(run);
    }
}

// If standard output is the only result, failing to write it fails the run. If there is another result, a reader that
// has disappeared (a pipe into head) is not reported.
static void judge_screen(struct run *run, bool drained) {
    bool alone = run->tables.printed ||
                 (run->options->tables_dir == NULL && (run->csvfile.path == NULL || run->csvfile.on_screen));
    int error = console_error();
    if (!drained || (error != 0 && (error != EPIPE || alone))) {
        console_complain("cannot write to standard output: %s", drained ? strerror(error) : "nothing takes it");
        run->failure.status = alone && run->failure.status == EXIT_MEASURED ? EXIT_REFUSED : run->failure.status;
    }
}

// Waits for pending output, as long as it does not hang, and then prints why the run failed.
static void close_outputs(struct run *run) {
    struct supervisor *supervisor = &run->supervisor;
    console_release();
    bool drained = supervisor_await(supervisor, console_is_drained, NULL, OUTPUT_PATIENCE_NS);
    if (run->options->acknowledge) {
        bool ended = acknowledge_close(&run->acknowledge, supervisor, OUTPUT_PATIENCE_NS);
        run->failure.status = !ended && run->failure.status == EXIT_MEASURED ? EXIT_REFUSED : run->failure.status;
    } else {
        judge_screen(run, drained);
    }
    if (run->failure.message[0] != '\0') {
        console_complain("%s", run->failure.message);
    }
    (void)supervisor_await(supervisor, drained ? console_is_drained : complaints_are_drained, NULL, OUTPUT_PATIENCE_NS);
    (void)supervisor_await(supervisor, job_thread_idle, &run->files, OUTPUT_PATIENCE_NS);    // of the last progress
    run->thread_hangs |= !job_thread_end(&run->files) || !job_thread_end(&run->work);
}

// If a standard stream is closed, the next file to be opened would get its number, and screen output would be written
// to that file. The replacement opened here is read-only, so that writing to the stream still fails.
static bool fill_standard_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            return false;
        }
    }
    return true;
}

// Handles options that replace a run, such as --help.
static enum exit_status print(enum options_outcome outcome, const struct run *run) {
    if (outcome == OPTIONS_HELP) {
        options_help(stdout);
    } else if (outcome == OPTIONS_VERSION) {
        (void)printf("logdisk %s %s\n", LOGDISK_VERSION, LOGDISK_SOURCE_HASH);
    } else {
        struct csv csv = {.form = CSV_LIST};
        text_printf(&csv.text, "table,name,unit\n");
        for (int table = 0; table < TABLE_DURABILITY; table++) {
            columns_put(&csv, (enum table)table, NULL);
        }
        durability_csv_put(&csv, NULL);
        run_csv_put(&csv, run);
        (void)fputs(csv.text.bytes != NULL ? csv.text.bytes : "", stdout);
        text_free(&csv.text);
    }
    return fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_REFUSED;
}

// Runs a measurement or a check. From here on, signals and the deadline end it in an orderly way.
static enum exit_status supervise(struct run *run) {
    const struct options *options = run->options;
    if (options->quiet) {
        console_be_quiet();
    }
    if (options->acknowledge || options->json ||
        (options->tables_dir != NULL && strcmp(options->tables_dir, TABLES_PRINTED) == 0)) {
        console_use_standard_error();
    }
    if (!supervisor_start(&run->supervisor) || !job_thread_start(&run->work) || !job_thread_start(&run->files)) {
        (void)fprintf(stderr, "logdisk: cannot set up signals and threads: %s\n", strerror(errno));
        return EXIT_REFUSED;
    }
    console_hold();
    go(run);
    close_outputs(run);
    if (run->thread_hangs) {
        _exit((int)run->failure.status);        // the thread in the hung call cannot be waited for
    }
    return run->failure.status;
}

static enum exit_status start_measurement(struct run *run) {
    const struct options *options = run->options;
    if (!measurement_open(run)) {
        console_complain("%s", options->failure.message);
        return options->failure.status;
    }
    if (options->show_fio) {
        fio_print(stdout, &run->workload, options);
        return fflush(stdout) == 0 ? EXIT_MEASURED : EXIT_REFUSED;
    }
    measurement_plan(run);
    return supervise(run);
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
    if (options.lock) {
        int error = options.create_dirs ? own_folder_make(options.dir) : 0;
        if (error != 0) {
            console_complain("--createDirs: cannot create %s: %s", options.dir, strerror(error));
            return EXIT_REFUSED;
        }
        return (int)lock_agent(&options);
    }
    run.start_ns = now_ns();
    run.start_epoch_ns = epoch_ns();
    return (int)(options.check_acknowledged != NULL ? supervise(&run) : start_measurement(&run));
}
