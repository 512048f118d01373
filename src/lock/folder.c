// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/folder.h"

#include "lock/record.h"
#include "workload/test_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MARK_NAME ".mqops-logdisk.json"
#define MARK_MAX_BYTES 65536
#define PART_BYTES ((size_t)1 << 20)    // of a new file

// The directory.

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " \t\r\n");
}

// Returns whether the text has the member "kind": "mqops.logdisk".
static bool has_kind(const char *text) {
    static const char key[] = "\"kind\"", value[] = "\"mqops.logdisk\"";
    for (const char *at = text; (at = strstr(at, key)) != NULL;) {
        at = skip_blanks(at + strlen(key));
        if (*at == ':' && strncmp(skip_blanks(at + 1), value, strlen(value)) == 0) {
            return true;
        }
    }
    return false;
}

static int check_mark(int dir_fd) {
    char text[MARK_MAX_BYTES + 2] = "";
    struct stat status;
    int fd = openat(dir_fd, MARK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || errno == ELOOP ? EBADMSG : errno;
    }
    ssize_t length = fstat(fd, &status) != 0 ? -1 : S_ISREG(status.st_mode) ? read(fd, text, MARK_MAX_BYTES + 1) : 0;
    int error = length < 0 ? errno : 0;
    (void)close(fd);
    if (error != 0) {
        return error;
    }
    return length <= MARK_MAX_BYTES && has_kind(text) ? 0 : EBADMSG;
}

int folder_open(const char *path, int *dir_fd) {
    char name[PATH_MAX];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {     // a slash at the end would follow a symlink
        length--;
    }
    if (length >= sizeof name) {
        return ENAMETOOLONG;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)length, path);
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int error = check_mark(fd);
    if (error != 0) {
        (void)close(fd);
        return error;
    }
    *dir_fd = fd;
    return 0;
}

// Files.

int folder_create(int dir_fd, struct shared *shared, const char *name, int *fd) {
    struct stat status;
    struct created_file *created = shared_new_file(shared);
    if (created == NULL) {
        return ENFILE;
    }
    *fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0) {
        return errno;
    }
    if (fstat(*fd, &status) != 0) {
        int error = errno;
        (void)close(*fd);
        return error;
    }
    created->device = status.st_dev;
    created->inode = status.st_ino;
    (void)snprintf(created->name, sizeof created->name, "%s", name);
    atomic_store(&created->exists, true);
    return 0;
}

static int check_space(int dir_fd, uint64_t bytes) {
    struct statvfs space;
    if (fstatvfs(dir_fd, &space) != 0) {
        return errno;
    }
    uint64_t free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
    uint64_t reserve_bytes = test_files_reserve_bytes((uint64_t)space.f_blocks * space.f_frsize);
    return free_bytes >= bytes && free_bytes - bytes >= reserve_bytes ? 0 : ENOSPC;
}

static int write_all(int fd, const unsigned char *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t written = write(fd, data + done, bytes - done);
        if (written <= 0 && errno != EINTR) {
            return written == 0 ? ENOSPC : errno;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

static int fill(int fd, uint64_t bytes) {
    static _Alignas(PROTOCOL_PAGE_BYTES) unsigned char part[PART_BYTES];
    int error = 0;
    for (uint64_t at = 0; error == 0 && at < bytes; at += PART_BYTES) {
        size_t length = bytes - at < PART_BYTES ? (size_t)(bytes - at) : PART_BYTES;
        for (size_t page = 0; page < length; page += PROTOCOL_PAGE_BYTES) {
            record_fill(part + page, (at + page) / PROTOCOL_PAGE_BYTES);
        }
        error = write_all(fd, part, length);
    }
    return error;
}

int folder_create_full(int dir_fd, struct shared *shared, const char *name, uint64_t bytes) {
    int fd;
    int error = check_space(dir_fd, bytes);
    error = error != 0 ? error : folder_create(dir_fd, shared, name, &fd);
    if (error != 0) {
        return error;
    }
    error = fill(fd, bytes);
    error = error == 0 && fsync(fd) != 0 ? errno : error;
    error = error == 0 && fsync(dir_fd) != 0 ? errno : error;
    return close(fd) != 0 && error == 0 ? errno : error;
}

int folder_open_file(int dir_fd, const char *name, int *fd, uint64_t *bytes) {
    struct stat status;
    *fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_DIRECT | O_DSYNC | O_CLOEXEC);
    if (*fd < 0) {
        return errno;
    }
    int error = fstat(*fd, &status) != 0 ? errno
                : S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == geteuid() ? 0 : EPERM;
    if (error != 0) {
        (void)close(*fd);
    }
    *bytes = (uint64_t)status.st_size;
    return error;
}

// Removal.

static bool remove_file(int dir_fd, const struct created_file *created) {
    struct stat status;
    int fd = openat(dir_fd, created->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT;
    }
    bool ours = fstat(fd, &status) == 0 && status.st_dev == created->device && status.st_ino == created->inode;
    bool gone = ours && test_file_unlink(dir_fd, created->name, fd);
    (void)close(fd);
    return gone;
}

void folder_remove(int dir_fd, const struct shared *shared, uint64_t *removed, uint64_t *left) {
    *removed = *left = 0;
    for (uint32_t i = 0; i < shared_files(shared); i++) {
        if (atomic_load(&shared->files[i].exists)) {
            bool gone = remove_file(dir_fd, &shared->files[i]);
            *removed += gone;
            *left += !gone;
        }
    }
}
