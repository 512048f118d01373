// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "workload/test_files.h"

#include "base/clock.h"
#include "workload/payload.h"
#include "workload/test_file.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FORMAT_PART_BYTES ((size_t)1 << 20)
#define FORMAT_ALIGNMENT_BYTES ((size_t)1 << 16)
#define SPARE_DESCRIPTORS 64
#define RESERVE_MIN_BYTES (UINT64_C(16) << 20)
#define RESERVE_MAX_BYTES (UINT64_C(1) << 30)
#define CLOSE_PATIENCE_NS (2 * NS_PER_S)
#define CLOSE_POLL_NS UINT64_C(10000000)
#define RESERVE_SHARE 100               // one hundredth of the file system

bool workspace_init(struct workspace *workspace, const struct options *options, const struct workload *workload,
                    uint64_t seed) {
    workspace->options = options;
    workspace->workload = workload;
    workspace->seed = seed;
    workspace->alignment_bytes = options->alignment_bytes;
    workspace->directories = calloc(workload->places_count, sizeof *workspace->directories);
    if (workspace->directories == NULL || pthread_mutex_init(&workspace->activity_lock, NULL) != 0) {
        return false;
    }
    workspace->places = workload->places_count;
    for (uint32_t i = 0; i < workspace->places; i++) {
        struct directory *directory = &workspace->directories[i];
        directory->place = &workload->places[i];
        directory->fd = -1;
        directory->files = malloc(directory->place->files * sizeof *directory->files);
        if (directory->files == NULL) {
            return false;
        }
        for (uint64_t file = 0; file < directory->place->files; file++) {
            directory->files[file] = -1;
        }
    }
    return true;
}

void workspace_file_path(const struct workspace *workspace, uint32_t place, uint32_t file, char path[PATH_MAX]) {
    const struct place *of = workspace->directories[place - 1].place;
    (void)snprintf(path, PATH_MAX, "%s/%s.%04" PRIu32, of->path, of->file_prefix, file);
}

static void file_name(const struct place *place, uint32_t file, char name[NAME_MAX + 1]) {
    (void)snprintf(name, NAME_MAX + 1, "%s.%04" PRIu32, place->file_prefix, file);
}

static void begin_activity(struct workspace *workspace, const char *call, uint32_t place, const char *file,
                           uint64_t offset_bytes) {
    struct activity *activity = &workspace->activity;
    (void)pthread_mutex_lock(&workspace->activity_lock);
    activity->call = call;
    activity->place = place;
    activity->offset_bytes = offset_bytes;
    activity->start_ns = now_ns();
    (void)snprintf(activity->file, sizeof activity->file, "%s", file);
    (void)pthread_mutex_unlock(&workspace->activity_lock);
}

static void end_activity(struct workspace *workspace) {
    (void)pthread_mutex_lock(&workspace->activity_lock);
    workspace->activity.call = NULL;
    (void)pthread_mutex_unlock(&workspace->activity_lock);
}

bool workspace_activity(struct workspace *workspace, struct activity *copy) {
    (void)pthread_mutex_lock(&workspace->activity_lock);
    *copy = workspace->activity;
    (void)pthread_mutex_unlock(&workspace->activity_lock);
    return copy->call != NULL;
}

// Directories.

// With --createDirs: <dir>1 must be on the file system of <dir>, or the root disk is tested instead of the mount.
static bool same_file_system(struct workspace *workspace, const char *path, struct failure *failure) {
    struct stat base, parent;
    char above[PATH_MAX];
    (void)snprintf(above, sizeof above, "%s/..", path);
    if (options_directory_list(workspace->options) || workspace->places == 1 ||
        stat(workspace->options->dir, &base) != 0 || !S_ISDIR(base.st_mode)) {
        return true;
    }
    if (stat(above, &parent) != 0) {
        return failure_set(failure, EXIT_REFUSED, "--dir: cannot look at %s: %s", above, strerror(errno));
    }
    if (base.st_dev != parent.st_dev) {
        return failure_set(failure, EXIT_REFUSED, "--createDirs: %s would be on another file system than %s; name "
                           "directories inside it, such as --dir=%s/qm", path, workspace->options->dir,
                           workspace->options->dir);
    }
    return true;
}

