// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_REPLACE 1u            // RENAME_NOREPLACE, which older headers lack

int aside_open(struct aside *aside, int dir_fd, const char *name) {
    *aside = (struct aside){.dir_fd = dir_fd};
    if (strlen(name) > NAME_MAX - 5 || name[0] == '\0') {
        return ENAMETOOLONG;
    }
    (void)snprintf(aside->name, sizeof aside->name, "%s", name);
    (void)snprintf(aside->aside_name, sizeof aside->aside_name, ".%s.tmp", name);
    int fd = openat(dir_fd, aside->aside_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) {
        return errno;
    }
    aside->file = fdopen(fd, "w");
    if (aside->file == NULL) {
        int error = errno;
        (void)close(fd);
        (void)unlinkat(dir_fd, aside->aside_name, 0);
        return error;
    }
    return 0;
}

int aside_open_path(struct aside *aside, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char dir[PATH_MAX];
    *aside = (struct aside){.dir_fd = -1};
    int length = slash == NULL ? snprintf(dir, sizeof dir, ".")
                 : slash == path ? snprintf(dir, sizeof dir, "/")
                                 : snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
    if (length < 0 || (size_t)length >= sizeof dir) {
        return ENAMETOOLONG;
    }
    int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return errno;
    }
    int error = aside_open(aside, dir_fd, name);
    if (error != 0) {
        (void)close(dir_fd);
        return error;
    }
    aside->owns_dir = true;
    return 0;
}

// The mode goes over before anything is in the file.
static int note_old(struct aside *aside) {
    struct stat status;
    if (fstatat(aside->dir_fd, aside->name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    aside->replaces = true;
    aside->old_device = status.st_dev;
    aside->old_inode = status.st_ino;
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
        return EEXIST;
    }
    return fchmod(fileno(aside->file), status.st_mode & 0777) == 0 ? 0 : errno;
}

int aside_open_over(struct aside *aside, const char *path, const char *const *prefixes, bool *taken) {
    int error = aside_open_path(aside, path);
    *taken = false;
    if (error != 0) {
        return error;
    }
    error = note_old(aside);
    if (error == 0) {
        error = aside_may_replace(path, prefixes);
    }
    *taken = error == EEXIST;
    if (error != 0) {
        aside_discard(aside);
    }
    return error;
}

void aside_path(const char *path, char text[PATH_MAX + 8]) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    (void)snprintf(text, PATH_MAX + 8, "%.*s.%s.tmp", (int)(name - path), path, name);
}

static void aside_release(struct aside *aside) {
    aside->file = NULL;
    if (aside->owns_dir) {
        (void)close(aside->dir_fd);
        aside->owns_dir = false;
    }
}

// Closes the file; 0 where all of it is written.
static int close_file(struct aside *aside, bool sync) {
    int error = 0;
    errno = EIO;
    if (ferror(aside->file) || fflush(aside->file) != 0 || (sync && fsync(fileno(aside->file)) != 0)) {
        error = errno;
    }
    if (fclose(aside->file) != 0 && error == 0) {
        error = errno;
    }
    return error;
}

// For file systems (NFS), kernels and containers (seccomp) that do not rename without replacing: a link does not replace
// either.
static int link_to_name(const struct aside *aside) {
    struct stat status;
    if (linkat(aside->dir_fd, aside->aside_name, aside->dir_fd, aside->name, 0) == 0) {
        return unlinkat(aside->dir_fd, aside->aside_name, 0) == 0 ? 0 : errno;
    }
    if (errno == EEXIST) {
        return EEXIST;
    }
    if (fstatat(aside->dir_fd, aside->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {       // it knows no links
        return EEXIST;
    }
    return renameat(aside->dir_fd, aside->aside_name, aside->dir_fd, aside->name) == 0 ? 0 : errno;
}

static int rename_to_name(const struct aside *aside) {
    struct stat status;
    if (aside->replaces) {
        if (fstatat(aside->dir_fd, aside->name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            status.st_dev != aside->old_device || status.st_ino != aside->old_inode) {
            return EEXIST;
        }
        return renameat(aside->dir_fd, aside->aside_name, aside->dir_fd, aside->name) == 0 ? 0 : errno;
    }
#ifdef SYS_renameat2
    if (syscall(SYS_renameat2, aside->dir_fd, aside->aside_name, aside->dir_fd, aside->name, NO_REPLACE) == 0) {
        return 0;
    }
    if (errno == EEXIST) {
        return EEXIST;
    }
#endif
    return link_to_name(aside);
}

static int commit(struct aside *aside, bool sync, bool keep_where_taken) {
    int error = close_file(aside, sync);
    if (error == 0) {
        error = rename_to_name(aside);
    }
    if (error != 0 && !(keep_where_taken && error == EEXIST)) {             // which no write returns
        (void)unlinkat(aside->dir_fd, aside->aside_name, 0);
    }
    aside_release(aside);
    return error;
}

int aside_commit(struct aside *aside) {
    return commit(aside, true, true);
}

int aside_commit_quickly(struct aside *aside) {
    return commit(aside, false, false);
}

void aside_discard(struct aside *aside) {
    if (aside->file != NULL) {
        (void)fclose(aside->file);
        (void)unlinkat(aside->dir_fd, aside->aside_name, 0);
        aside_release(aside);
    }
}

// Opens a regular file of ours for reading; -1 and errno otherwise (EEXIST where it is anything else).
static int open_own(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) {
        return -1;
    }
    int fd = -1;
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid()) {
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid())) {
            (void)close(fd);
            fd = -1;
        }
    }
    errno = EEXIST;
    return fd;
}

int aside_may_replace(const char *path, const char *const *prefixes) {
    int fd = open_own(path);
    if (fd < 0) {
        return errno == ENOENT ? 0 : errno;
    }
    char start[128];
    ssize_t length = read(fd, start, sizeof start);
    int error = length < 0 ? errno : length == 0 ? 0 : EEXIST;
    (void)close(fd);
    for (; length > 0 && *prefixes != NULL; prefixes++) {
        size_t wanted = strlen(*prefixes);
        if ((size_t)length >= wanted && memcmp(start, *prefixes, wanted) == 0) {
            error = 0;
        }
    }
    return error;
}

bool aside_check(const char *option, const char *path, const char *const *prefixes, const char *kind,
                 struct failure *failure) {
    struct aside aside;
    char name[PATH_MAX + 8];
    int error = aside_may_replace(path, prefixes);
    if (error == EEXIST) {
        return failure_set(failure, EXIT_REFUSED, "--%s=%s is there already and is no %s; name another file", option, path,
                           kind);
    }
    if (error == 0) {
        error = aside_open_path(&aside, path);
    }
    if (error == EEXIST) {
        aside_path(path, name);
        return failure_set(failure, EXIT_REFUSED, "--%s=%s: %s is there already, of a run that was killed or still goes "
                           "on; remove it, or name another file", option, path, name);
    }
    if (error != 0) {
        return failure_set(failure, EXIT_REFUSED, "--%s=%s cannot be written: %s", option, path, strerror(error));
    }
    aside_discard(&aside);
    return true;
}
