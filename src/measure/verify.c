// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/verify.h"

#include <fcntl.h>
#include <unistd.h>

#define MEMORY_ALIGNMENT 4096

// Always returns false. If ordinal is 0, the failure is not about a particular block.
static bool fail(struct verify *verify, const struct mismatch *place, const char *call, int error, const char *what) {
    struct failure *failure = &verify->failure;
    const struct stream_step *stream = verify->stream;
    char write[64] = "";
    *failure = (struct failure){
        .call = call,
        .error = error,
        .offset_bytes = place->offset_bytes,
        .queue_manager = place->worker,
        .block_bytes = stream->block_bytes,
        .write = place->ordinal};
    workspace_file_path(verify->workspace, stream->first_worker[place->worker - 1].place, place->file, failure->file);
    if (place->ordinal > 0) {
        (void)snprintf(
            write, sizeof write, " (write %" PRIu64 " of step %" PRIu32 ")", place->ordinal, stream->plan->key.step);
    }
    return failure_set(failure, EXIT_IO_ERROR, "--verify: %s at offset %" PRIu64 " of %s%s: %s", what,
                       place->offset_bytes, failure->file, write, failure_error_text(error));
}

// Makes sure that the next reads come from the disk. The kernel drops only clean pages, so the files are synced first.
static bool drop_cache(struct verify *verify, const struct worker *worker, uint32_t file) {
    int result;
    while ((result = fdatasync(worker->fds[file])) != 0 && errno == EINTR) {
    }
    if (result != 0) {
        struct mismatch place = {.worker = worker->number, .file = file};
        return fail(verify, &place, "fdatasync", errno, "cannot write back before reading");
    }
    (void)posix_fadvise(worker->fds[file], 0, 0, POSIX_FADV_DONTNEED);
    return true;
}

// Compares the block that was written at the given position.
static void
compare(struct verify *verify, struct mismatch place, const unsigned char *found, const unsigned char *wanted) {
    (void)atomic_fetch_add(&verify->blocks, 1);
    if (memcmp(found, wanted, verify->stream->block_bytes) == 0) {
        return;
    }
    size_t at = 0;
    while (found[at] == wanted[at]) {
        at++;
    }
    place.offset_bytes += at / PAYLOAD_SECTOR_BYTES * PAYLOAD_SECTOR_BYTES;
    uint64_t before = atomic_fetch_add(&verify->mismatches, 1);
    if (before < VERIFY_MISMATCHES_KEPT) {
        verify->kept[before] = place;
    }
}

// Compares write n (from 0) and up to count - 1 writes after it, all in one file.
static bool check_blocks(struct verify *verify, const struct worker *worker, struct payload *payload, uint64_t n,
                         uint64_t count, unsigned char *memory) {
    uint64_t block_bytes = verify->stream->block_bytes;
    size_t bytes = (size_t)(count * block_bytes);
    struct mismatch place = {.worker = worker->number, .ordinal = n + 1};
    pattern_position(&worker->pattern, n, &place.file, &place.offset_bytes);
    ssize_t done;
    while ((done = pread(worker->fds[place.file], memory, bytes, (off_t)place.offset_bytes)) < 0 && errno == EINTR) {
    }
    if (done != (ssize_t)bytes) {
        return fail(verify, &place, "pread", done < 0 ? errno : FAILURE_SHORT_WRITE, "cannot read back");
    }
    for (uint64_t i = 0; i < count; i++, place.ordinal++, place.offset_bytes += block_bytes) {
        compare(verify, place, memory + i * block_bytes, payload_expect(payload, n + i));
    }
    return true;
}

static bool check_worker(struct verify *verify, const struct worker *worker, unsigned char *memory) {
    uint64_t block_bytes = verify->stream->block_bytes;
    uint64_t in_file = worker->pattern.file_bytes / block_bytes;
    uint64_t n = worker->operations > worker->pass_operations ? worker->operations - worker->pass_operations : 0;
    uint64_t at_once = test_file_verify_bytes(block_bytes, worker->pattern.file_bytes) / block_bytes;
    struct payload payload = worker->payload;       // a copy: the worker's next writes use the original
    bool good = true, direct = verify->workspace->options->direct != 0;
    for (uint32_t file = 0; good && !direct && file < worker->pattern.files && !atomic_load(verify->workspace->stop);
         file++) {
        good = drop_cache(verify, worker, file);
    }
    while (good && n < worker->operations && !atomic_load(verify->workspace->stop)) {
        uint64_t count = in_file - n % in_file;
        count = count < at_once ? count : at_once;
        count = count < worker->operations - n ? count : worker->operations - n;
        good = check_blocks(verify, worker, &payload, n, count, memory);
        n += count;
    }
    return good;
}

void verify_stream(void *argument) {
    struct verify *verify = argument;
    void *memory;
    size_t bytes = (size_t)test_file_verify_bytes(verify->stream->block_bytes, UINT64_MAX);
    if (posix_memalign(&memory, MEMORY_ALIGNMENT, bytes) != 0) {
        (void)failure_set(&verify->failure, EXIT_REFUSED, "--verify: no memory");
        return;
    }
    bool good = true;
    for (uint32_t i = 0; good && i < verify->stream->workers; i++) {
        good = check_worker(verify, &verify->stream->first_worker[i], memory);
    }
    free(memory);
    if (verify->mismatches > 0) {
        char what[64];
        (void)snprintf(what, sizeof what, "%" PRIu64 " corrupt blocks, the first", verify->mismatches);
        (void)fail(verify, &verify->kept[0], "pread", FAILURE_CORRUPT, what);
    }
}
