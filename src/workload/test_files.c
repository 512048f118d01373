// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/test_files.h"

#include "base/clock.h"
#include "base/units.h"
#include "host/procfs.h"
#include "workload/test_device.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#define FORMAT_ALIGNMENT_BYTES ((size_t)1 << 16)
#define SPARE_DESCRIPTORS 64
#define RESERVE_MIN_BYTES (UINT64_C(16) << 20)
#define RESERVE_MAX_BYTES (UINT64_C(1) << 30)
#define RESERVE_SHARE 100               // one hundredth of the file system
#define CLOSE_PATIENCE_NS (2 * NS_PER_S)
#define CLOSE_POLL_NS UINT64_C(10000000)
#define NO_FILE UINT32_MAX
#define GRANULE_MAX_BYTES ((uint64_t)65536)
#define PAGE_BYTES 4096
#define VERIFY_BYTES ((uint64_t)1 << 20)

#define refuse(workspace, ...) failure_set(&(workspace)->failure, EXIT_REFUSED, __VA_ARGS__)

bool workspace_init(struct workspace *workspace, const struct options *options, struct workload *workload,
                    const atomic_bool *stop) {
    workspace->options = options;
    workspace->workload = workload;
    workspace->stop = stop;
    workspace->alignment_bytes = options->alignment_bytes;
    return pthread_mutex_init(&workspace->activity_lock, NULL) == 0;
}

void workspace_file_path(const struct workspace *workspace, uint32_t place, uint32_t file, char path[PATH_MAX]) {
    const struct place *of = &workspace->workload->places[place - 1];
    for (; file >= of->files; of++) {   // a place may have several directories
        file -= (uint32_t)of->files;
    }
    if (of->is_device) {
        (void)snprintf(path, PATH_MAX, "%s", of->path);
    } else {
        (void)snprintf(path, PATH_MAX, "%s/%s.%04" PRIu32, of->path, of->file_prefix, file);
    }
}

// Records what the thread will do next with a test file or, for NO_FILE, with the directory. Returns the path, which is
// valid until the next activity. The offset is counted from the start of the descriptor.
static const char *begin_activity(struct workspace *workspace, const char *call, uint32_t place, uint32_t file,
                                  uint64_t offset_bytes) {
    struct activity *activity = &workspace->activity;
    (void)pthread_mutex_lock(&workspace->activity_lock);
    activity->call = call;
    activity->place = place;
    activity->offset_bytes = offset_bytes;
    activity->start_ns = now_ns();
    if (file == NO_FILE) {
        (void)snprintf(activity->file, sizeof activity->file, "%s", workspace->workload->places[place - 1].path);
    } else {
        workspace_file_path(workspace, place, file, activity->file);
    }
    (void)pthread_mutex_unlock(&workspace->activity_lock);
    return activity->file;
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

static const char *option_of(const struct place *place) {
    return place->name[0] != '\0' ? "--place" : "--dir";
}

// With --createDirs: <dir>1 must be on the file system of <dir>, because otherwise the root disk would be tested
// instead of the mount.
static bool same_file_system(struct workspace *workspace, const struct place *place) {
    const char *dir = workspace->options->dir;
    struct stat base;
    bool named = place->name[0] != '\0';
    if (named || strchr(dir, ',') != NULL || workspace->workload->places_count == 1 || stat(dir, &base) != 0 ||
        !S_ISDIR(base.st_mode) || base.st_dev == place->device) {
        return true;
    }
    return refuse(
        workspace,
        "--createDirs: %s would be on another file system than %s; name directories inside it, such as --dir=%s/qm",
        place->path, dir, dir);
}

// If two names led to the same directory, queue managers would share files.
static bool not_named_before(struct workspace *workspace, const struct place *place) {
    for (const struct place *other = workspace->workload->places; other < place; other++) {
        bool same_files = strcmp(other->file_prefix, place->file_prefix) == 0;
        if (other->device == place->device && other->inode == place->inode && same_files) {
            return refuse(workspace, "%s: %s and %s are the same directory; name %s", option_of(place), other->path,
                          place->path, place->name[0] != '\0' ? "each once" : "a separate one for each queue manager");
        }
    }
    return true;
}

static bool open_directory(struct workspace *workspace, uint32_t number) {
    struct place *place = &workspace->workload->places[number - 1];
    const char *path = place->path;
    struct stat status;
    if (workspace->options->create_dirs) {
        (void)begin_activity(workspace, "mkdir", number, NO_FILE, 0);
        place->made = mkdir(path, 0770) == 0;
        if (!place->made && errno != EEXIST) {
            return refuse(workspace, "%s: cannot create %s: %s", option_of(place), path, strerror(errno));
        }
    }
    (void)begin_activity(workspace, "open", number, NO_FILE, 0);
    place->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (place->made ? O_NOFOLLOW : 0));
    if (place->fd < 0 || fstat(place->fd, &status) != 0) {
        int error = errno;
        return error == ENOENT
                   ? refuse(workspace, "%s: %s does not exist; make it, or add --createDirs", option_of(place), path)
                   : refuse(workspace, "%s: cannot open %s: %s", option_of(place), path, strerror(error));
    }
    place->device = status.st_dev;
    place->inode = status.st_ino;
    bool as_before = number > 1 && !place[-1].is_device && place[-1].device == place->device;
    place->file_system = as_before ? place[-1].file_system : file_system_of(place->fd);
    return (!place->made || same_file_system(workspace, place)) && not_named_before(workspace, place);
}

