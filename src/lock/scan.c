// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/scan.h"

#include "lock/ring_writer.h"

#include <unistd.h>

#define PART_BYTES ((size_t)1 << 20)

struct writer_found {
    struct geometry geometry;
    uint64_t sectors, write_max;
};

struct scan {
    struct writer_found a, b;
    uint64_t other_sectors, late_sectors;
    uint8_t *a_in_page;                 // sectors of A, by page
    uint64_t pages;
};

static bool is_of(struct writer_found *writer, const unsigned char *sector) {
    uint64_t write;
    struct spot from;
    bool found = geometry_trace(&writer->geometry, sector, &write, &from);
    if (found) {
        writer->sectors++;
        writer->write_max = write > writer->write_max ? write : writer->write_max;
    }
    return found;
}

static void take_sector(struct scan *scan, const unsigned char *sector, uint64_t offset_bytes) {
    if (is_of(&scan->a, sector)) {
        scan->a_in_page[offset_bytes / PROTOCOL_PAGE_BYTES]++;
    } else if (!is_of(&scan->b, sector)) {
        scan->other_sectors++;
    }
}

static int read_ring(struct scan *scan, int fd) {
    static _Alignas(PROTOCOL_PAGE_BYTES) unsigned char part[PART_BYTES];
    uint64_t end_bytes = scan->pages * PROTOCOL_PAGE_BYTES;
    for (uint64_t at = 0; at < end_bytes; at += PART_BYTES) {
        size_t length = end_bytes - at < PART_BYTES ? (size_t)(end_bytes - at) : PART_BYTES;
        ssize_t done = pread(fd, part, length, (off_t)at);
        if (done != (ssize_t)length) {
            return done < 0 ? errno : EIO;
        }
        for (size_t sector = 0; sector < length; sector += PAYLOAD_SECTOR_BYTES) {
            take_sector(scan, part + sector, at + sector);
        }
    }
    return 0;
}

static void count_late(struct scan *scan) {
    uint64_t written = scan->b.write_max < scan->pages ? scan->b.write_max : scan->pages;
    for (uint64_t page = 0; page < written; page++) {
        scan->late_sectors += scan->a_in_page[page];
    }
}

static int scan_file(struct scan *scan, const struct opened_file *file) {
    scan->pages = file->bytes / PROTOCOL_PAGE_BYTES;
    scan->a_in_page = calloc(scan->pages > 0 ? scan->pages : 1, sizeof *scan->a_in_page);
    int error = scan->a_in_page == NULL ? ENOMEM : read_ring(scan, file->fd);
    if (error == 0) {
        count_late(scan);
    }
    free(scan->a_in_page);
    return error;
}

void scan_ring(struct locker *locker, const struct command *command) {
    struct scan scan = {0};
    struct answer answer = locker_answer_to(locker, command);
    const struct opened_file *file = locker_file(locker, command->file);
    answer.error = file == NULL ? EBADF : file->bytes < PROTOCOL_PAGE_BYTES ? EINVAL : 0;
    if (answer.error == 0) {
        ring_geometry(&scan.a.geometry, command->values[0], file->bytes);
        ring_geometry(&scan.b.geometry, command->values[1], file->bytes);
        answer.error = scan_file(&scan, file);
    }
    answer.outcome = answer.error != 0 ? ANSWER_FAILED : ANSWER_DONE;
    if (answer.error == 0) {
        answer_add(&answer, FIGURE_A_SECTORS, scan.a.sectors);
        answer_add(&answer, FIGURE_B_SECTORS, scan.b.sectors);
        answer_add(&answer, FIGURE_OTHER_SECTORS, scan.other_sectors);
        answer_add(&answer, FIGURE_A_WRITE_MAX, scan.a.write_max);
        answer_add(&answer, FIGURE_B_WRITE_MAX, scan.b.write_max);
        answer_add(&answer, FIGURE_LATE_SECTORS, scan.late_sectors);
    }
    locker_answer(locker, &answer);
}