static bool open_directory(struct workspace *workspace, uint32_t number, struct failure *failure) {
    struct directory *directory = &workspace->directories[number - 1];
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    begin_activity(workspace, workspace->options->create_dirs ? "mkdir" : "open", number, directory->place->path, 0);
    if (workspace->options->create_dirs && mkdir(directory->place->path, 0770) == 0) {
        directory->made = true;
        flags |= O_NOFOLLOW;
    } else if (workspace->options->create_dirs && errno != EEXIST) {
        return failure_set(failure, EXIT_REFUSED, "--dir: cannot make %s: %s", directory->place->path, strerror(errno));
    }
    begin_activity(workspace, "open", number, directory->place->path, 0);
    directory->fd = open(directory->place->path, flags);
    int error = errno;
    if (directory->fd < 0 && error == ENOENT) {
        return failure_set(failure, EXIT_REFUSED, "--dir: %s does not exist; make it, or add --createDirs",
                           directory->place->path);
    }
    if (directory->fd < 0) {
        return failure_set(failure, EXIT_REFUSED, "--dir: cannot open %s: %s", directory->place->path, strerror(error));
    }
    if (directory->made && !same_file_system(workspace, directory->place->path, failure)) {
        return false;
    }
    return true;
}

// Two names of one directory: the queue managers would have the same files.
static bool not_named_before(struct workspace *workspace, uint32_t number, struct failure *failure) {
    struct directory *directory = &workspace->directories[number - 1];
    struct stat status;
    if (fstat(directory->fd, &status) != 0) {
        return failure_set(failure, EXIT_REFUSED, "--dir: cannot look at %s: %s", directory->place->path,
                           strerror(errno));
    }
    directory->device = status.st_dev;
    directory->inode = status.st_ino;
    for (uint32_t i = 0; i + 1 < number; i++) {
        const struct directory *other = &workspace->directories[i];
        if (other->device == status.st_dev && other->inode == status.st_ino) {
            return failure_set(failure, EXIT_REFUSED, "--dir: %s and %s are the same directory; name a separate one for "
                               "each queue manager", other->place->path, directory->place->path);
        }
    }
    return true;
}

// Only if the test files keep their names. Without names they do not meet what is already there, such as mqldt's files.
static bool no_files_there(struct workspace *workspace, uint32_t number, struct failure *failure) {
    struct directory *directory = &workspace->directories[number - 1];
    for (uint32_t file = 0; workspace->options->keep_files && file < directory->place->files; file++) {
        struct stat status;
        char name[NAME_MAX + 1], path[PATH_MAX];
        file_name(directory->place, file, name);
        workspace_file_path(workspace, number, file, path);
        if (fstatat(directory->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
            return failure_set(failure, EXIT_REFUSED, "%s already exists, and logdisk writes only to files that it "
                               "created itself; remove it, or choose another --dir or --filePrefix", path);
        }
        if (errno != ENOENT) {
            return failure_set(failure, EXIT_REFUSED, "cannot look at %s: %s", path, strerror(errno));
        }
    }
    return true;
}

// Limits and space.

static bool enough_descriptors(struct workspace *workspace, struct failure *failure) {
    uint64_t needed = SPARE_DESCRIPTORS, largest_bytes = 0;
    struct rlimit limit;
    for (uint32_t i = 0; i < workspace->places; i++) {
        const struct place *place = workspace->directories[i].place;
        needed += place->files + 1;
        largest_bytes = place->file_bytes > largest_bytes ? place->file_bytes : largest_bytes;
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return failure_set(failure, EXIT_REFUSED, "cannot read the limit on open files: %s", strerror(errno));
    }
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < needed) {
        limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= needed ? needed : limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < needed)) {
        return failure_set(failure, EXIT_REFUSED, "--numFiles x --qm needs %" PRIu64 " open files, and the limit is %"
                           PRIu64 "; raise it (ulimit -n), or take fewer files", needed, (uint64_t)limit.rlim_cur);
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < largest_bytes) {
        return failure_set(failure, EXIT_REFUSED, "--fileSize=%" PRIu64 " is above the limit on file size of %" PRIu64
                           " bytes; raise it (ulimit -f), or take smaller files", largest_bytes,
                           (uint64_t)limit.rlim_cur);
    }
    return true;
}