// Returns the name of a test file in its directory.
static const char *name_of(const char *path) {
    return strrchr(path, '/') + 1;
}

// Limits and space.

static bool enough_descriptors(struct workspace *workspace) {
    uint64_t needed = SPARE_DESCRIPTORS, largest_bytes = 0;
    struct rlimit limit;
    for (uint32_t i = 0; i < workspace->workload->places_count; i++) {
        const struct place *place = &workspace->workload->places[i];
        needed += place->files + 1 + (workspace->marked_files != NULL);
        largest_bytes = place->file_bytes > largest_bytes ? place->file_bytes : largest_bytes;
    }
    workspace->descriptors = needed;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return refuse(workspace, "cannot read the limit on open files: %s", strerror(errno));
    }
    if (limit.rlim_cur < needed && limit.rlim_max >= needed) {      // RLIM_INFINITY is the greatest value
        limit.rlim_cur =
            setrlimit(RLIMIT_NOFILE, &(struct rlimit){needed, limit.rlim_max}) == 0 ? needed : limit.rlim_cur;
    }
    if (limit.rlim_cur < needed) {
        return refuse(workspace,
                      "--numFiles x --qm needs %" PRIu64 " open files, but the limit is %" PRIu64
                      "; raise it (ulimit -n), or take fewer files",
                      needed, (uint64_t)limit.rlim_max);
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < largest_bytes) {
        return refuse(workspace,
                      "--fileSize=%" PRIu64 " is above the limit on file size of %" PRIu64
                      " bytes; raise it (ulimit -f), or take smaller files",
                      largest_bytes, (uint64_t)limit.rlim_cur);
    }
    return true;
}

uint64_t test_files_reserve_bytes(uint64_t size_bytes) {
    uint64_t reserve = size_bytes / RESERVE_SHARE;
    reserve = reserve < RESERVE_MIN_BYTES ? RESERVE_MIN_BYTES : reserve;
    return reserve > RESERVE_MAX_BYTES ? RESERVE_MAX_BYTES : reserve;
}

static bool first_on_its_file_system(const struct workspace *workspace, uint32_t number) {
    uint32_t i = 0;
    while (workspace->workload->places[i].file_system != workspace->workload->places[number - 1].file_system) {
        i++;
    }
    return i == number - 1;
}

