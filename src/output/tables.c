// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/tables.h"

#include "output/console.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RUN_ASIDE ".run.csv.tmp"
#define NO_REPLACE 1u                           // RENAME_NOREPLACE, which older headers lack
#define CLOSE_ON_EXEC 1u                        // MFD_CLOEXEC, which older headers lack
#define PRINTED_LINE_BYTES 4096                 // plus one row; runtimes split lines of more than 16 KiB
#define WAITING_MAX_BYTES (UINT64_C(16) << 20)  // text of one table, while its file system hangs

// If space were not reserved, the whole result would be lost if the file system became full.
static const off_t reserved_bytes[TABLES] = {[TABLE_RESULTS] = 512 << 10, [TABLE_RUN] = 64 << 10};

static const char *name_of(int table) {
    return table == TABLE_RUN ? RUN_ASIDE : table_names[table];
}

// Older headers lack memfd_create.
static int open_in_memory(const char *name) {
#ifdef SYS_memfd_create
    return (int)syscall(SYS_memfd_create, name, CLOSE_ON_EXEC);
#else
    errno = ENOSYS;
    return -1;
#endif
}

// The start.

static bool open_directory(struct tables *tables, struct failure *failure) {
    if (tables->printed) {
        return true;
    }
    tables->made_directory = mkdir(tables->path, 0700) == 0;
    if (tables->made_directory || errno == EEXIST) {
        tables->dir_fd = open(tables->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return tables->dir_fd >= 0 ||
           failure_set(failure, EXIT_REFUSED, "--tables=%s: cannot create or open the directory: %s", tables->path,
                       strerror(errno));
}

// Some file systems cannot reserve space.
static bool reserve(int fd, off_t bytes) {
    return bytes == 0 || fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, bytes) == 0 || (errno != ENOSPC && errno != EDQUOT);
}

static bool open_table(struct tables *tables, int table, struct failure *failure) {
    struct table_file *file = &tables->files[table];
    struct stat status;
    if (!tables->printed && fstatat(tables->dir_fd, table_names[table], &status, AT_SYMLINK_NOFOLLOW) == 0) {
        return failure_set(failure, EXIT_REFUSED, "--tables=%s: %s already exists; name a directory without tables",
                           tables->path, table_names[table]);
    }
    file->fd = tables->printed
                   ? open_in_memory(table_names[table])
                   : openat(tables->dir_fd, name_of(table), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file->fd < 0 && errno == EEXIST && table == TABLE_RUN) {
        return failure_set(failure, EXIT_REFUSED,
                           "--tables=%s: %s/%s already exists, from a run that was killed or is still running; remove "
                           "it, or name another directory",
                           tables->path, tables->path, RUN_ASIDE);
    }
    if (file->fd < 0) {
        return failure_set(failure, EXIT_REFUSED, "--tables=%s: cannot create %s: %s", tables->path, table_names[table],
                           strerror(errno));
    }
    if (!reserve(file->fd, reserved_bytes[table])) {
        return failure_set(
            failure, EXIT_REFUSED, "--tables=%s: no space for %s: %s; free some, or name another directory",
            tables->path, table_names[table], strerror(errno));
    }
    if (tables->json) {
        file->rows.form = table == TABLE_RUN ? CSV_MEMBERS : CSV_OBJECTS;
        return true;
    }
    file->rows.form = table == TABLE_RUN ? CSV_PAIRS : CSV_NAMES;
    if (table == TABLE_RUN) {
        csv_text(&file->rows, "key", NULL, "value");
    } else if (table != TABLE_DURABILITY) {
        columns_put(&file->rows, (enum table)table, NULL);
        file->rows.form = CSV_VALUES;
    }
    return true;
}

static bool is_wanted(int table, enum tables_kind kind) {
    switch (table) {
    case TABLE_RUN: return true;
    case TABLE_DURABILITY: return kind == TABLES_OF_CHECK;
    case TABLE_BATCHES: return kind == TABLES_OF_LOG;
    case TABLE_RESPONSES: case TABLE_FIDELITY: return kind == TABLES_OF_STREAMS;
    default: return kind != TABLES_OF_CHECK;
    }
}

bool tables_open(struct tables *tables, const char *path, bool json, enum tables_kind kind, struct failure *failure) {
    path = json ? TABLES_PRINTED : path;
    *tables = (struct tables){
        .path = path, .dir_fd = -1, .json = json, .printed = path != NULL && strcmp(path, TABLES_PRINTED) == 0};
    for (int i = 0; i < TABLES; i++) {
        tables->files[i].fd = -1;
    }
    bool good = path == NULL || open_directory(tables, failure);
    for (int i = 0; path != NULL && good && i < TABLES; i++) {
        good = !is_wanted(i, kind) || open_table(tables, i, failure);
    }
    if (!good) {
        tables_discard(tables);
    }
    return good;
}

void tables_discard(struct tables *tables) {
    for (int i = 0; i < TABLES; i++) {
        if (tables->files[i].fd >= 0) {
            if (!tables->printed) {
                (void)unlinkat(tables->dir_fd, name_of(i), 0);
            }
            (void)close(tables->files[i].fd);
        }
        text_free(&tables->files[i].rows.text);
    }
    if (tables->dir_fd >= 0) {
        (void)close(tables->dir_fd);
    }
    if (tables->made_directory) {
        (void)rmdir(tables->path);
    }
    tables->path = NULL;
}

struct csv *tables_rows(struct tables *tables, enum table table) {
    struct table_file *file = &tables->files[table];
    return tables->path != NULL && atomic_load(&file->error) == 0 ? &file->rows : NULL;
}

void tables_add(struct tables *tables, enum table table, const struct table_row *row) {
    struct csv *rows = tables_rows(tables, table);
    if (rows != NULL) {
        columns_put(rows, table, row);
    }
}

// Writing.

// An incomplete table is useless, and the other tables may need its space.
static void give_up(struct table_file *file, int error) {
    atomic_store(&file->error, error);
    (void)ftruncate(file->fd, 0);
}

static void write_rows(struct table_file *file, const struct text *text) {
    int error = atomic_load(&file->error);
    error = error == 0 ? text_write(text, file->fd) : error;
    if (error != 0) {
        give_up(file, error);
    }
}

static void write_job(void *argument) {
    struct table_file *file = argument;
    write_rows(file, &file->writing);
    text_cut(&file->writing, 0);
    atomic_store(&file->busy, false);
}

static void report(struct tables *tables) {
    for (int i = 0; tables->path != NULL && i < TABLES; i++) {
        struct table_file *file = &tables->files[i];
        int error = atomic_load(&file->error);
        if (error != 0 && !file->reported) {
            console_complain("--tables=%s: cannot write %s: %s%s", tables->path, table_names[i], strerror(error),
                             i == TABLE_RUN ? "" : "; it will be missing, and measuring continues");
            file->reported = true;
        }
    }
}

void tables_flush(struct tables *tables, struct job_thread *files) {
    for (int i = 0; tables->path != NULL && i < TABLE_RUN; i++) {
        struct table_file *file = &tables->files[i];
        struct text *rows = &file->rows.text;
        if (!atomic_load(&file->busy) && rows->length > 0) {
            struct text empty = file->writing;
            file->writing = *rows;
            *rows = empty;
            atomic_store(&file->busy, true);
            (void)job_thread_add(files, write_job, file);      // there is room, because each table has at most one job
        } else if (rows->length > WAITING_MAX_BYTES) {
            atomic_store(&file->error, ETIMEDOUT);
            text_cut(rows, 0);
        }
    }
    report(tables);
}

// Writes the remaining rows, releases the reserved space, and syncs the file.
// Returns 0 or the error.
static int complete_table(struct tables *tables, int table) {
    struct table_file *file = &tables->files[table];
    if (file->fd < 0) {
        return 0;
    }
    write_rows(file, &file->rows.text);
    off_t end = lseek(file->fd, 0, SEEK_CUR);
    if (atomic_load(&file->error) == 0 && (end < 0 || ftruncate(file->fd, end) != 0 || fsync(file->fd) != 0)) {
        give_up(file, errno);
    }
    if (!tables->printed) {
        (void)close(file->fd);
        if (atomic_load(&file->error) != 0) {
            (void)unlinkat(tables->dir_fd, name_of(table), 0);
        }
    }
    text_free(&file->rows.text);
    text_free(&file->writing);
    return atomic_load(&file->error);
}

bool tables_complete(struct tables *tables) {
    for (int i = 0; tables->path != NULL && i < TABLE_RUN; i++) {
        int error = complete_table(tables, i);
        if (error != 0) {
            size_t length = strlen(tables->missing);
            (void)snprintf(tables->missing + length, sizeof tables->missing - length, "%s%s", length > 0 ? " " : "",
                           table_names[i]);
            (void)failure_set(&tables->failure, EXIT_REFUSED, "--tables: cannot write %s: %s", tables->missing,
                              strerror(error));
        }
    }
    return tables->missing[0] == '\0';
}

// Renames run.csv, but never over another file. Some file systems and containers cannot rename without replacing.
static int name_run(int dir_fd) {
    struct stat status;
    if (syscall(SYS_renameat2, dir_fd, RUN_ASIDE, dir_fd, "run.csv", NO_REPLACE) == 0) {
        return 0;
    }
    if (fstatat(dir_fd, "run.csv", &status, AT_SYMLINK_NOFOLLOW) == 0) {
        return EEXIST;
    }
    return renameat(dir_fd, RUN_ASIDE, dir_fd, "run.csv") == 0 ? 0 : errno;
}

bool tables_complete_run(struct tables *tables) {
    int error = complete_table(tables, TABLE_RUN);
    if (tables->printed) {
        return error == 0;
    }
    error = error == 0 ? name_run(tables->dir_fd) : error;
    atomic_store(&tables->files[TABLE_RUN].error, error);
    (void)fsync(tables->dir_fd);
    (void)close(tables->dir_fd);
    return error == 0;
}

// Printing.

// Computes the same CRC as zlib, gzip and cksum -o 3.
static uint32_t crc32(const char *bytes, size_t length) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
        }
    }
    return ~crc;
}

