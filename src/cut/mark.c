// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/mark.h"

#include "host/procfs.h"
#include "workload/test_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_LINE "end signal\n"         // the second line of a mark
#define ANCESTORS_MAX 100               // deeper than any path

// The line.

void mark_of_run(struct mark *mark, const struct options *options) {
    *mark = (struct mark){.seed = options->seed, .block_bytes = options->block_sizes.values[0],
                          .file_bytes = options->file_bytes, .files = options->files,
                          .queue_managers = options->queue_managers, .layout = MARK_LAYOUT};
    if (!read_text("/proc/sys/kernel/random/boot_id", mark->boot_id, sizeof mark->boot_id)) {
        (void)snprintf(mark->boot_id, sizeof mark->boot_id, "-");
    }
    (void)snprintf(mark->run_id, sizeof mark->run_id, "%s", options->run_id[0] != '\0' ? options->run_id : "-");
    (void)snprintf(mark->file_prefix, sizeof mark->file_prefix, "%s", options->file_prefix);
}

void geometry_of_mark(struct geometry *geometry, const struct mark *mark) {
    *geometry = (struct geometry){.seed = mark->seed, .block_bytes = mark->block_bytes, .file_bytes = mark->file_bytes,
                                  .files = mark->files, .queue_managers = (uint32_t)mark->queue_managers};
    geometry_complete(geometry);
}

void mark_format(const struct mark *mark, char line[MARK_LINE_BYTES]) {
    (void)snprintf(
        line, MARK_LINE_BYTES,
        "ready %s %s seed=%" PRIu64 " bsize=%" PRIu64 " file_size=%" PRIu64 " files=%" PRIu64 " qm=%" PRIu64
        " prefix=%s layout=%" PRIu64 "\n",
        mark->run_id, mark->boot_id, mark->seed, mark->block_bytes, mark->file_bytes, mark->files, mark->queue_managers,
        mark->file_prefix, mark->layout);
}

static bool is_name(const char *text) {
    return text[strspn(text, OPTIONS_RUN_ID_LETTERS)] == '\0';
}

static bool is_possible(const struct mark *mark) {
    return mark->block_bytes >= 4096 && mark->block_bytes % 4096 == 0 && mark->block_bytes <= OPTIONS_BLOCK_MAX &&
           mark->file_bytes >= mark->block_bytes && mark->file_bytes % 4096 == 0 &&
           mark->file_bytes <= OPTIONS_FILE_BYTES_MAX && mark->files >= 1 && mark->files <= OPTIONS_FILES_MAX &&
           mark->files * (mark->file_bytes / mark->block_bytes) >= 2 &&         // one block proves nothing
           mark->queue_managers >= 1 && mark->queue_managers <= OPTIONS_QUEUE_MANAGERS_MAX &&
           is_name(mark->run_id) && is_name(mark->boot_id) && is_name(mark->file_prefix);
}

// The widths in the format below.
_Static_assert(OPTIONS_RUN_ID_MAX == 64 && MARK_BOOT_ID_MAX == 36 && OPTIONS_FILE_PREFIX_MAX == 200, "widths of scanf");

// Refuses anything that mark_format would not write, such as signs, leading zeros, other blanks, or a truncated line.
bool mark_parse(struct mark *mark, const char *line) {
    char again[MARK_LINE_BYTES];
    int fields = sscanf(
        line,
        "ready %64s %36s seed=%20" SCNu64 " bsize=%20" SCNu64 " file_size=%20" SCNu64 " files=%20" SCNu64
        " qm=%20" SCNu64 " prefix=%200s layout=%20" SCNu64,
        mark->run_id, mark->boot_id, &mark->seed, &mark->block_bytes, &mark->file_bytes, &mark->files,
        &mark->queue_managers, mark->file_prefix, &mark->layout);
    if (fields != 9 || !is_possible(mark)) {
        return false;
    }
    mark_format(mark, again);
    return strcmp(again, line) == 0;
}

// The file.

void mark_name(char name[NAME_MAX + 1], const char *file_prefix) {
    (void)snprintf(name, NAME_MAX + 1, "%s.acknowledge", file_prefix);
}

static bool write_line(int fd, const struct mark *mark) {
    char line[MARK_LINE_BYTES];
    mark_format(mark, line);
    ssize_t written = write(fd, line, strlen(line));
    if (written >= 0 && (size_t)written < strlen(line)) {
        errno = ENOSPC;
    }
    return written == (ssize_t)strlen(line) && fsync(fd) == 0;
}

int mark_create(const struct mark *mark, int dir_fd) {
    char name[NAME_MAX + 1];
    mark_name(name, mark->file_prefix);
    int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0660);
    if (fd < 0) {
        return -1;
    }
    (void)flock(fd, LOCK_EX | LOCK_NB);         // not every file system has locks
    if (!write_line(fd, mark)) {
        int error = errno;
        (void)test_file_unlink(dir_fd, name, fd);
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

bool mark_note_end(int fd) {
    ssize_t written = pwrite(fd, END_LINE, strlen(END_LINE), lseek(fd, 0, SEEK_END));
    if (written >= 0 && (size_t)written < strlen(END_LINE)) {
        errno = ENOSPC;
    }
    return written == (ssize_t)strlen(END_LINE) && fsync(fd) == 0;
}

// Removes the end line from the text, if it is there.
static bool take_end(char *text) {
    char *second = strchr(text, '\n');
    bool ended = second != NULL && strcmp(second + 1, END_LINE) == 0;
    if (ended) {
        second[1] = '\0';
    }
    return ended;
}

// 0 or an error.
static int read_mark(struct mark *mark, int fd) {
    struct stat status;
    char line[MARK_LINE_BYTES + sizeof END_LINE] = "";
    if (fstat(fd, &status) != 0) {
        return errno;
    }
    ssize_t length = S_ISREG(status.st_mode) ? read(fd, line, sizeof line - 1) : 0;
    if (length < 0) {
        return errno;
    }
    bool is_text = memchr(line, '\0', (size_t)length) == NULL;
    mark->ended = take_end(line);
    return is_text && mark_parse(mark, line) ? 0 : EBADMSG;
}

int mark_open(struct mark *mark, int dir_fd, const char *file_prefix) {
    char name[NAME_MAX + 1];
    mark_name(name, file_prefix);
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    int error = read_mark(mark, fd);
    error = error == 0 && strcmp(mark->file_prefix, file_prefix) != 0 ? EBADMSG : error;
    if (error == 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        error = EBUSY;
    }
    if (error != 0) {
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

// Directories.

static bool sync_upwards(int dir_fd, bool names_own, int levels) {
    struct stat here, above;
    if (fsync(dir_fd) != 0 || fstat(dir_fd, &here) != 0) {
        return false;
    }
    int up = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (up < 0) {
        return errno == EACCES && !names_own;
    }
    bool good = fstat(up, &above) == 0;
    bool top = above.st_dev != here.st_dev || above.st_ino == here.st_ino || levels == 0;
    good = good && (top || sync_upwards(up, false, levels - 1));
    int error = errno;
    (void)close(up);
    errno = error;
    return good;
}

bool mark_sync_directories(int dir_fd, bool names_own) {
    return sync_upwards(dir_fd, names_own, ANCESTORS_MAX);
}