// Returns the total space of all places on the given file system, in bytes.
static uint64_t footprint_on(const struct workload *workload, dev_t file_system, uint64_t *files) {
    uint64_t footprint = 0;
    *files = 0;
    for (uint32_t i = 0; i < workload->places_count; i++) {
        const struct place *place = &workload->places[i];
        if (place->file_system == file_system) {
            *files += place->files;
            footprint += place->files * place->file_bytes;
        }
    }
    return footprint;
}

static bool enough_space(struct workspace *workspace, uint32_t number) {
    struct statvfs space;
    const struct place *place = &workspace->workload->places[number - 1];
    uint64_t files;
    char text[3][THOUSANDS_BYTES];
    if (place->is_device) {
        workspace->alignment_bytes = workspace->alignment_bytes == 0 ? LOG_PAGE_BYTES : workspace->alignment_bytes;
        return true;
    }
    if (!first_on_its_file_system(workspace, number)) {
        return true;
    }
    if (fstatvfs(place->fd, &space) != 0) {
        return refuse(workspace, "cannot determine the free space of %s: %s", place->path, strerror(errno));
    }
    uint64_t footprint = footprint_on(workspace->workload, place->file_system, &files);
    uint64_t size_bytes = (uint64_t)space.f_blocks * space.f_frsize;
    uint64_t free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
    uint64_t reserve = workspace->options->reserve_given ? workspace->options->reserve_bytes
                                                         : test_files_reserve_bytes(size_bytes);
    if (number == 1) {
        workspace->free_bytes = free_bytes;
        workspace->size_bytes = size_bytes;
        if (workspace->alignment_bytes == 0) {
            workspace->alignment_bytes = space.f_bsize >= 512 && space.f_bsize <= 1048576 ? space.f_bsize : 4096;
        }
    }
    if (free_bytes < footprint || free_bytes - footprint < reserve) {
        return refuse(workspace,
                      "%s has %s bytes free, but the test files take %s and %s must stay free; take fewer or smaller "
                      "files (--numFiles, --fileSize), or less --reserve",
                      place->path, format_thousands(text[0], free_bytes), format_thousands(text[1], footprint),
                      format_thousands(text[2], reserve));
    }
    if (space.f_files > 0 && space.f_favail < files) {
        return refuse(workspace, "%s has room for %s more files, but the test takes %s; take fewer (--numFiles)",
                      place->path, format_thousands(text[0], space.f_favail), format_thousands(text[1], files));
    }
    return true;
}

// Files.

static int open_flags(const struct place *place) {
    int flags = place->sync == SYNC_DSYNC ? O_DSYNC : place->sync == SYNC_SYNC ? O_SYNC : 0;
    return flags | (place->direct ? O_DIRECT : 0) | O_RDWR | O_CLOEXEC;
}