static uint64_t default_reserve_bytes(uint64_t size_bytes) {
    uint64_t reserve = size_bytes / RESERVE_SHARE;
    reserve = reserve < RESERVE_MIN_BYTES ? RESERVE_MIN_BYTES : reserve;
    return reserve > RESERVE_MAX_BYTES ? RESERVE_MAX_BYTES : reserve;
}

// The space that all places on this directory's file system take together.
static bool enough_space(struct workspace *workspace, uint32_t number, struct failure *failure) {
    struct stat own, other;
    struct statvfs space;
    const struct directory *directory = &workspace->directories[number - 1];
    if (fstat(directory->fd, &own) != 0 || fstatvfs(directory->fd, &space) != 0) {
        return failure_set(failure, EXIT_REFUSED, "cannot determine the free space of %s: %s", directory->place->path,
                           strerror(errno));
    }
    uint64_t footprint = 0, files = 0;  // of all places on this file system
    for (uint32_t i = 0; i < workspace->places; i++) {
        if (fstat(workspace->directories[i].fd, &other) == 0 && other.st_dev == own.st_dev) {
            if (i + 1 < number) {
                return true;            // counted with the first one on this file system
            }
            files += workspace->directories[i].place->files;
            footprint += workspace->directories[i].place->files * workspace->directories[i].place->file_bytes;
        }
    }
    uint64_t size_bytes = (uint64_t)space.f_blocks * space.f_frsize;
    uint64_t free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
    uint64_t reserve = workspace->options->reserve_given ? workspace->options->reserve_bytes
                                                         : default_reserve_bytes(size_bytes);
    if (number == 1) {
        workspace->free_bytes = free_bytes;
        workspace->size_bytes = size_bytes;
        if (workspace->alignment_bytes == 0) {
            workspace->alignment_bytes = space.f_bsize >= 512 && space.f_bsize <= 1048576 ? space.f_bsize : 4096;
        }
    }
    if (free_bytes < footprint || free_bytes - footprint < reserve) {
        char text[4][THOUSANDS_BYTES];
        return failure_set(failure, EXIT_REFUSED, "%s has %s bytes free, but the test files take %s and %s must stay "
                           "free; take fewer or smaller files (--numFiles, --fileSize), or less --reserve",
                           directory->place->path, format_thousands(text[0], free_bytes),
                           format_thousands(text[1], footprint), format_thousands(text[2], reserve));
    }
    if (space.f_files > 0 && space.f_favail < files) {
        char text[2][THOUSANDS_BYTES];
        return failure_set(failure, EXIT_REFUSED, "%s has room for %s more files, but the test takes %s; take fewer "
                           "(--numFiles)", directory->place->path, format_thousands(text[0], space.f_favail),
                           format_thousands(text[1], files));
    }
    return true;
}

// Files.

static bool create_files(struct workspace *workspace, uint32_t number, struct failure *failure) {
    struct directory *directory = &workspace->directories[number - 1];
    struct test_file_mode mode = {.sync = directory->place->sync, .direct = directory->place->direct,
                                 .keep = workspace->options->keep_files};
    for (uint32_t file = 0; file < directory->place->files && !atomic_load(&workspace->stop); file++) {
        char name[NAME_MAX + 1], path[PATH_MAX];
        file_name(directory->place, file, name);
        workspace_file_path(workspace, number, file, path);
        begin_activity(workspace, "openat", number, path, 0);
        if (!test_file_create(directory->fd, name, path, &mode, &directory->files[file], failure)) {
            return false;
        }
    }
    return true;
}

