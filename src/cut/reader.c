// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES ((uint64_t)1 << 20)
#define PAGE_BYTES 4096                 // the alignment of memory; no disk has sectors larger than this
#define OPTION "--checkAcknowledged: "

#define refuse(reader, ...) failure_set(&(reader)->failure, EXIT_REFUSED, OPTION __VA_ARGS__)

void reader_path(const struct reader *reader, const struct spot *spot, char path[PATH_MAX]) {
    char directory[PATH_MAX] = "", name[NAME_MAX + 1];
    (void)options_directory(reader->options, spot->worker, directory, sizeof directory);
    if (spot->file == SPOT_MARK) {
        mark_name(name, reader->mark->file_prefix);
    } else {
        (void)snprintf(name, sizeof name, "%s.%04" PRIu64, reader->mark->file_prefix, spot->file);
    }
    (void)snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - NAME_MAX - 2, directory, name);
}

// Returns whether an error of open or read means that the cut destroyed a name, or data of the file or file system.
static bool says_gone(int error) {
    return error == ENOENT || error == ENOTDIR || error == EUCLEAN || error == EIO || error == EBADMSG;
}

static bool says_unreadable(int error) {
    return error == EIO || error == EREMOTEIO || error == ENODATA || error == EILSEQ || error == EBADMSG ||
           error == EUCLEAN;
}

// Reading.

// Reads one part of a file. Finds unreadable data by bisection, down to a sector, or a page if the disk has larger
// sectors. Returns false if the cause is not the disk.
static bool read_part(struct reader *reader, int fd, uint64_t offset_bytes, uint64_t at, uint64_t bytes) {
    ssize_t done;
    while ((done = pread(fd, reader->memory + at, bytes, (off_t)(offset_bytes + at))) < 0 && errno == EINTR) {
    }
    if (done == (ssize_t)bytes) {
        return true;
    }
    if (done < 0 && !says_unreadable(errno) && !(errno == EINVAL && bytes < PAGE_BYTES)) {
        return false;
    }
    if (bytes > PAGE_BYTES || (bytes > PAYLOAD_SECTOR_BYTES && !(done < 0 && errno == EINVAL))) {
        uint64_t unit = bytes > PAGE_BYTES ? PAGE_BYTES : PAYLOAD_SECTOR_BYTES;
        uint64_t half = (bytes / 2 + unit - 1) / unit * unit;
        return read_part(reader, fd, offset_bytes, at, half) &&
               read_part(reader, fd, offset_bytes, at + half, bytes - half);
    }
    memset(reader->unreadable + at / PAYLOAD_SECTOR_BYTES, true, bytes / PAYLOAD_SECTOR_BYTES);
    return true;
}

static void add_positions(struct reader *reader, struct spot at, uint64_t bytes) {
    const struct geometry *geometry = &reader->geometry;
    for (uint64_t block = 0; block < bytes; block += geometry->block_bytes) {
        struct position position = {0};
        for (uint64_t in_part = block; in_part < block + geometry->block_bytes; in_part += PAYLOAD_SECTOR_BYTES) {
            bool readable = !reader->unreadable[in_part / PAYLOAD_SECTOR_BYTES];
            position_add(&position, geometry, &at, readable ? reader->memory + in_part : NULL);
            at.offset_bytes += PAYLOAD_SECTOR_BYTES;
        }
        ring_add(&reader->ring, &position);
    }
}

// Reads all positions that end before the given byte of the file.
static bool read_positions(struct reader *reader, int fd, struct spot at, uint64_t end_bytes) {
    char path[PATH_MAX];
    while (at.offset_bytes < end_bytes && !atomic_load(reader->stop)) {
        uint64_t left = end_bytes - at.offset_bytes;
        uint64_t bytes = left < reader->part_bytes ? left : reader->part_bytes;
        memset(reader->unreadable, false, bytes / PAYLOAD_SECTOR_BYTES);
        if (!read_part(reader, fd, at.offset_bytes, 0, bytes)) {
            int error = errno;
            reader_path(reader, &at, path);
            return refuse(reader, "cannot read %s at offset %" PRIu64 ": %s", path, at.offset_bytes, strerror(error));
        }
        add_positions(reader, at, bytes);
        at.offset_bytes += bytes;
        reader->bytes += bytes;
    }
    return true;
}

// Files.