static bool same_file(const struct stat *left, const struct stat *right) {
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

bool test_file_unlink(int dir_fd, const char *name, int fd) {
    struct stat ours, named;
    return fstat(fd, &ours) == 0 && fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           same_file(&ours, &named) && unlinkat(dir_fd, name, 0) == 0;
}

static bool refuse_open(struct workspace *workspace, const struct place *place, const char *path, int error) {
    return error == EINVAL && place->direct
               ? refuse(workspace,
                        "the file system of %s refuses O_DIRECT; choose another --dir, or measure without it by "
                        "--direct=no (MQ itself would use it)",
                        path)
               : refuse(workspace, "cannot open %s: %s", path, strerror(error));
}

static bool refuse_creation(struct workspace *workspace, const char *path, int error) {
    return error == EEXIST
               ? refuse(workspace,
                        "%s already exists, and logdisk writes only to files that it created itself; remove it, or "
                        "choose another --dir or --filePrefix",
                        path)
               : refuse(workspace, "cannot create %s: %s", path, strerror(error));
}

// The kernel creates a file before it refuses O_DIRECT for it. Therefore, the file is created without this flag, and
// then opened again with all flags of the test. Both descriptors must refer to the same file, and the file must not
// have another name.
static bool create_named(struct workspace *workspace, const struct place *place, const char *path, int *fd) {
    struct stat created, opened;
    const char *name = name_of(path);
    int first = openat(place->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0660);
    if (first < 0) {
        return refuse_creation(workspace, path, errno);
    }
    int second = openat(place->fd, name, open_flags(place) | O_NOFOLLOW);
    int error = errno;
    bool ours = second >= 0 && fstat(first, &created) == 0 && fstat(second, &opened) == 0 &&
                same_file(&created, &opened) && opened.st_nlink == 1;
    if (!ours || !workspace->options->keep_files) {
        ours = test_file_unlink(place->fd, name, first) && ours;
    }
    (void)close(first);
    if (second < 0) {
        return refuse_open(workspace, place, path, error);
    }
    if (!ours) {
        (void)close(second);
        return refuse(workspace,
                      "%s was changed by another process while it was being created; choose a directory that only you "
                      "can write to",
                      path);
    }
    *fd = second;
    return true;
}

// Creates the file under its name only if it needs one.
static bool create_file(struct workspace *workspace, uint32_t number, uint32_t file) {
    const struct place *place = &workspace->workload->places[number - 1];
    const char *path = begin_activity(workspace, "openat", number, file, 0);
    if (place->is_device) {
        place->fds[file] = fcntl(place->fd, F_DUPFD_CLOEXEC, 0);
        return place->fds[file] >= 0 || refuse(workspace, "cannot open %s: %s", path, strerror(errno));
    }
    if (workspace->options->keep_files) {
        return create_named(workspace, place, path, &place->fds[file]);
    }
    // A file that never has a name is never left behind. This is true even after SIGKILL, or if a disk freezes while
    // the file is being created and thaws after this process has ended.
    place->fds[file] = openat(place->fd, ".", open_flags(place) | O_NOFOLLOW | O_TMPFILE | O_EXCL, 0660);
    if (place->fds[file] >= 0) {
        return true;
    }
    // The errors of a kernel or file system that does not support such files. EINVAL may also mean that O_DIRECT is
    // refused; creating the file under a name shows which of the two is true.
    bool impossible = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT;
    return impossible ? create_named(workspace, place, path, &place->fds[file])
                      : refuse_creation(workspace, path, errno);
}

uint64_t test_file_verify_bytes(uint64_t block_bytes, uint64_t file_bytes) {
    uint64_t in_file = file_bytes / block_bytes * block_bytes, at_once = VERIFY_BYTES / block_bytes * block_bytes;
    at_once = at_once > block_bytes ? at_once : block_bytes;
    return at_once < in_file ? at_once : in_file;
}

// Writes once, in the same way as the test. Returns 0, errno, or FAILURE_SHORT_WRITE.
static int write_block(int fd, const void *block, size_t bytes, uint64_t offset_bytes) {
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

// Files without a name disappear with their descriptors.
static void close_files(struct workspace *workspace, bool remove_names) {
    for (uint32_t number = 1; number <= workspace->workload->places_count; number++) {
        struct place *place = &workspace->workload->places[number - 1];
        for (uint32_t file = 0; file < place->files; file++) {
            char path[PATH_MAX];
            workspace_file_path(workspace, number, file, path);
            if (place->fds[file] >= 0 && remove_names) {
                (void)test_file_unlink(place->fd, name_of(path), place->fds[file]);
            }
            if (place->fds[file] >= 0) {
                (void)close(place->fds[file]);
                place->fds[file] = -1;
            }
        }
        if (workspace->marked_files != NULL) {
            workspace->marked_files->close_mark(workspace->marked_files->context, place, remove_names);
        }
    }
}

// Removes directories that the tester created, while their nameless files continue to exist. They are removed in
// reverse order, because one may be inside another. On NFS and FUSE, they can only be removed later: an open file that
// is removed is given another name there (.nfs..., .fuse_hidden...).
static void remove_made_directories(struct workspace *workspace) {
    for (uint32_t i = workspace->workload->places_count; i-- > 0;) {
        struct place *place = &workspace->workload->places[i];
        if (place->made) {
            place->made = rmdir(place->path) != 0;
        }
    }
}

// The call of the activity failed.
static bool call_failed(struct workspace *workspace, const char *what, int error, uint64_t bytes) {
    const struct activity *activity = &workspace->activity;
    struct failure *failure = &workspace->failure;
    bool full = error == ENOSPC || error == EDQUOT;
    bool refused = full || error == EFBIG || error == EINVAL || error == EROFS || error == EPERM || error == EACCES;
    *failure = (struct failure){
        .error = error,
        .queue_manager = activity->place,
        .offset_bytes = activity->offset_bytes,
        .call = activity->call,
        .block_bytes = bytes};
    (void)snprintf(failure->file, sizeof failure->file, "%s", activity->file);
    return failure_set(failure, refused ? EXIT_REFUSED : EXIT_IO_ERROR, "cannot %s %s at offset %" PRIu64 ": %s%s",
                       what, failure->file, failure->offset_bytes, failure_error_text(error),
                       full ? "; free some space, or take fewer or smaller files" : "");
}

// Sizes that the disk accepts. The memory is aligned exactly as in the test.

struct trial {
    const struct place *place;
    unsigned char *memory;
    bool is_read;
};

// Returns 0, errno, or FAILURE_SHORT_WRITE.
static int transfer(const struct trial *trial, uint64_t bytes) {
    uint64_t offset_bytes = place_offset(trial->place, 0, 0);
    int fd = trial->place->fds[0];
    ssize_t done;
    if (!trial->is_read) {
        return write_block(fd, trial->memory, bytes, offset_bytes);
    }
    while ((done = pread(fd, trial->memory, bytes, (off_t)offset_bytes)) < 0 && errno == EINTR) {
    }
    return done < 0 ? errno : (uint64_t)done == bytes ? 0 : FAILURE_SHORT_WRITE;
}

// Returns the next size that works instead of a refused one or, if there is none, the largest; 0 if none works.
static uint64_t size_that_works(const struct trial *trial, uint64_t bytes) {
    uint64_t unit = 512;
    for (; unit <= GRANULE_MAX_BYTES; unit *= 2) {
        uint64_t size = (bytes + unit - 1) / unit * unit;
        if (size > bytes && size <= trial->place->file_bytes && transfer(trial, size) == 0) {
            return size;
        }
    }
    for (unit = 512; unit < bytes && unit <= GRANULE_MAX_BYTES && transfer(trial, unit) != 0; unit *= 2) {
    }
    if (unit >= bytes || unit > GRANULE_MAX_BYTES) {
        return 0;
    }
    uint64_t low = 1, high = (bytes + unit - 1) / unit;         // in units: low works, high does not
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        bool works = transfer(trial, middle * unit) == 0;
        low = works ? middle : low;
        high = works ? high : middle;
    }
    return low * unit;
}

// aligned: the same memory, aligned to PAGE_BYTES.
static bool refuse_size(struct workspace *workspace, struct trial *trial, unsigned char *aligned, const char *option,
                        uint64_t bytes) {
    const char *what = trial->is_read ? "read" : "write", *path = workspace->activity.file, *with = "";
    uint64_t works = size_that_works(trial, bytes);
    if (works == 0 && trial->memory != aligned) {
        trial->memory = aligned;
        with = " with --alignment=4096";
        works = transfer(trial, bytes) == 0 ? bytes : size_that_works(trial, bytes);
    }
    if (works == bytes) {
        return refuse(workspace,
                      "%s: a %s of %" PRIu64 " bytes from memory aligned to %" PRIu64
                      " is refused by the disk of %s; try --alignment=4096",
                      option, what, bytes, workspace->alignment_bytes, path);
    }
    if (works > 0) {
        return refuse(workspace,
                      "%s: a %s of %" PRIu64 " bytes is refused by the disk of %s; the %s size that works%s is "
                      "%" PRIu64,
                      option, what, bytes, path, works > bytes ? "next" : "largest", with, works);
    }
    return refuse(workspace, "%s: a %s of %" PRIu64 " bytes is refused by the disk of %s, and so is any other size; %s",
                  option, what, bytes, path,
                  trial->place->direct ? "choose another --dir, or measure without O_DIRECT by --direct=no (MQ itself "
                                         "would use it)"
                                       : "choose another --dir");
}

// Transfers one block at the start of the first file.
static bool try_size(struct workspace *workspace, uint32_t number, bool is_read, const char *option, uint64_t bytes,
                     uint64_t alignment_bytes) {
    struct trial trial = {.place = &workspace->workload->places[number - 1], .is_read = is_read};
    size_t room = (size_t)(bytes + GRANULE_MAX_BYTES);
    void *memory;
    if (posix_memalign(&memory, alignment_bytes > PAGE_BYTES ? alignment_bytes : PAGE_BYTES, room + PAGE_BYTES) != 0) {
        return refuse(workspace, "no memory for a block of %" PRIu64 " bytes", bytes);
    }
    memset(memory, 0x5A, room + PAGE_BYTES);
    trial.memory = (unsigned char *)memory + (alignment_bytes < PAGE_BYTES ? alignment_bytes : 0);
    (void)begin_activity(workspace, is_read ? "pread" : "pwritev", number, 0, place_offset(trial.place, 0, 0));
    int error = transfer(&trial, bytes);
    bool good = error == 0 || (error == EINVAL ? refuse_size(workspace, &trial, memory, option, bytes)
                                               : call_failed(workspace, is_read ? "read" : "write to", error, bytes));
    free(memory);
    return good;
}

// Directories on one file system accept the same sizes, but each place of --place has its own streams.
static bool is_tried(struct workspace *workspace, uint32_t number, uint64_t block_bytes) {
    const struct workload *workload = workspace->workload;
    const char *name = workload->places[number - 1].name;
    bool wanted = name[0] == '\0' && first_on_its_file_system(workspace, number);
    for (uint32_t i = 0; i < workload->streams_count && !wanted; i++) {
        const struct stream_terms *of = &workload->streams[i].terms;
        for (uint32_t j = 0; j < of->sizes_count && strcmp(of->place, name) == 0; j++) {
            wanted = wanted || of->sizes[j] == block_bytes;
        }
    }
    return wanted;
}

static bool try_writes(struct workspace *workspace, uint32_t number) {
    const struct workload *workload = workspace->workload;
    for (size_t i = 0; i < workload->writes.count; i++) {
        uint64_t bytes = workload->writes.values[i];
        if (is_tried(workspace, number, bytes) &&
            !try_size(workspace, number, false, workload->write_option, bytes, workspace->alignment_bytes)) {
            return false;
        }
    }
    return true;
}

static bool is_read(const struct workload *workload, const struct place *place) {
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        const struct stream *stream = &workload->streams[i];
        if (stream_has(stream, OPERATION_READ) && strcmp(stream->terms.place, place->name) == 0) {
            return true;
        }
    }
    return false;
}

