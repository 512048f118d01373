// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/failure.h"

const char *failure_error_name(int error) {
    static const struct { int error; const char *name; } names[] = {
#define NAME(error) {error, #error}
        {FAILURE_SHORT_WRITE, "SHORT_WRITE"}, {FAILURE_CORRUPT, "CORRUPT"},
        NAME(EIO), NAME(ENOSPC), NAME(EDQUOT), NAME(EROFS), NAME(EFBIG), NAME(EINVAL), NAME(EAGAIN), NAME(ENODEV),
        NAME(ENXIO), NAME(ESTALE), NAME(EREMOTEIO), NAME(ETIMEDOUT), NAME(EBADF), NAME(EPERM), NAME(EACCES),
        NAME(ENOMEM), NAME(EOPNOTSUPP), NAME(ENOTCONN), NAME(ECONNABORTED), NAME(ENOLINK), NAME(EBUSY), NAME(EINTR),
        NAME(ENOENT), NAME(EEXIST), NAME(ELOOP), NAME(ENOTDIR), NAME(EMFILE), NAME(ENFILE), NAME(EUCLEAN),
        NAME(EBADMSG), NAME(EPROTO), NAME(EFAULT), NAME(ENOSYS), NAME(EHOSTDOWN),
        NAME(ENOLCK), NAME(EDEADLK), NAME(ENAMETOOLONG), NAME(ECANCELED),
#undef NAME
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
    case FAILURE_SHORT_WRITE: return "less was transferred than requested";
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
