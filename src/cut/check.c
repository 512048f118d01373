// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/check.h"

#include "cut/durability_csv.h"
#include "cut/report.h"
#include "host/procfs.h"
#include "output/console.h"

static bool read_witness(struct check *check) {
    const char *name = check->options->check_acknowledged;
    struct failure *failure = &check->reader.failure;
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    if (file == NULL) {
        return failure_set(failure, EXIT_REFUSED, "--checkAcknowledged: cannot open %s: %s", name, strerror(errno));
    }
    bool good = witness_read(&check->witness, file, failure);
    (void)fclose(file);
    return good;
}

// Sets the options that describe the run whose files are checked. They appear in run.csv.
static bool take_options(struct check *check) {
    struct options *options = check->options;
    const struct mark *mark = &check->witness.mark;
    options->seed = mark->seed;
    options->block_sizes = (struct number_list){.count = 1, .values = {mark->block_bytes}};
    options->file_bytes = mark->file_bytes;
    options->files = mark->files;
    options->file_prefix = mark->file_prefix;
    bool good = options_take_queue_managers(options, mark->queue_managers);
    check->reader.failure = options->failure;
    return good;
}

static void gather(void *identity, int fd) {
    identity_gather(identity, fd);
}

void check_read(void *argument) {
    struct check *check = argument;
    struct reader *reader = &check->reader;
    if (!tables_open(check->tables, check->options->tables_dir, check->options->json, TABLES_OF_CHECK,
                     &reader->failure)) {
        return;
    }
    struct csv *rows = tables_rows(check->tables, TABLE_DURABILITY);
    if (rows != NULL && rows->form == CSV_NAMES) {
        durability_csv_put(rows, NULL);
        rows->form = CSV_VALUES;
    }
    atomic_store(check->tables_opened, true);
    if (!read_witness(check) || !take_options(check)) {
        return;
    }
    reader->options = check->options;
    reader->mark = &check->witness.mark;
    reader->counts = check->witness.counts;
    reader->writing_ns = witness_writing_ns(&check->witness);
    reader->stop = check->stop;
    reader->first_directory = gather;
    reader->context = check->identity;
    reader_run(reader);
}

static void add_row(struct check *check, const struct durability *row) {
    const struct evidence *first = &row->first;
    char file[PATH_MAX] = "", from[PATH_MAX] = "";
    if (first->finding != FINDING_NONE) {
        reader_path(&check->reader, &first->at, file);
    }
    if (first->stray) {
        reader_path(&check->reader, &first->from, from);
    }
    struct csv *rows = tables_rows(check->tables, TABLE_DURABILITY);
    if (rows != NULL) {
        durability_csv_put(rows, &(struct durability_row){.durability = row, .file = file, .from_file = from});
    }
}

void check_report(struct check *check, struct failure *failure) {
    const struct reader *reader = &check->reader;
    const struct evidence *first = &reader->rows[0].first;
    struct text text = {0};
    for (uint32_t worker = 1; worker <= reader->geometry.queue_managers; worker++) {
        add_row(check, &reader->rows[worker]);
    }
    add_row(check, &reader->rows[0]);
    report_text(&text, reader);
    console_print("%s", text.bytes != NULL ? text.bytes : "");
    text_cut(&text, 0);
    if (first->finding != FINDING_NONE) {
        report_finding(&text, reader, first);
        (void)failure_set(failure, EXIT_LOST, "acknowledged writes were lost (%s): %s",
                          finding_names[first->finding], text.bytes != NULL ? text.bytes : "");
    }
    text_free(&text);
}

void check_put(struct csv *csv, const struct check *check) {
    const struct witness *witness = &check->witness;
    char boot_id[MARK_BOOT_ID_MAX + 1];
    uint64_t writing_ns = witness_writing_ns(witness);
    (void)read_text("/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id);
    csv_text(csv, "acknowledged_run_id", "text", witness->mark.run_id);
    csv_text(csv, "acknowledged_boot_id", "text", witness->mark.boot_id);
    csv_text(csv, "acknowledged_end", "text", witness->reason);
    csv_integer_if(csv, "acknowledged_writing_ns", "ns", writing_ns > 0, writing_ns);
    csv_text(csv, "boot_id", "text", boot_id);
    csv_integer(csv, "check_read_bytes", "bytes", check->reader.bytes);
    csv_integer(csv, "check_buffered", "0/1", check->reader.is_buffered);
}