// The files must be complete. A disk may refuse reads of a size that it accepts for writes, for example because
// --verify reads several blocks at once.
static bool try_reads(struct workspace *workspace, uint32_t number) {
    const struct workload *workload = workspace->workload;
    const struct place *place = &workload->places[number - 1];
    for (size_t i = 0; i < workload->writes.count; i++) {
        uint64_t bytes = workload->writes.values[i], at_once = test_file_verify_bytes(bytes, place->file_bytes);
        if (!is_tried(workspace, number, bytes)) {
            continue;
        }
        if ((is_read(workload, place) &&
             !try_size(workspace, number, true, workload->write_option, bytes, workspace->alignment_bytes)) ||
            (workspace->options->verify && !try_size(workspace, number, true, "--verify", at_once, PAGE_BYTES))) {
            return false;
        }
    }
    return true;
}

static bool format_file(struct workspace *workspace, uint32_t number, uint32_t file) {
    const struct place *place = &workspace->workload->places[number - 1];
    struct initial_write *written = &workspace->initial_write;
    for (uint64_t offset = 0; offset < place->file_bytes;) {
        if (atomic_load(workspace->stop)) {
            return true;
        }
        uint64_t left = place->file_bytes - offset;
        size_t part = left < FORMAT_PART_BYTES ? (size_t)left : FORMAT_PART_BYTES;
        unsigned char *block = payload_next(&workspace->payload);
        uint64_t at = place_offset(place, file, offset);
        (void)begin_activity(workspace, "pwritev", number, file, at);
        int error = write_block(place->fds[file], block, part, at);
        uint64_t took_ns = now_ns() - workspace->activity.start_ns;
        if (error != 0) {
            return call_failed(workspace, "preformat", error, part);
        }
        written->slowest_part_ns = took_ns > written->slowest_part_ns ? took_ns : written->slowest_part_ns;
        written->bytes += part;
        offset += part;
    }
    (void)begin_activity(workspace, "fsync", number, file, 0);
    return fsync(place->fds[file]) == 0 || call_failed(workspace, "preformat", errno, 0);
}

