// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/tables.h"

#include "output/console.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RESULT_ROW_BYTES UINT64_C(1024)         // twice what most take; the header takes two
#define RESERVE_MAX_BYTES (UINT64_C(1) << 20)
#define RUN_TABLE_BYTES (UINT64_C(64) << 10)
#define WAITING_MAX_BYTES (UINT64_C(16) << 20)  // of one table, while its file system hangs
#define RUN_ASIDE ".run.csv.tmp"
#define NO_REPLACE 1u                           // RENAME_NOREPLACE, which older headers lack

// The start.

static bool open_directory(struct tables *tables, struct failure *failure) {
    tables->made_directory = mkdir(tables->path, 0700) == 0;
    if (!tables->made_directory && errno != EEXIST) {
        return failure_set(failure, EXIT_REFUSED, "--tables=%s: cannot make the directory: %s", tables->path, strerror(errno));
    }
    tables->dir_fd = open(tables->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return tables->dir_fd >= 0 || failure_set(failure, EXIT_REFUSED, "--tables=%s: cannot open the directory: %s",
                                              tables->path, strerror(errno));
}

static bool refuse_existing(const struct tables *tables, const char *name, struct failure *failure) {
    if (strcmp(name, RUN_ASIDE) == 0) {
        return failure_set(failure, EXIT_REFUSED, "--tables=%s: %s/%s already exists, from a run that was killed or is "
                           "still going on; remove it, or name another directory", tables->path, tables->path, name);
    }
    return failure_set(failure, EXIT_REFUSED, "--tables=%s: %s already exists; name a directory without tables",
                       tables->path, name);
}

static uint64_t reserve_bytes(enum table table, uint64_t result_rows) {
    uint64_t results_bytes = (result_rows + 2) * RESULT_ROW_BYTES;
    results_bytes = results_bytes < RESERVE_MAX_BYTES ? results_bytes : RESERVE_MAX_BYTES;
    return table == TABLE_RESULTS ? results_bytes : table == TABLE_RUN ? RUN_TABLE_BYTES : 0;
}

// Reserves space, without which a full file system would take the whole result. Some file systems cannot do that.
static int reserve(int fd, uint64_t bytes) {
    int result;
    do {
        result = bytes > 0 ? fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) : 0;
    } while (result != 0 && errno == EINTR);
    return result != 0 && (errno == ENOSPC || errno == EDQUOT) ? errno : 0;
}

static bool open_table(struct tables *tables, enum table table, uint64_t bytes, struct failure *failure) {
    struct table_file *file = &tables->files[table];
    struct stat status;
    const char *name = table == TABLE_RUN ? RUN_ASIDE : table_names[table];
    file->dir_fd = tables->dir_fd;
    if (fstatat(tables->dir_fd, table_names[table], &status, AT_SYMLINK_NOFOLLOW) == 0) {
        return refuse_existing(tables, table_names[table], failure);
    }
    file->fd = openat(tables->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file->fd < 0 && errno == EEXIST) {
        return refuse_existing(tables, name, failure);
    }
    if (file->fd < 0) {
        return failure_set(failure, EXIT_REFUSED, "--tables=%s: cannot create %s: %s", tables->path, name, strerror(errno));
    }
    file->name = name;
    int error = reserve(file->fd, bytes);
    return error == 0 || failure_set(failure, EXIT_REFUSED, "--tables=%s: no space for %s: %s; free some, or name another "
                                     "directory", tables->path, table_names[table], strerror(error));
}

bool tables_open(struct tables *tables, const char *path, uint64_t result_rows, struct failure *failure) {
    *tables = (struct tables){.path = path, .dir_fd = -1};
    for (int i = 0; i < TABLES; i++) {
        tables->files[i].fd = -1;
    }
    bool good = path == NULL || open_directory(tables, failure);
    for (int i = 0; path != NULL && good && i < TABLES; i++) {
        good = open_table(tables, (enum table)i, reserve_bytes((enum table)i, result_rows), failure);
        struct csv *rows = &tables->files[i].rows;
        if (good && i != TABLE_RUN) {
            rows->form = CSV_NAMES;
            columns_put(rows, (enum table)i, NULL);
            rows->form = CSV_VALUES;
        } else if (good) {
            rows->form = CSV_PAIRS;
            csv_text(rows, "key", NULL, "value");
        }
    }
    if (!good) {
        tables_discard(tables);
    }
    return good;
}

static void remove_file(struct table_file *file) {
    if (file->fd >= 0) {
        (void)unlinkat(file->dir_fd, file->name, 0);
        (void)close(file->fd);
        file->fd = -1;
    }
}

void tables_discard(struct tables *tables) {
    for (int i = 0; i < TABLES; i++) {
        remove_file(&tables->files[i]);
        text_free(&tables->files[i].rows.text);
    }
    if (tables->dir_fd >= 0) {
        (void)close(tables->dir_fd);
        tables->dir_fd = -1;
    }
    if (tables->made_directory) {
        (void)rmdir(tables->path);
    }
    tables->path = NULL;
}

// Rows.

static void add_row(struct tables *tables, enum table table, const struct table_row *row) {
    struct table_file *file = &tables->files[table];
    if (tables->path != NULL && atomic_load(&file->error) == 0) {
        columns_put(&file->rows, table, row);
    }
}

void tables_result(struct tables *tables, const struct result *result) {
    add_row(tables, TABLE_RESULTS, &(struct table_row){.key = result->key, .result = result});
}

void tables_interval(struct tables *tables, const struct result_key *key, uint32_t second, bool partial,
                     const struct distribution *latency) {
    add_row(tables, TABLE_INTERVALS, &(struct table_row){.key = *key, .number = second, .partial = partial, .latency = latency});
}