static void close_files(struct workspace *workspace) {
    for (uint32_t i = 0; i < workspace->places; i++) {
        const struct directory *directory = &workspace->directories[i];
        for (uint64_t file = 0; file < directory->place->files; file++) {
            int *fd = &directory->files[file];
            if (*fd >= 0) {
                (void)close(*fd);
                *fd = -1;
            }
        }
    }
}

// Directories that we made go while their files live on without a name; the last made first, as one may lie in another.
// On NFS and FUSE they have to wait: an open file gets another name there when it is removed (.nfs..., .fuse_hidden...).
static void remove_made_directories(struct workspace *workspace) {
    for (uint32_t i = workspace->places; i-- > 0;) {
        struct directory *directory = &workspace->directories[i];
        if (directory->made) {
            directory->made = rmdir(directory->place->path) != 0;
        }
    }
}

static bool first_on_its_file_system(const struct workspace *workspace, uint32_t number) {
    uint32_t i = 0;
    while (workspace->directories[i].device != workspace->directories[number - 1].device) {
        i++;
    }
    return i == number - 1;
}

// Directories on one file system take the same sizes.
static bool try_block_sizes(struct workspace *workspace, uint32_t number, struct failure *failure) {
    const struct number_list *sizes = &workspace->options->block_sizes;
    char path[PATH_MAX];
    workspace_file_path(workspace, number, 0, path);
    for (size_t i = 0; i < sizes->count && first_on_its_file_system(workspace, number); i++) {
        begin_activity(workspace, "pwritev", number, path, 0);
        if (!test_file_try_block(workspace->directories[number - 1].files[0], path, sizes->values[i],
                                workspace->alignment_bytes, failure)) {
            return false;
        }
    }
    return true;
}

static bool format_failed(struct failure *failure, const char *call, int error, uint32_t number, const char *path,
                          uint64_t offset_bytes, uint64_t bytes) {
    bool refused = error == ENOSPC || error == EDQUOT || error == EFBIG || error == EINVAL || error == EROFS ||
                   error == EPERM || error == EACCES;
    failure->error = error;
    failure->queue_manager = number;
    failure->offset_bytes = offset_bytes;
    failure->block_bytes = bytes;
    (void)snprintf(failure->call, sizeof failure->call, "%s", call);
    (void)snprintf(failure->file, sizeof failure->file, "%s", path);
    return failure_set(failure, refused ? EXIT_REFUSED : EXIT_IO_ERROR,
                       "cannot preformat %s at offset %" PRIu64 ": %s%s", path, offset_bytes, failure_error_text(error),
                       error == ENOSPC || error == EDQUOT ? "; free some space, or take fewer or smaller files" : "");
}

static bool format_file(struct workspace *workspace, uint32_t number, uint32_t file, struct payload *payload,
                        struct failure *failure) {
    const struct directory *directory = &workspace->directories[number - 1];
    int fd = directory->files[file];
    char path[PATH_MAX];
    workspace_file_path(workspace, number, file, path);
    for (uint64_t offset = 0; offset < directory->place->file_bytes;) {
        if (atomic_load(&workspace->stop)) {
            return true;
        }
        uint64_t left = directory->place->file_bytes - offset;
        size_t part = left < FORMAT_PART_BYTES ? (size_t)left : FORMAT_PART_BYTES;
        unsigned char *block = payload_next(payload);
        begin_activity(workspace, "pwritev", number, path, offset);
        uint64_t start = now_ns();
        int error = test_file_write(fd, block, part, offset);
        uint64_t took = now_ns() - start;
        if (error != 0) {
            return format_failed(failure, "pwritev", error, number, path, offset, part);
        }
        workspace->initial_write.slowest_part_ns =
            took > workspace->initial_write.slowest_part_ns ? took : workspace->initial_write.slowest_part_ns;
        offset += part;
        (void)atomic_fetch_add(&workspace->formatted_bytes, part);
    }
    begin_activity(workspace, "fsync", number, path, 0);
    if (fsync(fd) != 0) {
        return format_failed(failure, "fsync", errno, number, path, 0, 0);
    }
    return true;
}