// A stop ends both of these loops early. It is not a failure.

static bool for_each(struct workspace *workspace, bool (*step)(struct workspace *, uint32_t)) {
    bool good = true;
    for (uint32_t number = 1; good && number <= workspace->workload->places_count && !atomic_load(workspace->stop);
         number++) {
        good = step(workspace, number);
    }
    return good;
}

static bool for_each_file(struct workspace *workspace, bool (*step)(struct workspace *, uint32_t, uint32_t)) {
    bool good = true;
    for (uint32_t number = 1; number <= workspace->workload->places_count; number++) {
        const struct place *place = &workspace->workload->places[number - 1];
        for (uint32_t file = 0; good && file < place->files && !atomic_load(workspace->stop); file++) {
            good = step(workspace, number, file);
        }
    }
    return good;
}

// Files that survive a power cut.

static bool mark_place(struct workspace *workspace, uint32_t number) {
    (void)begin_activity(workspace, "openat", number, NO_FILE, 0);
    return workspace->marked_files->mark(
        workspace->marked_files->context, &workspace->workload->places[number - 1], &workspace->failure);
}

static bool sync_place(struct workspace *workspace, uint32_t number) {
    (void)begin_activity(workspace, "fsync", number, NO_FILE, 0);
    return workspace->marked_files->sync(&workspace->workload->places[number - 1], &workspace->failure);
}

