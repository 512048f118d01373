// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files that are either complete or absent: the tables and mqldt's table.
#include "base/clock.h"
#include "output/progress.h"
#include "output/tables.h"
#include "output/mqldt_csv.h"
#include "cut/mark.h"
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/logdisk-unit-XXXXXX";

static const char *in_directory(const char *name) {
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return path;
}

static void make_directory(void) {
    memcpy(directory + strlen(directory) - 6, "XXXXXX", 6);
    CHECK(mkdtemp(directory) != NULL);
}

static void put_file(const char *name, const char *text) {
    FILE *file = fopen(in_directory(name), "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char *get_file(const char *name) {
    static char text[8192];
    FILE *file = fopen(in_directory(name), "r");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL) {
        (void)fclose(file);
    }
    return file != NULL ? text : "(absent)";
}

#define UNNAMED_LAYOUT(run_id, boot_id, seed, numbers, prefix)                                                         \
    "ready " run_id " " boot_id " seed=" seed " " numbers " prefix=" prefix
#define MARK(run_id, boot_id, seed, numbers, prefix)                                                                   \
    UNNAMED_LAYOUT(run_id, boot_id, seed, numbers, prefix) " layout=2\n"
#define MARK_NUMBERS "bsize=4096 file_size=1638400 files=8 qm=2"
#define MARK_BOOT "40e5d4d1-eb9a-4492-b07a-791dd8008e9e"

// A line that differs from what a run writes may have been changed by a power cut or by something else.
void test_mark(void) {
    static const char good[] = MARK("r-1", MARK_BOOT, "18446744073709551615", MARK_NUMBERS, "log");
    static const char *const wrong[] = {
        "",
        "ready\n",
        "ready r-1 " MARK_BOOT " seed=1 " MARK_NUMBERS " prefix=log",
        MARK("r-1", MARK_BOOT, "1", MARK_NUMBERS, ""),
        MARK("r-1", MARK_BOOT, "1", MARK_NUMBERS, "log") "x",
        MARK("r-1", MARK_BOOT "0", "1", MARK_NUMBERS, "log"),
        MARK("r-1", MARK_BOOT, "18446744073709551616", MARK_NUMBERS, "log"),
        MARK("r-1", MARK_BOOT, "-1", MARK_NUMBERS, "log"),
        MARK("r-1", MARK_BOOT, "01", MARK_NUMBERS, "log"),
        MARK("r-1", MARK_BOOT, " 1", MARK_NUMBERS, "log"),
        MARK("r\033[2J", MARK_BOOT, "1", MARK_NUMBERS, "log"),
        MARK("r-1 ", MARK_BOOT, "1", MARK_NUMBERS, "log"),
        MARK("r-1", MARK_BOOT, "1", MARK_NUMBERS, "../log"),
        MARK("r-1", MARK_BOOT, "1", "bsize=512 file_size=1638400 files=8 qm=2", "log"),
        MARK("r-1", MARK_BOOT, "1", "bsize=4096 file_size=0 files=8 qm=2", "log"),
        MARK("r-1", MARK_BOOT, "1", "bsize=4096 file_size=1638400 files=0 qm=2", "log"),
        MARK("r-1", MARK_BOOT, "1", "bsize=4096 file_size=4096 files=1 qm=2", "log"),
        MARK("r-1", MARK_BOOT, "1", "bsize=4096 file_size=1638400 files=8 qm=0", "log"),
        MARK("r-1", MARK_BOOT, "1", "bsize=4096 file_size=1638400 files=8 qm=1001", "log"),
        UNNAMED_LAYOUT("r-1", MARK_BOOT, "1", MARK_NUMBERS, "log") "\n",
        UNNAMED_LAYOUT("r-1", MARK_BOOT, "1", MARK_NUMBERS, "log") " layout=02\n",
        MARK("r-1", MARK_BOOT, "1", "bsize=67112960 file_size=1638400000 files=8 qm=1", "log")};
    struct mark mark;
    char again[MARK_LINE_BYTES];
    CHECK(mark_parse(&mark, good));
    CHECK(mark.seed == UINT64_MAX && mark.block_bytes == 4096 && mark.file_bytes == 1638400 && mark.files == 8);
    CHECK(mark.queue_managers == 2 && strcmp(mark.run_id, "r-1") == 0 && strcmp(mark.boot_id, MARK_BOOT) == 0);
    mark_format(&mark, again);
    CHECK(strcmp(again, good) == 0);
    CHECK(mark.layout == 2);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_CASE(!mark_parse(&mark, wrong[i]), wrong[i]);
    }
}

