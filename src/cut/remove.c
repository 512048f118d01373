// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/remove.h"

#include "cut/mark.h"
#include "output/console.h"
#include "workload/test_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// Inspects all files first, and then repeats the same walk with unlink, so that nothing is removed if any file is
// refused.

#define refuse(failure, ...) failure_set(failure, EXIT_REFUSED, "--removeAcknowledged: " __VA_ARGS__)

struct removal {
    struct mark mark;
    struct stat mark_status;
    const char *path;                   // path of the directory
    int dir_fd;
    bool unlinks;
    uint64_t *removed;
    struct failure *failure;
};

static bool unlink_open(const struct removal *removal, const char *name, int fd) {
    if (!removal->unlinks) {
        return true;
    }
    bool gone = test_file_unlink(removal->dir_fd, name, fd);
    *removal->removed += gone;
    return gone || refuse(removal->failure, "cannot remove %s/%s: %s", removal->path, name, strerror(errno));
}

// A test file that a power cut has truncated or removed is still counted as one.
static bool remove_file(const struct removal *removal, uint32_t file) {
    struct stat status;
    char name[NAME_MAX + 1];
    (void)snprintf(name, sizeof name, "%s.%04" PRIu32, removal->mark.file_prefix, file);
    int fd = openat(removal->dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ||
               refuse(removal->failure, "cannot open %s/%s: %s", removal->path, name, strerror(errno));
    }
    bool ours = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
                status.st_uid == removal->mark_status.st_uid && (uint64_t)status.st_size <= removal->mark.file_bytes;
    bool good =
        ours ? unlink_open(removal, name, fd)
             : refuse(removal->failure,
                      "%s/%s is not a file that the test made: it is a link, a directory, larger, or somebody else's; "
                      "nothing was removed beside it, so remove by hand what is yours",
                      removal->path, name);
    (void)close(fd);
    return good;
}

static bool refuse_mark(const struct removal *removal, const char *name, int error) {
    return error == EBUSY ? refuse(removal->failure, "the test of %s/%s still runs; end it first", removal->path, name)
           : error == EBADMSG || error == ELOOP
               ? refuse(removal->failure,
                        "%s/%s is not a mark of --acknowledge with this --filePrefix; remove by hand what is yours",
                        removal->path, name)
               : refuse(removal->failure, "cannot read %s/%s: %s", removal->path, name, strerror(error));
}

static bool remove_marked(struct removal *removal, const struct options *options) {
    char name[NAME_MAX + 1];
    mark_name(name, options->file_prefix);
    int fd = mark_open(&removal->mark, removal->dir_fd, options->file_prefix);
    if (fd < 0) {
        return errno == ENOENT || refuse_mark(removal, name, errno);
    }
    bool good = fstat(fd, &removal->mark_status) == 0 && removal->mark_status.st_nlink == 1;
    good = good || refuse_mark(removal, name, EBADMSG);
    for (uint32_t file = 0; good && file < removal->mark.files; file++) {
        good = remove_file(removal, file);
    }
    good = good && unlink_open(removal, name, fd);      // last, so that the removal can be repeated if anything fails
    (void)close(fd);
    return good;
}

static bool remove_from(struct removal *removal, const struct options *options) {
    removal->dir_fd = open(removal->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (removal->dir_fd < 0) {
        return refuse(removal->failure, "cannot open %s: %s", removal->path, strerror(errno));
    }
    bool good = remove_marked(removal, options);
    (void)close(removal->dir_fd);
    return good;
}

static bool remove_files(const struct options *options, uint64_t *removed, struct failure *failure) {
    char path[PATH_MAX];
    struct removal removal = {.path = path, .removed = removed, .failure = failure};
    bool good = true;
    for (int pass = 0; pass < 2; pass++) {
        removal.unlinks = pass == 1;
        for (uint32_t number = 1; good && number <= options->queue_managers; number++) {
            good = options_directory(options, number, path, sizeof path) && remove_from(&removal, options);
        }
    }
    return good;
}

enum exit_status remove_acknowledged(struct options *options) {
    uint64_t removed = 0;
    if (!remove_files(options, &removed, &options->failure)) {
        console_complain("%s", options->failure.message);
        return options->failure.status;
    }
    console_print("%" PRIu64 " files removed\n", removed);
    console_flush();
    return EXIT_MEASURED;
}
