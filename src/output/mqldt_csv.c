// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/mqldt_csv.h"

#include "output/console.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t bytes_per_s(uint64_t bytes, uint64_t ns) {
    return ns > 0 ? (uint64_t)((double)bytes * 1e9 / (double)ns + 0.5) : 0;
}

struct mqldt_row mqldt_row_of(const struct result *all) {
    const struct distribution *latency = all->latency;
    uint64_t min_ns = latency->count > 0 ? latency->min_ns : 0;
    return (struct mqldt_row){.queue_managers = all->key.load_point, .values = {
        [MQLDT_BLOCK] = all->key.block_bytes,
        [MQLDT_WRITES] = latency->count,
        [MQLDT_BYTES] = all->bytes,
        [MQLDT_SECOND_MAX] = all->worker_second_max,
        [MQLDT_SECOND_MIN] = all->worker_second_min,
        [MQLDT_BYTES_PER_S] = (uint64_t)(all->bytes_per_s + 0.5),
        [MQLDT_MAX] = all->max_ns,
        [MQLDT_MIN] = min_ns,
        [MQLDT_MEAN] = latency->count > 0 ? (uint64_t)(distribution_mean_ns(latency) + 0.5) : 0,
        [MQLDT_SLOWEST] = bytes_per_s(all->key.block_bytes, all->max_ns),
        [MQLDT_FASTEST] = bytes_per_s(all->key.block_bytes, min_ns),
    }};
}

const char *mqldt_title(enum mqldt_column column, uint32_t queue_managers) {
    static const char *const titles[MQLDT_COLUMNS] = {
        "Blocksize",
        "Total writes to files",
        "Total bytes written to files",
        "Max bytes/sec written to files (over 1 sec interval)",
        "Min bytes/sec written to files (over 1 sec interval)",
        "Avg bytes/sec written to files",
        "Max latency of write (ns)",
        "Min latency of write (ns)",
        "Avg latency of write (ns)",
        "Min bytes/sec (slowest write)",
        "Max bytes/sec (fastest write)"};
    static const char *const of_several[MQLDT_COLUMNS] = {
        [MQLDT_SECOND_MAX] = "Max bytes/sec written to files by a single qm (over 1 sec interval)",
        [MQLDT_SECOND_MIN] = "Min bytes/sec written to files by a single qm (over 1 sec interval)",
        [MQLDT_BYTES_PER_S] = "Avg bytes/sec written to files by all queue managers"};
    return queue_managers > 1 && of_several[column] != NULL ? of_several[column] : titles[column];
}

void csvfile_add(struct csvfile *csvfile, const struct mqldt_row *row) {
    struct text *text = &csvfile->text;
    bool titled = row->queue_managers == csvfile->queue_managers;
    if (!titled && row->queue_managers > 1) {
        text_printf(text, "Running MQLDT over %" PRIu32 " Queue Managers\n", row->queue_managers);
    }
    for (int i = 0; !titled && i < MQLDT_COLUMNS; i++) {
        text_printf(text, "%s%s", i > 0 ? "," : "", mqldt_title((enum mqldt_column)i, row->queue_managers));
    }
    for (int i = 0; i < MQLDT_COLUMNS; i++) {
        text_printf(text, "%s%" PRIu64, i > 0 ? "," : titled ? "" : "\n", row->values[i]);
    }
    text_printf(text, "\n");
    csvfile->queue_managers = row->queue_managers;
}

static bool refuse(struct failure *failure, const char *path, const char *why) {
    return failure_set(failure, EXIT_REFUSED, "--csvFile=%s cannot be written: %s; name another file", path, why);
}

bool csvfile_open(struct csvfile *csvfile, const char *path, struct failure *failure) {
    struct stat status, screen;
    *csvfile = (struct csvfile){.path = path, .fd = -1};
    bool exists = path != NULL && stat(path, &status) == 0;
    csvfile->on_screen = exists && fstat(STDOUT_FILENO, &screen) == 0 && screen.st_dev == status.st_dev &&
                         screen.st_ino == status.st_ino;
    if (path == NULL || csvfile->on_screen) {
        return true;
    }
    if (exists && S_ISBLK(status.st_mode)) {
        return refuse(failure, path, "it is a disk");
    }
    // O_NONBLOCK, so that a pipe without a reader does not delay the start.
    int flags = O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | (exists ? 0 : O_CREAT);
    csvfile->fd = open(path, flags, 0666);
    csvfile->made = csvfile->fd >= 0 && !exists;
    csvfile->unread = csvfile->fd < 0 && errno == ENXIO && exists && S_ISFIFO(status.st_mode);
    return csvfile->unread || (csvfile->fd >= 0 && fcntl(csvfile->fd, F_SETFL, O_APPEND) == 0) ||
           refuse(failure, path, strerror(errno));
}

static void close_file(struct csvfile *csvfile) {
    if (csvfile->fd >= 0) {
        (void)close(csvfile->fd);
        csvfile->fd = -1;
    }
}

void csvfile_discard(struct csvfile *csvfile) {
    if (csvfile->made && csvfile->fd >= 0) {
        (void)test_file_unlink(AT_FDCWD, csvfile->path, csvfile->fd);
    }
    close_file(csvfile);
}

// 0 or errno.
static int write_file(struct csvfile *csvfile, bool append) {
    struct stat status;
    if (csvfile->unread) {
        csvfile->fd = open(csvfile->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    }
    if (csvfile->fd < 0 || fstat(csvfile->fd, &status) != 0) {
        return errno;
    }
    bool regular = S_ISREG(status.st_mode);
    if (regular && !append && ftruncate(csvfile->fd, 0) != 0) {
        return errno;
    }
    int error = text_write(&csvfile->text, csvfile->fd);
    return error == 0 && regular && fsync(csvfile->fd) != 0 ? errno : error;
}

bool csvfile_write(struct csvfile *csvfile, bool append) {
    if (csvfile->path == NULL || csvfile->text.length == 0) {
        csvfile_discard(csvfile);
        return true;
    }
    csvfile->error = csvfile->on_screen ? 0 : write_file(csvfile, append);
    close_file(csvfile);
    return csvfile->error == 0;
}

void csvfile_report(struct csvfile *csvfile) {
    if (csvfile->on_screen && csvfile->text.length > 0) {
        console_print("%s", csvfile->text.bytes);
    }
    if (csvfile->error != 0) {
        console_complain("--csvFile=%s cannot be written: %s", csvfile->path, strerror(csvfile->error));
    }
    text_free(&csvfile->text);
}