// Prints several rows per line, because the container runtime adds a prefix to each line, and the prefix is longer than
// many rows.
static bool print_rows(char *rows, size_t length, bool (*wait)(void *), void *context) {
    for (char *end = rows + length, *next = rows; rows < end; rows = next) {
        char *feed = NULL;
        while (next < end && (feed == NULL || next - rows < PRINTED_LINE_BYTES)) {
            if (feed != NULL) {
                *feed = '\t';           // no row contains a tab
            }
            feed = memchr(next, '\n', (size_t)(end - next));
            next = feed != NULL ? feed + 1 : end;
        }
        console_result("|%.*s", (int)(next - rows), rows);
        if (console_is_behind() && !wait(context)) {
            return false;
        }
    }
    return true;
}

// Prints the objects or members, without the comma after the last one.
static bool print_json(const char *rows, size_t length, bool (*wait)(void *), void *context) {
    length -= length > 2 ? 2 : 0;
    for (size_t part; length > 0; rows += part, length -= part) {
        part = length < PRINTED_LINE_BYTES ? length : PRINTED_LINE_BYTES;
        console_result("%.*s", (int)part, rows);
        if (console_is_behind() && !wait(context)) {
            return false;
        }
    }
    return true;
}

static bool print_as_json(enum table table, char *rows, size_t length, bool (*wait)(void *), void *context) {
    const char *name = table_names[table];
    bool members = table == TABLE_RUN;
    console_result(",\n\"%.*s\":%s", (int)(strlen(name) - strlen(".csv")), name, members ? "{\n" : "[\n");
    bool good = print_json(rows, length, wait, context);
    console_result(members ? "\n}" : "\n]");
    return good;
}