// Returns -1, with errno set, on failure.
static int open_file(struct reader *reader, int dir_fd, const char *name) {
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = openat(dir_fd, name, flags | O_DIRECT);
    if (fd < 0 && errno == EINVAL) {
        fd = openat(dir_fd, name, flags);
        reader->is_buffered = reader->is_buffered || fd >= 0;
        if (fd >= 0) {
            (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        }
    }
    return fd;
}

// A file that is missing or too short is a finding.
static bool read_file(struct reader *reader, int dir_fd, struct spot at) {
    const struct geometry *geometry = &reader->geometry;
    struct stat status;
    char path[PATH_MAX];
    reader_path(reader, &at, path);
    int fd = open_file(reader, dir_fd, strrchr(path, '/') + 1);
    if (fd < 0 && !says_gone(errno)) {
        return refuse(reader, "cannot open %s: %s", path, strerror(errno));
    }
    bool known = fd >= 0 && fstat(fd, &status) == 0;
    if (known && !S_ISREG(status.st_mode)) {
        (void)close(fd);
        return refuse(reader, "%s is not a regular file, so it was not created by the run", path);
    }
    uint64_t size_bytes = known ? (uint64_t)status.st_size : 0;
    if (size_bytes < geometry->file_bytes) {
        durability_lose_metadata(&reader->rows[at.worker], at.worker, at.file);
    }
    uint64_t blocks = size_bytes / geometry->block_bytes;
    blocks = blocks < geometry->blocks_a_file ? blocks : geometry->blocks_a_file;
    bool good = read_positions(reader, fd, at, blocks * geometry->block_bytes);
    ring_add_missing(&reader->ring, geometry->blocks_a_file - blocks);
    if (fd >= 0) {
        (void)close(fd);
    }
    return good;
}

// Directories.

// Sets *fd to -1 if the directory no longer exists.
static bool open_directory(struct reader *reader, uint32_t worker, int *fd) {
    char path[PATH_MAX] = "";
    (void)options_directory(reader->options, worker, path, sizeof path);
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 || says_gone(errno) || refuse(reader, "cannot open %s: %s", path, strerror(errno));
}

// A mark that is missing or malformed is a finding. A mark of another run is not a finding, because the files are then
// not those that the witness saw.
static bool check_mark(struct reader *reader, int dir_fd, uint32_t worker) {
    struct mark mark;
    char path[PATH_MAX], found[MARK_LINE_BYTES], wanted[MARK_LINE_BYTES];
    struct spot at = {.worker = worker, .file = SPOT_MARK};
    reader_path(reader, &at, path);
    errno = ENOENT;
    int fd = dir_fd < 0 ? -1 : mark_open(&mark, dir_fd, reader->mark->file_prefix);
    if (fd < 0 && errno == EBUSY) {
        return refuse(reader, "the run that made %s has not ended; check after the cut", path);
    }
    if (fd < 0) {
        durability_lose_metadata(&reader->rows[worker], worker, SPOT_MARK);
        return says_gone(errno) || refuse(reader, "cannot open %s: %s", path, strerror(errno));
    }
    (void)close(fd);
    if (mark.ended) {
        return refuse(reader,
                      "%s says that the run was ended by a signal, as in an orderly shutdown, and that is not a power "
                      "cut, so nothing can be concluded; begin again, and cut the power",
                      path);
    }
    mark_format(&mark, found);
    mark_format(reader->mark, wanted);
    return strcmp(found, wanted) == 0 ||
           refuse(reader,
                  "%s belongs to a different run from the acknowledgements, so nothing can be concluded; "
                  "check with the lines of run '%s', seed %" PRIu64,
                  path, mark.run_id, mark.seed);
}

// Checks all marks before the first file, so that a wrong run is refused at once.
static bool check_marks(struct reader *reader) {
    bool good = true;
    for (uint32_t worker = 1; good && worker <= reader->geometry.queue_managers && !atomic_load(reader->stop);
         worker++) {
        int fd;
        good = open_directory(reader, worker, &fd) && check_mark(reader, fd, worker);
        if (fd >= 0) {
            if (worker == 1 && reader->first_directory != NULL) {
                reader->first_directory(reader->context, fd);
            }
            (void)close(fd);
        }
    }
    return good;
}

static bool refuse_order(struct reader *reader, uint32_t worker) {
    char path[PATH_MAX] = "";
    (void)options_directory(reader->options, worker, path, sizeof path);
    return refuse(reader,
                  "%s holds the files of queue manager %" PRIu32 ", not of %" PRIu32
                  ", so nothing can be concluded; name the directories in --dir in the order of the run, each once",
                  path, ring_owner(&reader->ring), worker);
}

static bool read_queue_manager(struct reader *reader, uint32_t worker) {
    const struct geometry *geometry = &reader->geometry;
    struct durability *row = &reader->rows[worker];
    struct spot at = {.worker = worker};
    int fd;
    ring_start(&reader->ring, geometry, worker);
    bool good = open_directory(reader, worker, &fd);
    for (; good && fd >= 0 && at.file < geometry->files && !atomic_load(reader->stop); at.file++) {
        good = read_file(reader, fd, at);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!good || atomic_load(reader->stop)) {
        return good;
    }
    ring_add_missing(&reader->ring, geometry->positions - reader->ring.positions);     // the directory is gone
    if (reader->ring.incomplete) {
        return refuse(reader, "no memory");
    }
    if (ring_owner(&reader->ring) > 0) {
        return refuse_order(reader, worker);
    }
    ring_judge(&reader->ring, reader->counts[worker], reader->writing_ns, row);
    durability_add(&reader->rows[0], row);
    return true;
}

// Whole blocks.
static bool open_memory(struct reader *reader) {
    const struct geometry *geometry = &reader->geometry;
    void *memory = NULL;
    uint64_t blocks = READ_BYTES / geometry->block_bytes;
    reader->part_bytes = (blocks > 0 ? blocks : 1) * geometry->block_bytes;
    reader->rows = calloc(geometry->queue_managers + 1, sizeof *reader->rows);
    reader->unreadable = calloc(reader->part_bytes / PAYLOAD_SECTOR_BYTES, sizeof *reader->unreadable);
    bool good = posix_memalign(&memory, PAGE_BYTES, reader->part_bytes) == 0;
    reader->memory = memory;
    return (good && reader->rows != NULL && reader->unreadable != NULL) || refuse(reader, "no memory");
}

void reader_run(struct reader *reader) {
    geometry_of_mark(&reader->geometry, reader->mark);
    bool good = open_memory(reader) && check_marks(reader);
    for (uint32_t worker = 1; good && worker <= reader->geometry.queue_managers && !atomic_load(reader->stop);
         worker++) {
        good = read_queue_manager(reader, worker);
    }
}

void reader_free(struct reader *reader) {
    ring_free(&reader->ring);
    free(reader->memory);
    free(reader->unreadable);
    free(reader->rows);
}
