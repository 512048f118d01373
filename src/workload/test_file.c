// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/test_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define GRANULE_MAX_BYTES ((uint64_t)65536)

static int open_flags(const struct place *place) {
    int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    flags |= place->sync == SYNC_DSYNC ? O_DSYNC : place->sync == SYNC_SYNC ? O_SYNC : 0;
    return flags | (place->direct ? O_DIRECT : 0);
}

static bool same_file(const struct stat *left, const struct stat *right) {
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

bool test_file_unlink(int dir_fd, const char *name, int fd) {
    struct stat ours, named;
    return fstat(fd, &ours) == 0 && fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && same_file(&ours, &named) &&
           unlinkat(dir_fd, name, 0) == 0;
}

static bool refuse_open(struct failure *failure, const char *path, const struct place *place, int error) {
    if (error == EINVAL && place->direct) {
        return failure_set(failure, EXIT_REFUSED, "the file system of %s refuses O_DIRECT; choose another --dir, or "
                           "measure without it by --direct=no (MQ itself would use it)", path);
    }
    return failure_set(failure, EXIT_REFUSED, "cannot open %s: %s", path, strerror(error));
}

static bool refuse_creation(struct failure *failure, const char *path, int error) {
    return error == EEXIST ? failure_set(failure, EXIT_REFUSED, "%s already exists, and logdisk writes only to files that it "
                                         "created itself; remove it, or choose another --dir or --filePrefix", path)
                           : failure_set(failure, EXIT_REFUSED, "cannot create %s: %s", path, strerror(error));
}

// The kernel creates a file before it refuses O_DIRECT for it. So the file is created without that flag, and opened
// again with all flags of the test; both descriptors must be the same file, of which no other name exists.
static bool create_named(int dir_fd, const char *name, const char *path, const struct place *place, bool keep, int *fd,
                         struct failure *failure) {
    struct stat created, opened;
    int first = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0660);
    if (first < 0) {
        return refuse_creation(failure, path, errno);
    }
    int second = openat(dir_fd, name, open_flags(place));
    int error = errno;
    bool ours = second >= 0 && fstat(first, &created) == 0 && fstat(second, &opened) == 0 &&
                same_file(&created, &opened) && opened.st_nlink == 1;
    if (!ours || !keep) {
        ours = test_file_unlink(dir_fd, name, first) && ours;
    }
    (void)close(first);
    if (second < 0) {
        return refuse_open(failure, path, place, error);
    }
    if (!ours) {
        (void)close(second);
        return failure_set(failure, EXIT_REFUSED, "%s was changed by another process while it was being created; choose "
                           "a directory that only you can write to", path);
    }
    *fd = second;
    return true;
}

bool test_file_create(int dir_fd, const char *name, const char *path, const struct place *place, bool keep, int *fd,
                      struct failure *failure) {
    if (keep) {
        return create_named(dir_fd, name, path, place, keep, fd, failure);
    }
    // Nothing leaves a file behind that never has a name: not SIGKILL, and not a disk that is frozen while the file is
    // made and thaws when this process is gone.
    *fd = openat(dir_fd, ".", open_flags(place) | O_TMPFILE | O_EXCL, 0660);
    if (*fd >= 0) {
        return true;
    }
    // The answers of a kernel or file system that has no such files. EINVAL may also mean that it refuses O_DIRECT;
    // creating the file under a name then tells for certain.
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT) {
        return create_named(dir_fd, name, path, place, keep, fd, failure);
    }
    return refuse_creation(failure, path, errno);
}

int test_file_write(int fd, const void *block, size_t bytes, uint64_t offset_bytes) {
    struct iovec vector = {.iov_base = (void *)(uintptr_t)block, .iov_len = bytes};
    ssize_t written;
    while ((written = pwritev(fd, &vector, 1, (off_t)offset_bytes)) < 0 && errno == EINTR) {
    }
    return written < 0 ? errno : (size_t)written == bytes ? 0 : FAILURE_SHORT_WRITE;
}

uint32_t test_file_direct_io_alignment(int fd) {
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

bool test_file_try_block(int fd, const char *path, uint64_t block_bytes, uint64_t alignment_bytes,
                         struct failure *failure) {
    void *memory;
    if (posix_memalign(&memory, alignment_bytes, block_bytes + GRANULE_MAX_BYTES) != 0) {
        return failure_set(failure, EXIT_REFUSED, "no memory for a block of %" PRIu64 " bytes", block_bytes);
    }
    memset(memory, 0x5A, block_bytes + GRANULE_MAX_BYTES);
    int error = test_file_write(fd, memory, block_bytes, 0);
    uint64_t works = 0;
    for (uint64_t granule = 512; error == EINVAL && works == 0 && granule <= GRANULE_MAX_BYTES; granule *= 2) {
        uint64_t size = (block_bytes + granule - 1) / granule * granule;
        works = test_file_write(fd, memory, size, 0) == 0 ? size : 0;
    }
    free(memory);
    if (works > 0) {
        return failure_set(failure, EXIT_REFUSED, "--bsize: a write of %" PRIu64 " bytes is refused by the disk of %s; the "
                           "next size that works is %" PRIu64, block_bytes, path, works);
    }
    if (error == EINVAL) {
        return failure_set(failure, EXIT_REFUSED, "--bsize: a write of %" PRIu64 " bytes from memory aligned to %" PRIu64
                           " is refused by the disk of %s; try --alignment=4096, or --direct=no", block_bytes,
                           alignment_bytes, path);
    }
    return error == 0 || failure_set(failure, error == ENOSPC || error == EDQUOT || error == EFBIG ? EXIT_REFUSED
                                     : EXIT_IO_ERROR, "cannot write to %s: %s", path, failure_error_text(error));
}
