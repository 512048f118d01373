// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// One run of the tester: everything that its parts share, owned by the main thread. It is never freed: a thread that
// hangs in a write may outlive every use of it.
#pragma once

#include "cut/acknowledge.h"
#include "cut/check.h"
#include "measure/early_end.h"
#include "measure/stop_above.h"
#include "measure/verify.h"
#include "output/monitor.h"
#include "output/place_report.h"
#include "output/progress.h"
#include "output/tables.h"
#include "output/text_report.h"

#define RUN_WARNINGS_MAX 20

struct run {
    struct options *options;            // as given; main fills in what was chosen, such as the seed
    char **argv;
    uint64_t start_ns, start_epoch_ns, end_epoch_ns;
    uint64_t step_gap_s;                // the gap between planned steps, with --startAt
    uint64_t planned_s;                 // the length of all steps, including warm-up and gaps
    uint64_t clock_read_ns;
    uint32_t steps, steps_measured;
    uint64_t over_rows_left;            // how many more rows of single workers over.csv may get in this step
    const char *state;                  // for the progress: preparing waiting warmup measuring verifying finished
    uint64_t look_ns;                   // when main last checked the workers of a step
    // how much later than requested main woke while a step ran: the process was frozen
    uint64_t oversleep_max_ns;
    uint32_t oversleep_max_step;        // 0: never
    struct supervisor supervisor;
    struct job_thread work;             // work that may hang on the file system under test
    struct job_thread files;            // everything that writes tables, csvFile and progress
    struct workspace workspace;
    struct tables tables;
    struct csvfile csvfile;
    struct screen screen;
    struct monitor monitor;
    struct place_report places;
    struct progress progress;
    uint64_t progress_due_ns;           // while a job runs
    struct identity identity;
    struct backing backing;
    struct device_lock lock;
    uint32_t direct_io_alignment_bytes;     // 0: the kernel does not say
    struct disturbance disturbance;
    struct disturbance before_step;     // its value when the step began
    struct verify verify;
    struct trace trace;
    struct stop_above stop_above;
    struct early_end early_end;
    struct workload workload;
    struct workers workers;
    struct acknowledge acknowledge;     // of --acknowledge
    struct check check;                 // of --checkAcknowledged
    uint64_t first_begin_ns;            // when step 1 begins, if planned with --startAt
    struct failure failure;             // the outcome; status EXIT_MEASURED while all is well
    bool thread_hangs;
    // the oldest operation that had not returned when the run ended; call NULL: none
    struct activity in_flight;
    uint64_t in_flight_age_ns;          // at that time
    atomic_bool opened;  // true once tables, csvFile and progress are open; until then none of them may be touched
    bool results_written;
    // Our own files that are on a file system under test: they hang with it, and writing them disturbs the test.
    char under_test[128];               // a list for people; empty: none
    bool progress_under_test, console_under_test;
    atomic_bool own_files_known;        // true once the three members above are set
    char warnings[RUN_WARNINGS_MAX + 1][512];       // the last one is only printed
    uint32_t warnings_count;
};

// Keeps a warning for run.csv, and prints it on standard error.
void run_warn(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Fills run->failure with the reason why the supervisor stopped the run.
void run_note_stop(struct run *run);

// Runs a job of the work thread and waits for it; progress continues.
// Sets thread_hangs if the job is still running that long after the run should have ended.
void run_job(struct run *run, void (*work)(void *), void *argument, uint64_t patience_ns);

// Performs the work of each second: writes the progress, hands over rows to be written, and prints.
void run_progress(void *run);

// measurement.c: the entry of a measurement.

// Takes the workload from the options. False if that fails: options->failure says why.
bool measurement_open(struct run *run);
// Plans the steps and the deadline, and chooses a seed if none was given.
void measurement_plan(struct run *run);
// Prepares the files, runs all steps, and stores the outcome in run->failure.
void measurement_run(struct run *run);
// Ends the threads. Sets run->thread_hangs if one does not end.
void measurement_close(struct run *run);

// preflight.c: the checks before the first byte is written. Both run in a thread,
// because files and disks may hang.

// Checks everything that does not touch the file system under test, and opens the tester's own files.
bool preflight_surroundings(struct run *run, struct failure *failure);
// Checks the disks, the memory and other testers while the directories are open and before any file is made in them.
// The context is a struct run; see struct workspace.
bool preflight_disks(void *context, struct failure *failure);
// Warns about problems for which the run is not refused.
void preflight_warn(struct run *run);

// run_csv.c: what was run, where, and how it ended, one key per row. Unknown values are empty. Keys that do not
// apply, such as those of an error, are left out. Writes all rows, or lists all keys; the "_n" of a listed key
// stands for numbers from 1.
void run_csv_put(struct csv *csv, const struct run *run);

// step.c: one step, a block size at a load point. Starts the workers together, monitors them, writes seconds and
// batches to the tables meanwhile, and their figures at the end. False if the run should end: run->failure says why.
bool step_run(struct run *run, uint32_t number, uint64_t block_bytes, uint32_t load_point);