static bool format_files(struct workspace *workspace, struct failure *failure) {
    struct payload payload;
    void *pool;
    if (posix_memalign(&pool, FORMAT_ALIGNMENT_BYTES, FORMAT_PART_BYTES) != 0) {
        return failure_set(failure, EXIT_REFUSED, "no memory for preformatting");
    }
    payload_open(&payload, pool, FORMAT_PART_BYTES, workspace->seed, 0);
    payload_start_step(&payload, FORMAT_PART_BYTES, FORMAT_PART_BYTES);
    uint64_t start = now_ns();
    bool good = true;
    for (uint32_t number = 1; good && number <= workspace->places; number++) {
        const struct directory *directory = &workspace->directories[number - 1];
        for (uint32_t file = 0; good && file < directory->place->files; file++) {
            good = format_file(workspace, number, file, &payload, failure);
        }
    }
    workspace->initial_write.elapsed_ns = now_ns() - start;
    workspace->initial_write.bytes = atomic_load(&workspace->formatted_bytes);
    free(pool);
    return good;
}

static bool for_each(struct workspace *workspace, bool (*step)(struct workspace *, uint32_t, struct failure *)) {
    for (uint32_t number = 1; number <= workspace->places; number++) {
        if (atomic_load(&workspace->stop)) {
            return true;
        }
        if (!step(workspace, number, &workspace->failure)) {
            return false;
        }
    }
    return true;
}

// What a refusal leaves: files that were to be kept, and directories that were made. Files without a name go with
// their descriptors.
static void undo(struct workspace *workspace) {
    for (uint32_t i = 0; i < workspace->places; i++) {
        struct directory *directory = &workspace->directories[i];
        for (uint32_t file = 0; workspace->options->keep_files && file < directory->place->files; file++) {
            char name[NAME_MAX + 1];
            file_name(directory->place, file, name);
            if (directory->files[file] >= 0) {
                test_file_unlink(directory->fd, name, directory->files[file]);
            }
        }
    }
    close_files(workspace);
    remove_made_directories(workspace);
}

// What was removed while it was open goes when the last thread that had it has ended, and with FUSE a little later.
void workspace_close(void *argument) {
    struct workspace *workspace = argument;
    close_files(workspace);
    for (uint64_t until_ns = now_ns() + CLOSE_PATIENCE_NS;;) {
        remove_made_directories(workspace);
        if (workspace_left_behind(workspace) == NULL || now_ns() >= until_ns) {
            return;
        }
        sleep_until_ns(now_ns() + CLOSE_POLL_NS);
    }
}

const char *workspace_left_behind(const struct workspace *workspace) {
    for (uint32_t i = 0; i < workspace->places && !workspace->options->keep_files; i++) {
        if (workspace->directories[i].made) {
            return workspace->directories[i].place->path;
        }
    }
    return NULL;
}

static bool create_all_files(struct workspace *workspace) {
    if (!for_each(workspace, create_files)) {
        return false;
    }
    if (!workspace->options->keep_files) {
        remove_made_directories(workspace);
    }
    return true;
}

// Makes no call that could hang on a disk.
static bool before_files(struct workspace *workspace) {
    end_activity(workspace);
    return workspace->before_files == NULL || atomic_load(&workspace->stop) ||
           workspace->before_files(workspace->before_files_context, &workspace->failure);
}

void workspace_prepare(void *argument) {
    struct workspace *workspace = argument;
    bool good = for_each(workspace, open_directory) && for_each(workspace, not_named_before) &&
                for_each(workspace, no_files_there) && enough_descriptors(workspace, &workspace->failure) &&
                for_each(workspace, enough_space) && before_files(workspace) && create_all_files(workspace) &&
                for_each(workspace, try_block_sizes) &&
                (atomic_load(&workspace->stop) || format_files(workspace, &workspace->failure));
    if (!good || (atomic_load(&workspace->stop) && !workspace->options->keep_files)) {
        undo(workspace);
    }
    end_activity(workspace);
}
