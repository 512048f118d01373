// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *failure_error_name(int error) {
    static const struct { int error; const char *name; } names[] = {
        {FAILURE_SHORT_WRITE, "SHORT_WRITE"}, {FAILURE_CORRUPT, "CORRUPT"}, {EIO, "EIO"}, {ENOSPC, "ENOSPC"},
        {EDQUOT, "EDQUOT"}, {EROFS, "EROFS"}, {EFBIG, "EFBIG"}, {EINVAL, "EINVAL"}, {EAGAIN, "EAGAIN"},
        {ENODEV, "ENODEV"}, {ENXIO, "ENXIO"}, {ESTALE, "ESTALE"}, {EREMOTEIO, "EREMOTEIO"},
        {ETIMEDOUT, "ETIMEDOUT"}, {EBADF, "EBADF"}, {EPERM, "EPERM"}, {EACCES, "EACCES"}, {ENOMEM, "ENOMEM"},
        {EOPNOTSUPP, "EOPNOTSUPP"}, {ENOTCONN, "ENOTCONN"}, {ECONNABORTED, "ECONNABORTED"}, {ENOLINK, "ENOLINK"},
        {EBUSY, "EBUSY"}, {EINTR, "EINTR"}, {ENOENT, "ENOENT"}, {EEXIST, "EEXIST"}, {ELOOP, "ELOOP"},
        {ENOTDIR, "ENOTDIR"}, {EMFILE, "EMFILE"}, {ENFILE, "ENFILE"}, {EUCLEAN, "EUCLEAN"}, {EBADMSG, "EBADMSG"},
        {EPROTO, "EPROTO"}, {EFAULT, "EFAULT"}, {ENOSYS, "ENOSYS"}, {EHOSTDOWN, "EHOSTDOWN"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].error == error) {
            return names[i].name;
        }
    }
    return "other";
}

const char *failure_error_text(int error) {
    switch (error) {
    case FAILURE_SHORT_WRITE: return "less was transferred than asked for";
    case FAILURE_CORRUPT: return "what was read is not what was written";
    default: return strerror(error);
    }
}

bool failure_set(struct failure *failure, enum exit_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(failure->message, sizeof failure->message, format, arguments);
    va_end(arguments);
    failure->status = status;
    return false;
}