void test_progress_file(void) {
    static struct failure failure;
    static const struct { const char *text; bool allowed; } existing[] = {
        {"", true}, {"state=finished\n", true}, {"stat", false}, {"precious", false}};
    char path[PATH_MAX];
    make_directory();
    (void)snprintf(path, sizeof path, "%s", in_directory("p"));
    for (size_t i = 0; i < sizeof existing / sizeof existing[0]; i++) {
        struct progress progress = {0};
        put_file("p", existing[i].text);
        CHECK_CASE(progress_open(&progress, path, &failure) == existing[i].allowed, existing[i].text);
        CHECK(strcmp(get_file("p"), existing[i].text) == 0 && strcmp(get_file(".p.tmp"), "(absent)") == 0);
    }
    struct progress link = {0}, pipe = {0}, folder = {0};
    CHECK(symlink("p", in_directory("link")) == 0 && !progress_open(&link, in_directory("link"), &failure));
    CHECK(mkfifo(in_directory("pipe"), 0600) == 0 && !progress_open(&pipe, in_directory("pipe"), &failure));
    CHECK(!progress_open(&folder, directory, &failure));
    // A file that another program creates during the run is kept.
    struct progress progress = {0};
    static struct job_thread files;
    CHECK(unlink(path) == 0 && progress_open(&progress, path, &failure) && job_thread_start(&files));
    text_printf(progress_line(&progress), "state=%s\n", "measuring");
    progress_write(&progress, &files);
    while (!job_thread_idle(&files)) {
        sleep_until_ns(now_ns() + 100000);
    }
    CHECK(strcmp(get_file("p"), "state=measuring\n") == 0);
    CHECK(unlink(path) == 0);
    put_file("p", "precious");
    text_printf(progress_line(&progress), "state=%s\n", "finished");
    progress_write(&progress, &files);
    while (!job_thread_idle(&files)) {
        sleep_until_ns(now_ns() + 100000);
    }
    CHECK(strcmp(get_file("p"), "precious") == 0 && strcmp(get_file(".p.tmp"), "(absent)") == 0);
    text_free(&progress.line);
    static const char *const names[] = {"p", "link", "pipe"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CHECK(unlink(in_directory(names[i])) == 0);
    }
    CHECK(rmdir(directory) == 0);
}

static struct result one_result(struct distribution *distribution) {
    distribution_clear(distribution);
    distribution_add(distribution, 724878, 1);
    distribution_add(distribution, 56458, 2);
    distribution->bytes = 8192;
    return (struct result){
        .key = {1, 4096, 1, "log", "write", 1},
        .bytes = 8192,
        .bytes_per_s = 4096,
        .operations_per_s = 1,
        .start_epoch_ns = UINT64_C(1790000000123456789),
        .elapsed_ns = 2000000000,
        .has_intervals = true,
        .interval_bytes_max = 4096,
        .interval_bytes_min = 4096,
        .latency = distribution,
        .max_ns = 724878,
        .max_ordinal = 1,
        .min_worker = 1,
        .max_worker = 1,
        .ring_passes = 0.5};
}

static size_t count_of(const char *text, char wanted) {
    size_t count = 0;
    for (; *text != '\0' && *text != '\n'; text++) {
        count += *text == wanted;
    }
    return count;
}

