// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The data that all parts of a run share. The main thread owns it. It is never freed, because a thread that hangs in a
// write may use it until the process ends.
#pragma once

#include "cut/acknowledge.h"
#include "cut/check.h"
#include "host/io_limit.h"
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
    struct options *options;            // as given, with defaults that main chose, such as the seed
    char **argv;
    uint64_t start_ns, start_epoch_ns, end_epoch_ns;
    uint64_t step_gap_s;                // with --startAt, the gap between planned steps
    uint64_t planned_s;                 // the length of all steps, including warm-up and gaps
    uint64_t clock_read_ns;
    uint32_t steps, steps_measured;
    uint64_t over_rows_left;            // how many more rows of single workers over.csv may get in this step
    const char *state;                  // shown as progress: preparing waiting warmup measuring verifying finished
    uint64_t look_ns;                   // when main last checked the workers
    // the longest delay with which main woke up while a step ran, which shows how long the process was frozen
    uint64_t oversleep_max_ns;
    uint32_t oversleep_max_step;        // the step of this delay; 0: none
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
    uint64_t progress_due_ns;           // when to write progress next while a job runs
    struct text steps_done;             // what the progress says about the steps that have ended
    struct identity identity;
    struct backing backing;
    struct device_lock lock;
    uint32_t direct_io_alignment_bytes;     // 0 if the kernel does not report it
    struct disturbance disturbance;
    struct disturbance before_step;     // the disturbance when the step began
    struct io_limits io_limits;
    struct verify verify;
    struct trace trace;
    struct stop_above stop_above;
    struct early_end early_end;
    struct workload workload;
    struct workers workers;
    struct acknowledge acknowledge;     // for --acknowledge
    struct check check;                 // for --checkAcknowledged
    uint64_t first_begin_ns;            // with --startAt, when step 1 begins
    struct failure failure;             // the outcome; EXIT_MEASURED if nothing failed
    bool thread_hangs;
    // the oldest operation that had not returned when the run ended; call is NULL if there is none
    struct activity in_flight;
    uint64_t in_flight_age_ns;          // its age at that time
    atomic_bool opened;  // true once tables, csvFile and progress are open; until then none of them may be touched
    bool results_written;
    // Output files of the tester that are on a file system under test. They hang with that file system, and writing to
    // them disturbs the test.
    char in_memory[PATH_MAX];           // the first directory that is in memory; empty if there is none
    char under_test[128];               // a list for people; empty if there are none
    bool progress_under_test, console_under_test;
    atomic_bool own_files_known;        // true once the members above are set
    char warnings[RUN_WARNINGS_MAX + 1][512];       // the last one is printed but not stored
    uint32_t warnings_count;
};

// Keeps a warning for run.csv, and prints it on standard error.
void run_warn(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Fills run->failure with the reason why the supervisor stopped the run.
void run_note_stop(struct run *run);

// Runs a job in the work thread and waits for it, while progress continues to be written. Sets thread_hangs if the run
// should have ended patience_ns ago and the job is still running.
void run_job(struct run *run, void (*work)(void *), void *argument, uint64_t patience_ns);

// Adds the step that has ended to the progress.
void run_note_step(struct run *run);

// Does what is due every second: writes the progress, hands over rows to be written, and prints.
void run_progress(void *run);

// measurement.c: entry points of a measurement.

// Determines the workload from the options. On failure, returns false, with the reason in options->failure.
bool measurement_open(struct run *run);
// Plans the steps and the deadline, and chooses a seed if none was given.
void measurement_plan(struct run *run);
// Prepares the files, runs all steps, and stores the outcome in run->failure.
void measurement_run(struct run *run);
// Ends the threads. Sets run->thread_hangs if any thread does not end.
void measurement_close(struct run *run);

// preflight.c: the checks before the first byte is written. Both run in a thread,
// because files and disks may hang.

// Checks everything that does not touch the file system under test, and opens the tester's own files.
bool preflight_surroundings(struct run *run, struct failure *failure);
// Checks the disks and the memory, and looks for other testers, when the directories are open but no file has been
// created in them. The context is a struct run; see struct workspace.
bool preflight_disks(void *context, struct failure *failure);
// Warns about problems that are not a reason to refuse the run.
void preflight_warn(struct run *run);

// run_csv.c: what was run, where, and how it ended. Each row contains one key. Unknown values are empty. Keys that do
// not apply, such as those of an error, are left out. Writes all rows, or lists all keys. In the list, "_n" at the end
// of a key stands for numbers from 1.
void run_csv_put(struct csv *csv, const struct run *run);

// step.c: runs one step, which is one block size at one load point. Starts all workers at the same time and monitors
// them. Meanwhile, writes seconds and batches to the tables; at the end, writes the figures. Returns false, with the
// reason in run->failure, if the run should end.
bool step_run(struct run *run, uint32_t number, uint64_t block_bytes, uint32_t load_point);