static bool mark_places(struct workspace *workspace) {
    return workspace->marked_files == NULL || for_each(workspace, mark_place);
}

static bool sync_places(struct workspace *workspace) {
    return workspace->marked_files == NULL || for_each(workspace, sync_place);
}

// Devices.

// Known without trying a write: the page cache accepts any size.
static bool has_whole_sectors(struct workspace *workspace, uint32_t number, uint32_t sector_bytes) {
    const struct place *place = &workspace->workload->places[number - 1];
    const struct number_list *sizes = &workspace->workload->writes;
    for (size_t i = 0; i < sizes->count && place->direct; i++) {
        uint64_t bytes = sizes->values[i];
        if (bytes % sector_bytes != 0 && is_tried(workspace, number, bytes)) {
            return refuse(workspace,
                          "%s: operations of %" PRIu64 " bytes are not possible with %s, whose sectors have %" PRIu32
                          "; the next size that works is %" PRIu64,
                          workspace->workload->write_option, bytes, place->path, sector_bytes,
                          (bytes / sector_bytes + 1) * sector_bytes);
        }
    }
    return true;
}

static bool open_device(struct workspace *workspace, uint32_t number) {
    struct place *place = &workspace->workload->places[number - 1];
    struct test_device device;
    (void)begin_activity(workspace, "open", number, NO_FILE, 0);
    if (!test_device_open(&device, place, open_flags(place), &workspace->failure)) {
        return false;
    }
    place->fd = device.fd;
    place->device = place->file_system = device.number;
    return has_whole_sectors(workspace, number, device.sector_bytes);
}

