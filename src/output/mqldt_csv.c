// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/mqldt_csv.h"

#include "workload/test_file.h"
#include "output/console.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t bytes_per_s(uint64_t bytes, uint64_t ns) {
    return ns > 0 ? (uint64_t)((double)bytes * 1e9 / (double)ns + 0.5) : 0;
}

struct mqldt_row mqldt_row_start(void) {
    return (struct mqldt_row){.second_bytes_min = UINT64_MAX};
}

void mqldt_row_add(struct mqldt_row *row, const struct result *one) {
    uint64_t most = one->has_intervals ? one->interval_bytes_max : (uint64_t)result_bytes_per_s(one);
    uint64_t least = one->has_intervals ? one->interval_bytes_min : (uint64_t)result_bytes_per_s(one);
    row->second_bytes_max = most > row->second_bytes_max ? most : row->second_bytes_max;
    row->second_bytes_min = least < row->second_bytes_min ? least : row->second_bytes_min;
}

void mqldt_row_finish(struct mqldt_row *row, const struct result *all) {
    const struct distribution *latency = all->latency;
    row->block_bytes = all->key.block_bytes;
    row->queue_managers = all->key.load_point;
    row->writes = latency->count;
    row->bytes = all->bytes;
    row->bytes_per_s = (uint64_t)(result_bytes_per_s(all) + 0.5);
    row->max_ns = all->max_ns;
    row->max_write = all->max_ordinal;
    if (latency->count > 0) {
        row->min_ns = latency->min_ns;
        row->min_write = latency->min_ordinal;
        row->mean_ns = (uint64_t)(distribution_mean_ns(latency) + 0.5);
    }
    row->slowest_bytes_per_s = bytes_per_s(row->block_bytes, row->max_ns);
    row->fastest_bytes_per_s = bytes_per_s(row->block_bytes, row->min_ns);
}

static bool refuse(struct failure *failure, const char *path, const char *why) {
    return failure_set(failure, EXIT_REFUSED, "--csvFile=%s cannot be written: %s; name another file", path, why);
}

static bool is_screen(const struct stat *status) {
    struct stat screen;
    return fstat(STDOUT_FILENO, &screen) == 0 && screen.st_dev == status->st_dev && screen.st_ino == status->st_ino;
}

// O_NONBLOCK, so that a pipe without a reader does not hold up the start.
static int open_file(const char *path, int flags) {
    return open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | flags, 0666);
}

bool csvfile_open(struct csvfile *csvfile, const char *path, struct failure *failure) {
    struct stat status;
    *csvfile = (struct csvfile){.path = path, .fd = -1};
    bool exists = path != NULL && stat(path, &status) == 0;
    csvfile->on_screen = exists && is_screen(&status);
    if (path == NULL || csvfile->on_screen) {
        return true;
    }
    if (exists && S_ISBLK(status.st_mode)) {
        return refuse(failure, path, "it is a disk");
    }
    csvfile->fd = open_file(path, 0);
    if (csvfile->fd < 0 && errno == ENOENT) {
        csvfile->fd = open_file(path, O_CREAT);
        csvfile->made = csvfile->fd >= 0;
    }
    csvfile->unread = csvfile->fd < 0 && errno == ENXIO && exists && S_ISFIFO(status.st_mode);
    if (csvfile->unread) {
        return true;
    }
    if (csvfile->fd < 0 || fcntl(csvfile->fd, F_SETFL, O_APPEND) != 0) {
        return refuse(failure, path, strerror(errno));
    }
    return true;
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

static void put_header(struct text *text, uint32_t queue_managers) {
    bool several = queue_managers > 1;
    if (several) {
        text_printf(text, "Running MQLDT over %" PRIu32 " Queue Managers\n", queue_managers);
    }
    text_printf(text, "Blocksize,Total writes to files,Total bytes written to files,"
                  "Max bytes/sec written to files%s (over 1 sec interval),"
                  "Min bytes/sec written to files%s (over 1 sec interval),Avg bytes/sec written to files%s,"
                  "Max latency of write (ns),Min latency of write (ns),Avg latency of write (ns),"
                  "Min bytes/sec (slowest write),Max bytes/sec (fastest write)\n",
                  several ? " by a single qm" : "", several ? " by a single qm" : "",
                  several ? " by all queue managers" : "");
}

static void put_row(struct text *text, const struct mqldt_row *row) {
    text_printf(text, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                  ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", row->block_bytes, row->writes, row->bytes,
                  row->second_bytes_max, row->second_bytes_min, row->bytes_per_s, row->max_ns, row->min_ns,
                  row->mean_ns, row->slowest_bytes_per_s, row->fastest_bytes_per_s);
}

static void put_rows(struct text *text, const struct mqldt_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].queue_managers != rows[i - 1].queue_managers) {
            put_header(text, rows[i].queue_managers);
        }
        put_row(text, &rows[i]);
    }
}

static int write_text(int fd, const char *text, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, text, length);
        if (done >= 0) {
            text += done;
            length -= (size_t)done;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

// 0 or errno.
static int write_file(struct csvfile *csvfile, bool append, const char *text, size_t length) {
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
    int error = write_text(csvfile->fd, text, length);
    return error == 0 && regular && fsync(csvfile->fd) != 0 ? errno : error;
}

bool csvfile_write(struct csvfile *csvfile, bool append, const struct mqldt_row *rows, size_t count) {
    if (csvfile->path == NULL || count == 0) {
        csvfile_discard(csvfile);
        return true;
    }
    put_rows(&csvfile->text, rows, count);
    csvfile->error = csvfile->text.incomplete ? ENOMEM : csvfile->on_screen ? 0
                     : write_file(csvfile, append, csvfile->text.bytes, csvfile->text.length);
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