void test_tables(void) {
    static struct tables tables;
    static struct distribution distribution;
    static struct failure failure;
    static const char *const names[] = {"results.csv", "intervals.csv", "histogram.csv", "stalls.csv",
                                        "rounds.csv",  "over.csv",      "batches.csv",   "run.csv"};
    make_directory();
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/t", directory);
    CHECK(tables_open(&tables, path, false, TABLES_OF_LOG, &failure));
    struct stat status;
    CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0700);
    struct result result = one_result(&distribution);
    struct result_key step = {.step = 1, .block_bytes = 4096, .load_point = 1, .stream = "log", .operation = "write"};
    tables_add(&tables, TABLE_RESULTS, &(struct table_row){.key = result.key, .result = &result});
    tables_add(&tables, TABLE_INTERVALS, &(struct table_row){.key = step, .number = 1, .latency = &distribution});
    tables_add(&tables, TABLE_HISTOGRAM, &(struct table_row){.key = step, .number = 30, .latency = &distribution,
                                                             .bucket = distribution_bucket(724878)});
    tables_add(&tables, TABLE_OVER, &(struct table_row){.key = step, .number = 1, .over_ns = 56575,
                                                        .over = distribution_over(&distribution, 56575)});
    struct result_key of_second = step;
    of_second.worker = 2;
    tables_add(&tables, TABLE_BATCHES, &(struct table_row){.key = of_second, .number = 30, .batch = {7, 8000}});
    csv_text(&tables.files[TABLE_RUN].rows, "a", "text", "a,b");
    CHECK(strcmp(get_file("t/run.csv"), "(absent)") == 0);
    CHECK(tables_complete(&tables) && tables.missing[0] == '\0' && tables_complete_run(&tables));
    const char *results = get_file("t/results.csv");
    const char *row = strchr(results, '\n') + 1;
    CHECK(count_of(results, ',') == count_of(row, ','));
    CHECK(strncmp(row,
                  "1,4096,1,log,write,1,1790000000.123456,2000000000,2,8192,4096,1.000,4096,4096,781336,390668.000,"
                  "334210.000,"
                  "0.855483,56458,2,724878,1,0,56575,,,,,,",
                  130) == 0);
    CHECK(strcmp(get_file("t/intervals.csv"),
                 "step,block_size_bytes,load_point,stream,operation,worker,second,partial,operations,bytes,latency_sum_"
                 "ns,latency_min_ns,"
                 "latency_p50_ns,latency_p99_ns,latency_p99_9_ns,latency_max_ns\n"
                 "1,4096,1,log,write,all,1,0,2,8192,781336,56458,56575,,,724878\n") == 0);
    CHECK(strcmp(get_file("t/histogram.csv"),
                 "step,block_size_bytes,load_point,stream,operation,worker,batch,latency_upper_ns,"
                 "operations\n1,4096,1,log,write,all,30,724991,1\n") == 0);
    CHECK(strcmp(get_file("t/over.csv"),
                 "step,block_size_bytes,load_point,stream,operation,worker,second,over_ns,operations,"
                 "latency_sum_ns\n1,4096,1,log,write,all,1,56575,1,722943\n") == 0);
    CHECK(strcmp(get_file("t/batches.csv"), "step,block_size_bytes,load_point,stream,operation,worker,batch,operations,"
                 "latency_sum_ns\n1,4096,1,log,write,2,30,7,8000\n") == 0);
    CHECK(strcmp(get_file("t/run.csv"), "key,value\na,\"a,b\"\n") == 0);
    CHECK(!tables_open(&tables, path, false, TABLES_OF_LOG, &failure) && failure.status == EXIT_REFUSED);
    CHECK(strstr(failure.message, "results.csv already exists") != NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "t/%s", names[i]);
        CHECK(unlink(in_directory(name)) == 0);
    }
    CHECK(rmdir(path) == 0);
    CHECK(tables_open(&tables, path, false, TABLES_OF_LOG, &failure));     // abandoned: no file remains
    tables_discard(&tables);
    CHECK(access(path, F_OK) != 0 && rmdir(directory) == 0);
    CHECK(!tables_open(&tables, in_directory("no/where"), false, TABLES_OF_LOG, &failure));
    CHECK(tables_open(&tables, NULL, false, TABLES_OF_LOG, &failure));
    tables_add(&tables, TABLE_RESULTS, &(struct table_row){.key = result.key, .result = &result});
    CHECK(tables_complete(&tables) && tables.files[TABLE_RESULTS].rows.text.length == 0);
}

