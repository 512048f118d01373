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

struct mqldt_row mqldt_row_of(const struct result *all, const struct writer *writers, struct result_room *room) {
    const struct statistics *figures = &all->latency->statistics;
    struct mqldt_row row = {
        .block_bytes = all->block_bytes,
        .queue_managers = all->queue_managers,
        .writes = figures->count,
        .bytes = all->bytes,
        .bytes_per_s = (uint64_t)(result_bytes_per_s(all) + 0.5),
        .max_ns = result_max_ns(all),
        .max_write = all->max_in_flight ? all->in_flight_write : figures->max_write,
        .second_bytes_min = UINT64_MAX,
    };
    if (figures->count > 0) {
        row.min_ns = figures->min_ns;
        row.min_write = figures->min_write;
        row.mean_ns = (uint64_t)(statistics_mean_ns(figures) + 0.5);
    }
    for (uint32_t i = 0; i < all->queue_managers; i++) {
        struct result one = result_of_writer(&writers[i], all->step, all->start_epoch_ns, room);
        uint64_t most = one.has_intervals ? one.interval_bytes_max : (uint64_t)result_bytes_per_s(&one);
        uint64_t least = one.has_intervals ? one.interval_bytes_min : (uint64_t)result_bytes_per_s(&one);
        row.second_bytes_max = most > row.second_bytes_max ? most : row.second_bytes_max;
        row.second_bytes_min = least < row.second_bytes_min ? least : row.second_bytes_min;
    }
    row.slowest_bytes_per_s = bytes_per_s(row.block_bytes, row.max_ns);
    row.fastest_bytes_per_s = bytes_per_s(row.block_bytes, row.min_ns);
    return row;
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
        log_file_unlink(AT_FDCWD, csvfile->path, csvfile->fd);
    }
    close_file(csvfile);
}

static void put_header(FILE *file, uint32_t queue_managers) {
    bool several = queue_managers > 1;
    if (several) {
        (void)fprintf(file, "Running MQLDT over %" PRIu32 " Queue Managers\n", queue_managers);
    }
    (void)fprintf(file, "Blocksize,Total writes to files,Total bytes written to files,"
                  "Max bytes/sec written to files%s (over 1 sec interval),"
                  "Min bytes/sec written to files%s (over 1 sec interval),Avg bytes/sec written to files%s,"
                  "Max latency of write (ns),Min latency of write (ns),Avg latency of write (ns),"
                  "Min bytes/sec (slowest write),Max bytes/sec (fastest write)\n",
                  several ? " by a single qm" : "", several ? " by a single qm" : "",
                  several ? " by all queue managers" : "");
}

static void put_row(FILE *file, const struct mqldt_row *row) {
    (void)fprintf(file, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                  ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", row->block_bytes, row->writes, row->bytes,
                  row->second_bytes_max, row->second_bytes_min, row->bytes_per_s, row->max_ns, row->min_ns,
                  row->mean_ns, row->slowest_bytes_per_s, row->fastest_bytes_per_s);
}

static void put_rows(FILE *file, const struct mqldt_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].queue_managers != rows[i - 1].queue_managers) {
            put_header(file, rows[i].queue_managers);
        }
        put_row(file, &rows[i]);
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
    char *text = NULL;
    size_t length = 0;
    int error = 0;
    FILE *memory = open_memstream(&text, &length);
    if (memory != NULL) {
        put_rows(memory, rows, count);
    }
    if (memory == NULL || fclose(memory) != 0) {
        error = ENOMEM;
    } else if (csvfile->on_screen) {
        output_print("%s", text);
        output_flush();
    } else {
        error = write_file(csvfile, append, text, length);
    }
    free(text);
    close_file(csvfile);
    if (error != 0) {
        output_complain("--csvFile=%s cannot be written: %s", csvfile->path, strerror(error));
    }
    return error == 0;
}