void tables_batch(struct tables *tables, const struct result_key *key, uint32_t batch, const struct distribution *latency) {
    struct table_row row = {.key = *key, .number = batch, .latency = latency};
    struct bucket_range range = latency->count > 0 ? distribution_range(latency) : (struct bucket_range){1, 0};
    for (row.bucket = range.first; row.bucket <= range.last; row.bucket++) {
        if (latency->buckets[row.bucket] > 0) {
            add_row(tables, TABLE_HISTOGRAM, &row);
        }
    }
}

void tables_stall(struct tables *tables, const struct result_key *key, uint32_t rank, const struct stall *stall,
                  uint64_t step_start_ns, const char *file) {
    struct table_row row = {.key = *key, .number = rank, .stall = stall, .step_start_ns = step_start_ns, .file = file};
    row.key.worker = stall->worker;
    add_row(tables, TABLE_STALLS, &row);
}

void tables_round(struct tables *tables, const struct result_key *key, uint32_t round, const struct round_figures *figures) {
    add_row(tables, TABLE_ROUNDS, &(struct table_row){.key = *key, .number = round, .round = figures});
}

void tables_over(struct tables *tables, const struct result_key *key, uint32_t second, uint64_t over_ns,
                 const struct distribution *latency) {
    struct table_row row = {.key = *key, .number = second, .over_ns = over_ns, .over = distribution_over(latency, over_ns)};
    if (row.over.count > 0) {
        add_row(tables, TABLE_OVER, &row);
    }
}

// Writing.

// A table with a hole is of no use, and its space may be what the others need.
static void write_rows(struct table_file *file, const struct text *text) {
    int error = text->incomplete ? ENOMEM : atomic_load(&file->error);
    for (size_t done = 0; error == 0 && done < text->length;) {
        ssize_t written = write(file->fd, text->bytes + done, text->length - done);
        done += written > 0 ? (size_t)written : 0;
        error = written < 0 && errno != EINTR ? errno : 0;
    }
    if (error != 0) {
        atomic_store(&file->error, error);
        remove_file(file);
    }
}

static void write_job(void *argument) {
    struct table_file *file = argument;
    write_rows(file, &file->writing);
    text_cut(&file->writing, 0);
    atomic_store(&file->busy, false);
}

void tables_flush(struct tables *tables, struct worker_thread *files) {
    for (int i = 0; tables->path != NULL && i < TABLE_RUN; i++) {
        struct table_file *file = &tables->files[i];
        struct text *rows = &file->rows.text;
        if (!atomic_load(&file->busy) && rows->length > 0) {
            struct text empty = file->writing;
            file->writing = *rows;
            *rows = empty;
            atomic_store(&file->busy, true);
            (void)worker_thread_add(files, write_job, file);    // at most one job per table: there is room
        } else if (rows->length > WAITING_MAX_BYTES) {
            atomic_store(&file->error, ETIMEDOUT);
            text_cut(rows, 0);
        }
    }
    tables_report(tables);
}

void tables_report(struct tables *tables) {
    for (int i = 0; tables->path != NULL && i < TABLES; i++) {
        struct table_file *file = &tables->files[i];
        int error = atomic_load(&file->error);
        if (error != 0 && !file->reported) {
            console_complain("--tables=%s: cannot write %s: %s%s", tables->path, table_names[i], strerror(error),
                             i == TABLE_RUN ? "" : "; it will be missing, and measuring goes on");
            file->reported = true;
        }
    }
}

// Writes what is left, gives back the space behind the end, and makes sure that the disk has it.
static void complete_file(struct table_file *file) {
    write_rows(file, &file->rows.text);
    off_t end = file->fd >= 0 ? lseek(file->fd, 0, SEEK_CUR) : -1;
    if (file->fd >= 0 && (end < 0 || ftruncate(file->fd, end) != 0 || fsync(file->fd) != 0)) {
        atomic_store(&file->error, errno);
        remove_file(file);
    }
    text_free(&file->rows.text);
    text_free(&file->writing);
}

bool tables_complete(struct tables *tables, char missing[TABLES_NAMES_BYTES], int *error) {
    missing[0] = '\0';
    *error = 0;
    for (int i = 0; tables->path != NULL && i < TABLE_RUN; i++) {
        struct table_file *file = &tables->files[i];
        complete_file(file);
        if (file->fd >= 0) {
            (void)close(file->fd);
        } else {
            size_t length = strlen(missing);
            (void)snprintf(missing + length, TABLES_NAMES_BYTES - length, "%s%s", length > 0 ? " " : "", table_names[i]);
            *error = *error == 0 ? atomic_load(&file->error) : *error;
        }
    }
    return missing[0] == '\0';
}

// Renames run.csv, but not over another one; some file systems and containers cannot rename without replacing.
static int name_run(int dir_fd) {
    struct stat status;
#ifdef SYS_renameat2
    if (syscall(SYS_renameat2, dir_fd, RUN_ASIDE, dir_fd, "run.csv", NO_REPLACE) == 0) {
        return 0;
    }
#endif
    if (fstatat(dir_fd, "run.csv", &status, AT_SYMLINK_NOFOLLOW) == 0) {
        return EEXIST;
    }
    return renameat(dir_fd, RUN_ASIDE, dir_fd, "run.csv") == 0 ? 0 : errno;
}

bool tables_complete_run(struct tables *tables) {
    struct table_file *file = &tables->files[TABLE_RUN];
    complete_file(file);
    if (file->fd >= 0) {
        (void)close(file->fd);
        atomic_store(&file->error, name_run(tables->dir_fd));
    }
    (void)fsync(tables->dir_fd);
    (void)close(tables->dir_fd);
    return atomic_load(&file->error) == 0;
}
