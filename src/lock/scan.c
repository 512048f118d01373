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
    uint64_t acknowledged, known;       // writes of A
    uint64_t pages, pages_of_b;
    uint64_t other_sectors, late_sectors, late_writes, lost;
};

// Returns the number of the write that the sector belongs to; 0 if it is not of this writer, or in the wrong place.
// Counts the sector in any case if it is of this writer, and then sets *found.
static uint64_t write_of(struct writer_found *writer, const unsigned char *sector, uint64_t at_bytes, bool *found) {
    uint64_t write;
    struct spot from;
    *found = geometry_trace(&writer->geometry, sector, &write, &from);
    if (!*found) {
        return 0;
    }
    writer->sectors++;
    writer->write_max = write > writer->write_max ? write : writer->write_max;
    return from.offset_bytes == at_bytes ? write : 0;
}

// Returns the last acknowledged write of A to the page; 0 if there is none.
static uint64_t last_acknowledged(const struct scan *scan, uint64_t page) {
    return scan->acknowledged > page ? scan->acknowledged - (scan->acknowledged - 1 - page) % scan->pages : 0;
}

static void take_page(struct scan *scan, const unsigned char *content, uint64_t page) {
    bool is_of_b = page < scan->pages_of_b, is_of_a;
    uint64_t oldest = UINT64_MAX, late = 0;
    for (size_t sector = 0; sector < PROTOCOL_PAGE_BYTES; sector += PAYLOAD_SECTOR_BYTES) {
        uint64_t at_bytes = page * PROTOCOL_PAGE_BYTES + sector;
        uint64_t write = write_of(&scan->a, content + sector, at_bytes, &is_of_a);
        oldest = write < oldest ? write : oldest;
        if (is_of_a) {
            late += is_of_b || write > scan->known;
        } else {
            (void)write_of(&scan->b, content + sector, at_bytes, &is_of_a);
            scan->other_sectors += !is_of_a;
        }
    }
    scan->late_sectors += late;
    scan->late_writes += late > 0;
    scan->lost += !is_of_b && oldest < last_acknowledged(scan, page);
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
        for (size_t page = 0; page < length; page += PROTOCOL_PAGE_BYTES) {
            take_page(scan, part + page, (at + page) / PROTOCOL_PAGE_BYTES);
        }
    }
    return 0;
}

static int scan_file(struct scan *scan, const struct opened_file *file, const struct command *command) {
    ring_geometry(&scan->a.geometry, command->values[0], file->bytes);
    ring_geometry(&scan->b.geometry, command->values[1], file->bytes);
    scan->acknowledged = command->values[2];
    scan->known = command->values[3];
    scan->pages = file->bytes / PROTOCOL_PAGE_BYTES;
    scan->pages_of_b = command->values[4] < scan->pages ? command->values[4] : scan->pages;
    return read_ring(scan, file->fd);
}

void scan_ring(struct locker *locker, const struct command *command) {
    struct scan scan = {0};
    struct answer answer = locker_answer_to(locker, command);
    const struct opened_file *file = locker_file(locker, command->file);
    answer.error = file == NULL ? EBADF : file->bytes < PROTOCOL_PAGE_BYTES ? EINVAL : scan_file(&scan, file, command);
    answer.outcome = answer.error != 0 ? ANSWER_FAILED : ANSWER_DONE;
    if (answer.error == 0) {
        answer_add(&answer, FIGURE_A_SECTORS, scan.a.sectors);
        answer_add(&answer, FIGURE_B_SECTORS, scan.b.sectors);
        answer_add(&answer, FIGURE_OTHER_SECTORS, scan.other_sectors);
        answer_add(&answer, FIGURE_A_WRITE_MAX, scan.a.write_max);
        answer_add(&answer, FIGURE_B_WRITE_MAX, scan.b.write_max);
        answer_add(&answer, FIGURE_LATE_SECTORS, scan.late_sectors);
        answer_add(&answer, FIGURE_LATE_WRITES, scan.late_writes);
        answer_add(&answer, FIGURE_LOST, scan.lost);
    }
    locker_answer(locker, &answer);
}