static bool open_place(struct workspace *workspace, uint32_t number) {
    return (workspace->workload->places[number - 1].is_device ? open_device : open_directory)(workspace, number);
}

// The steps of the preparation.

static bool format_files(struct workspace *workspace) {
    void *pool;
    if (posix_memalign(&pool, FORMAT_ALIGNMENT_BYTES, FORMAT_PART_BYTES) != 0) {
        return refuse(workspace, "no memory for preformatting");
    }
    payload_open(&workspace->payload, pool, FORMAT_PART_BYTES, workspace->options->seed, 0);
    payload_start_step(&workspace->payload, FORMAT_PART_BYTES, FORMAT_PART_BYTES);
    uint64_t start_ns = now_ns();
    bool good = for_each_file(workspace, format_file);
    workspace->initial_write.elapsed_ns = now_ns() - start_ns;
    free(pool);
    return good;
}

// Does nothing if the first place is a device, because a device is opened only once, or if every block must belong to
// the run itself.
static bool probe_sync(struct workspace *workspace) {
    const struct place *place = &workspace->workload->places[0];
    if (!place->direct || place->is_device || workspace->marked_files != NULL || atomic_load(workspace->stop)) {
        return true;
    }
    (void)begin_activity(workspace, "the sync probe", 1, 0, 0);
    int error = sync_probe_run(
        &workspace->sync_probe, place->fds[0], place->file_bytes, workspace->options->seed, workspace->stop);
    return error == 0 || call_failed(workspace, "write to", error, 0);
}

// This function makes no calls that can hang on a disk.
static bool before_files(struct workspace *workspace) {
    end_activity(workspace);
    return workspace->before_files == NULL || atomic_load(workspace->stop) ||
           workspace->before_files(workspace->before_files_context, &workspace->failure);
}

void workspace_prepare(void *argument) {
    struct workspace *workspace = argument;
    bool keep = workspace->options->keep_files, survives = workspace->marked_files != NULL;
    bool good = for_each(workspace, open_place) && enough_descriptors(workspace) &&
                for_each(workspace, enough_space) && before_files(workspace) && for_each_file(workspace, create_file) &&
                mark_places(workspace);
    if (good && !keep) {
        remove_made_directories(workspace);
    }
    good = good && for_each(workspace, try_writes) && format_files(workspace) && for_each(workspace, try_reads) &&
           sync_places(workspace) && probe_sync(workspace);
    // Incomplete files are useless for a power cut.
    if (!good || (atomic_load(workspace->stop) && (!keep || survives))) {
        close_files(workspace, keep);
        remove_made_directories(workspace);
    }
    end_activity(workspace);
}

// A file that was removed while open disappears when the last thread that had it open has ended, or with FUSE a little
// later.
void workspace_close(void *argument) {
    struct workspace *workspace = argument;
    close_files(workspace, false);
    for (uint64_t until_ns = now_ns() + CLOSE_PATIENCE_NS;;) {
        remove_made_directories(workspace);
        if (workspace_left_behind(workspace) == NULL || now_ns() >= until_ns) {
            return;
        }
        sleep_until_ns(now_ns() + CLOSE_POLL_NS);
    }
}

const char *workspace_left_behind(const struct workspace *workspace) {
    for (uint32_t i = 0; i < workspace->workload->places_count && !workspace->options->keep_files; i++) {
        if (workspace->workload->places[i].made) {
            return workspace->workload->places[i].path;
        }
    }
    return NULL;
}
