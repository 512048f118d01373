// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "workload/test_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int open_flags(const struct test_file_mode *mode) {
    int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    flags |= mode->sync == SYNC_DSYNC ? O_DSYNC : mode->sync == SYNC_SYNC ? O_SYNC : 0;
    return flags | (mode->direct ? O_DIRECT : 0);
}

static bool same_file(int dir_fd, const char *name, const struct stat *ours) {
    struct stat status;
    return fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_dev == ours->st_dev &&
           status.st_ino == ours->st_ino;
}

static bool refuse_open(struct failure *failure, const char *path, const struct test_file_mode *mode, int error) {
    if (error == EINVAL && mode->direct) {
        return failure_set(failure, EXIT_REFUSED, "the file system of %s refuses O_DIRECT; choose another --dir, or "
                           "measure without it by --direct=no (MQ itself would use it)", path);
    }
    return failure_set(failure, EXIT_REFUSED, "cannot open %s: %s", path, strerror(error));
}

// A file that never has a name is left behind by nothing: not by SIGKILL, and not by a disk that is frozen while it is
// made and thaws when this process is gone.
static int create_unnamed(int dir_fd, const struct test_file_mode *mode) {
    return openat(dir_fd, ".", open_flags(mode) | O_TMPFILE | O_EXCL, 0660);
}

// The answers of a kernel or file system that has no such files. EINVAL may also mean that it refuses O_DIRECT; creating
// the file under a name then tells for certain.
static bool has_no_unnamed(int error) {
    return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOENT;
}

static bool refuse_creation(struct failure *failure, const char *path, int error) {
    return failure_set(failure, EXIT_REFUSED, "cannot create %s: %s%s", path, strerror(error),
                       error == EEXIST ? "; remove it, or choose another --dir or --filePrefix" : "");
}

// The kernel creates a file before it refuses O_DIRECT for it. So the file is created without that flag, and opened
// again with all flags of the test; both descriptors must be the same file, and its name must still be its own.
static bool create_named(int dir_fd, const char *name, const char *path, const struct test_file_mode *mode, int *fd,
                         struct failure *failure) {
    struct stat created, opened;
    int first = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0660);
    if (first < 0) {
        return refuse_creation(failure, path, errno);
    }
    if (fstat(first, &created) != 0) {
        (void)close(first);
        return failure_set(failure, EXIT_REFUSED, "cannot look at %s: %s", path, strerror(errno));
    }
    int second = openat(dir_fd, name, open_flags(mode));
    int error = errno;
    bool ours = second >= 0 && fstat(second, &opened) == 0 && opened.st_dev == created.st_dev &&
                opened.st_ino == created.st_ino && opened.st_nlink == 1;
    bool named = same_file(dir_fd, name, &created);
    if (named && (!ours || !mode->keep) && unlinkat(dir_fd, name, 0) != 0) {
        error = errno;
        ours = false;
    }
    (void)close(first);
    if (second < 0 || !ours || !named) {
        if (second >= 0) {
            (void)close(second);
            return failure_set(failure, EXIT_REFUSED, "%s was changed by another process while it was being created; choose "
                               "a directory that only you can write to", path);
        }
        return refuse_open(failure, path, mode, error);
    }
    *fd = second;
    return true;
}

bool test_file_create(int dir_fd, const char *name, const char *path, const struct test_file_mode *mode, int *fd,
                     struct failure *failure) {
    int unnamed = mode->keep ? -1 : create_unnamed(dir_fd, mode);
    if (unnamed >= 0) {
        *fd = unnamed;
        return true;
    }
    if (!mode->keep && !has_no_unnamed(errno)) {
        return refuse_creation(failure, path, errno);
    }
    return create_named(dir_fd, name, path, mode, fd, failure);
}

void test_file_unlink(int dir_fd, const char *name, int fd) {
    struct stat ours;
    if (fstat(fd, &ours) == 0 && same_file(dir_fd, name, &ours)) {
        (void)unlinkat(dir_fd, name, 0);
    }
}

int test_file_write(int fd, const void *block, size_t bytes, uint64_t offset_bytes) {
    struct iovec vector = {.iov_base = (void *)(uintptr_t)block, .iov_len = bytes};
    ssize_t written;
    do {
        written = pwritev(fd, &vector, 1, (off_t)offset_bytes);
    } while (written < 0 && errno == EINTR);
    if (written < 0) {
        return errno;
    }
    return (size_t)written == bytes ? 0 : FAILURE_SHORT_WRITE;
}

uint32_t test_file_told_alignment(int fd) {
#ifdef STATX_DIOALIGN
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 && (status.stx_mask & STATX_DIOALIGN) != 0) {
        return status.stx_dio_offset_align;
    }
#else
    (void)fd;
#endif
    return 0;
}

// The next size above that works, tried at granules of 512 bytes to 64 KiB; 0 if none does.
static uint64_t next_working_size(int fd, const unsigned char *memory, uint64_t block_bytes) {
    for (uint64_t granule = 512; granule <= 65536; granule *= 2) {
        uint64_t size = (block_bytes + granule - 1) / granule * granule;
        if (size != block_bytes && test_file_write(fd, memory, size, 0) == 0) {
            return size;
        }
    }
    return 0;
}

bool test_file_try_block(int fd, const char *path, uint64_t block_bytes, uint64_t alignment_bytes,
                        struct failure *failure) {
    void *memory;
    if (posix_memalign(&memory, alignment_bytes, block_bytes + 65536) != 0) {
        return failure_set(failure, EXIT_REFUSED, "no memory for a block of %" PRIu64 " bytes", block_bytes);
    }
    memset(memory, 0x5A, block_bytes + 65536);
    int error = test_file_write(fd, memory, block_bytes, 0);
    uint64_t works = error == EINVAL ? next_working_size(fd, memory, block_bytes) : 0;
    free(memory);
    if (error == 0) {
        return true;
    }
    if (works > 0) {
        uint32_t told = test_file_told_alignment(fd);
        char because[64] = "";
        if (told > 0) {
            (void)snprintf(because, sizeof because, " (direct I/O here goes in units of %" PRIu32 " bytes)", told);
        }
        return failure_set(failure, EXIT_REFUSED, "--bsize: a write of %" PRIu64 " bytes is refused by the disk of %s%s; "
                           "the next size that works is %" PRIu64, block_bytes, path, because, works);
    }
    if (error == EINVAL) {
        return failure_set(failure, EXIT_REFUSED, "--bsize: a write of %" PRIu64 " bytes from memory aligned to %" PRIu64
                           " is refused by the disk of %s; try --alignment=4096, or --direct=no", block_bytes,
                           alignment_bytes, path);
    }
    return failure_set(failure, error == ENOSPC || error == EDQUOT || error == EFBIG ? EXIT_REFUSED : EXIT_IO_ERROR,
                       "cannot write to %s: %s", path, failure_error_text(error));
}