static bool print_as_csv(enum table table, char *rows, size_t length, bool (*wait)(void *), void *context) {
    console_result("|= %s %zu %08" PRIx32 "\n", table_names[table], length, crc32(rows, length));
    return print_rows(rows, length, wait, context);
}

// Returns false on failure.
static bool print_table(const struct tables *tables, enum table table, bool (*wait)(void *), void *context) {
    int fd = tables->files[table].fd;
    struct stat status;
    size_t length = fstat(fd, &status) == 0 ? (size_t)status.st_size : 0;
    // A mapping cannot be empty; only JSON has no header.
    char *rows = length > 0 || tables->json
                     ? mmap(NULL, length > 0 ? length : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0)
                     : MAP_FAILED;
    if (rows == MAP_FAILED) {
        console_complain("cannot print %s: %s", table_names[table], strerror(errno));
        return false;
    }
    bool good = (tables->json ? print_as_json : print_as_csv)(table, rows, length, wait, context);
    (void)munmap(rows, length > 0 ? length : 1);
    return good;
}

bool tables_print(struct tables *tables, bool (*wait)(void *context), void *context) {
    int count = 0;
    bool good = true;
    console_result(tables->json ? "{\"schema\":1" : "");
    for (int i = 0; good && i < TABLES; i++) {
        struct table_file *file = &tables->files[i];
        if (file->fd >= 0 && atomic_load(&file->error) == 0) {
            good = print_table(tables, (enum table)i, wait, context);
            count++;
        }
    }
    if (good && tables->json) {
        console_result("\n}\n");
    } else if (good) {
        console_result("|= end %d\n", count);
    }
    return good;
}
