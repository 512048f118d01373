// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "measure/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((uint64_t)1 << 20)
#define MEMORY_ALIGNMENT 4096

static ssize_t read_fully(int fd, unsigned char *memory, size_t bytes, uint64_t offset_bytes) {
    ssize_t done;
    do {
        done = pread(fd, memory, bytes, (off_t)offset_bytes);
    } while (done < 0 && errno == EINTR);
    return done;
}

static size_t first_difference(const unsigned char *left, const unsigned char *right, size_t bytes) {
    size_t at = 0;
    while (at < bytes && left[at] == right[at]) {
        at++;
    }
    return at / CONTENT_SECTOR_BYTES * CONTENT_SECTOR_BYTES;
}

static void note_mismatch(struct verify *verify, const struct mismatch *mismatch) {
    if (verify->mismatches < VERIFY_MISMATCHES_KEPT) {
        verify->kept[verify->mismatches] = *mismatch;
    }
    verify->mismatches++;
}

static bool note_failure(struct verify *verify, const char *call, int error, const struct mismatch *place) {
    verify->read_failed = true;
    verify->call = call;
    verify->error = error;
    verify->failed_at = *place;
    return false;
}

// Makes the next reads come from the disk. The kernel drops clean pages only, and without a sync all may be dirty.
static bool drop_cache(struct verify *verify, const struct writer *writer, uint32_t file) {
    int result;
    do {
        result = fdatasync(writer->fds[file]);
    } while (result != 0 && errno == EINTR);
    if (result != 0) {
        struct mismatch place = {.queue_manager = writer->queue_manager, .file = file};
        return note_failure(verify, "fdatasync", errno, &place);
    }
    (void)posix_fadvise(writer->fds[file], 0, 0, POSIX_FADV_DONTNEED);
    return true;
}

// Writes n (from 0) and up to count - 1 after it, which lie one behind the other in one file.
static bool check_blocks(struct verify *verify, struct writer *writer, uint64_t n, uint64_t count, unsigned char *memory) {
    struct mismatch place = {.queue_manager = writer->queue_manager};
    ring_position(&writer->ring, writer->first_file, n, &place.file, &place.offset_bytes);
    size_t bytes = (size_t)(count * verify->block_bytes);
    ssize_t done = read_fully(writer->fds[place.file], memory, bytes, place.offset_bytes);
    if (done != (ssize_t)bytes) {
        place.write = n + 1;
        return note_failure(verify, "pread", done < 0 ? errno : FAILURE_SHORT_WRITE, &place);
    }
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *found = memory + i * verify->block_bytes;
        const unsigned char *wanted = content_expect(&writer->content, n + i);
        verify->blocks++;
        if (memcmp(found, wanted, verify->block_bytes) != 0) {
            struct mismatch mismatch = place;
            mismatch.offset_bytes += i * verify->block_bytes + first_difference(found, wanted, verify->block_bytes);
            mismatch.write = n + i + 1;
            note_mismatch(verify, &mismatch);
        }
    }
    return true;
}

static bool check_writer(struct verify *verify, struct writer *writer, unsigned char *memory) {
    uint64_t in_file = writer->ring.file_bytes / verify->block_bytes;
    uint64_t n = writer->writes > writer->pass_writes ? writer->writes - writer->pass_writes : 0;
    uint64_t at_once = READ_BYTES > verify->block_bytes ? READ_BYTES / verify->block_bytes : 1;
    // Where the step went on after this, its next writes will continue the sequence of stamps, not repeat it.
    uint64_t next_stamp = writer->content.stamp;
    size_t next_window = writer->content.window;
    bool good = true;
    for (uint32_t file = 0; good && !verify->direct && file < writer->ring.files && !atomic_load(&verify->stop); file++) {
        good = drop_cache(verify, writer, file);
    }
    while (good && n < writer->writes && !atomic_load(&verify->stop)) {
        uint64_t count = in_file - n % in_file;
        count = count < at_once ? count : at_once;
        count = count < writer->writes - n ? count : writer->writes - n;
        good = check_blocks(verify, writer, n, count, memory);
        n += count;
    }
    writer->content.stamp = next_stamp;
    writer->content.window = next_window;
    return good;
}

void verify_writers(void *argument) {
    struct verify *verify = argument;
    void *memory;
    size_t bytes = (size_t)(READ_BYTES > verify->block_bytes ? READ_BYTES : verify->block_bytes);
    if (posix_memalign(&memory, MEMORY_ALIGNMENT, bytes) != 0) {
        (void)note_failure(verify, "pread", ENOMEM, &(struct mismatch){0});
        return;
    }
    bool good = true;
    for (uint32_t i = 0; good && i < verify->count; i++) {
        good = check_writer(verify, &verify->writers[i], memory);
    }
    free(memory);
}