static bool write_csvfile(struct csvfile *csvfile, bool append, const struct mqldt_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        csvfile_add(csvfile, &rows[i]);
    }
    bool written = csvfile_write(csvfile, append);
    text_free(&csvfile->text);
    return written;
}

void test_mqldt_table(void) {
    static struct failure failure;
    struct csvfile csvfile;
    static const struct mqldt_row rows[] = {
        {1, {4096, 25311, 103673856, 36048896, 33797184, 34558314, 724878, 56458, 118000, 5650606, 72549504}},
        {2, {8192, 1}}};
    static const char single[] =
        "Blocksize,Total writes to files,Total bytes written to files,Max bytes/sec written to files (over 1 sec "
        "interval),Min bytes/sec written to files (over 1 sec interval),Avg bytes/sec written to files,Max latency of "
        "write (ns),Min latency of write (ns),Avg latency of write (ns),Min bytes/sec (slowest write),Max bytes/sec "
        "(fastest write)\n4096,25311,103673856,36048896,33797184,34558314,724878,56458,118000,5650606,72549504\n";
    static const char several[] =
        "Running MQLDT over 2 Queue Managers\nBlocksize,Total writes to files,Total bytes written to files,Max "
        "bytes/sec written to files by a single qm (over 1 sec interval),Min bytes/sec written to files by a single qm "
        "(over 1 sec interval),Avg bytes/sec written to files by all queue managers,Max latency of write (ns),Min "
        "latency of write (ns),Avg latency of write (ns),Min bytes/sec (slowest write),Max bytes/sec (fastest write)\n"
        "8192,1,0,0,0,0,0,0,0,0,0\n";
    char wanted[4096];
    make_directory();
    const char *path = in_directory("o.csv");
    CHECK(csvfile_open(&csvfile, path, &failure) && get_file("o.csv")[0] == '\0');
    csvfile_discard(&csvfile);
    CHECK(access(path, F_OK) != 0);
    CHECK(csvfile_open(&csvfile, path, &failure) && write_csvfile(&csvfile, false, rows, 1));
    CHECK(strcmp(get_file("o.csv"), single) == 0);
    put_file("o.csv", "longer than what replaces it");
    CHECK(csvfile_open(&csvfile, path, &failure));
    csvfile_discard(&csvfile);
    CHECK(strcmp(get_file("o.csv"), "longer than what replaces it") == 0);
    CHECK(csvfile_open(&csvfile, path, &failure) && write_csvfile(&csvfile, false, rows, 1));
    CHECK(strcmp(get_file("o.csv"), single) == 0);
    CHECK(csvfile_open(&csvfile, path, &failure) && write_csvfile(&csvfile, true, rows, 2));
    (void)snprintf(wanted, sizeof wanted, "%s%s%s", single, single, several);
    CHECK(strcmp(get_file("o.csv"), wanted) == 0);
    CHECK(!csvfile_open(&csvfile, in_directory("no/where"), &failure) && failure.status == EXIT_REFUSED);
    CHECK(csvfile_open(&csvfile, "/dev/full", &failure) && !write_csvfile(&csvfile, false, rows, 1));
    CHECK(unlink(in_directory("o.csv")) == 0 && rmdir(directory) == 0);
}
