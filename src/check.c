// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "run.h"

#include "check/report.h"
#include "output/console.h"

static bool read_witness(struct run *run) {
    const char *name = run->options->check_acknowledged;
    struct failure *failure = &run->reader.failure;
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    if (file == NULL) {
        return failure_set(failure, EXIT_REFUSED, "--checkAcknowledged: cannot open %s: %s", name, strerror(errno));
    }
    bool good = witness_read(&run->witness, file, failure);
    (void)fclose(file);
    return good;
}

// What run.csv says of the run whose files are checked.
static bool take_options(struct run *run) {
    struct options *options = run->options;
    const struct mark *mark = &run->witness.mark;
    options->seed = mark->seed;
    options->block_sizes = (struct number_list){.count = 1, .values = {mark->block_bytes}};
    options->file_bytes = mark->file_bytes;
    options->files = mark->files;
    options->file_prefix = mark->file_prefix;
    bool good = options_take_queue_managers(options, mark->queue_managers);
    run->reader.failure = options->failure;
    return good;
}

static void gather(void *context, int fd) {
    struct run *run = context;
    identity_gather(&run->identity, fd);
}

static void work(void *argument) {
    struct run *run = argument;
    struct reader *reader = &run->reader;
    if (!tables_open(&run->tables, run->options->tables_dir, TABLES_OF_CHECK, &reader->failure)) {
        return;
    }
    atomic_store(&run->opened, true);
    if (!read_witness(run) || !take_options(run)) {
        return;
    }
    reader->options = run->options;
    reader->mark = &run->witness.mark;
    reader->counts = run->witness.counts;
    reader->writing_ns = witness_writing_ns(&run->witness);
    reader->stop = &run->supervisor.stop;
    reader->first_directory = gather;
    reader->context = run;
    reader_run(reader);
}

static void add_row(struct run *run, const struct durability *row) {
    const struct evidence *first = &row->first;
    char file[PATH_MAX] = "", from[PATH_MAX] = "";
    if (first->finding != FINDING_NONE) {
        reader_path(&run->reader, &first->at, file);
    }
    if (first->stray) {
        reader_path(&run->reader, &first->from, from);
    }
    tables_add(&run->tables, TABLE_DURABILITY, &(struct table_row){.durability = row, .file = file, .from_file = from});
}

static void report(struct run *run) {
    const struct reader *reader = &run->reader;
    const struct evidence *first = &reader->rows[0].first;
    struct text text = {0};
    for (uint32_t worker = 1; worker <= reader->geometry.queue_managers; worker++) {
        add_row(run, &reader->rows[worker]);
    }
    add_row(run, &reader->rows[0]);
    report_text(&text, reader);
    console_print("%s", text.bytes != NULL ? text.bytes : "");
    text_cut(&text, 0);
    if (first->finding != FINDING_NONE) {
        report_finding(&text, reader, first);
        (void)failure_set(&run->failure, EXIT_LOST, "acknowledged writes were lost (%s): %s",
                          finding_names[first->finding], text.bytes != NULL ? text.bytes : "");
    }
    text_free(&text);
}

void check_acknowledged(struct run *run) {
    run->workload.name = "mq-log";
    run->workload.load_unit = "queue managers";
    run->workload.step_size = "block";
    run->state = "checking";
    run_job(run, work, run, SUPERVISOR_PATIENCE_NS);
    if (!run->thread_hangs && run->reader.failure.status != EXIT_MEASURED) {
        run->failure = run->reader.failure;
    } else if (run->supervisor.reason != STOP_NONE) {
        run_note_stop(run);
    } else {
        report(run);
        reader_free(&run->reader);
    }
}
