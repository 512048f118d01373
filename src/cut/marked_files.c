// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/marked_files.h"

#include <unistd.h>

static bool create_mark(void *context, struct place *place, struct failure *failure) {
    const struct mark *mark = context;
    int fd = mark_create(mark, place->fd);
    if (fd < 0) {
        return errno == EEXIST
                   ? failure_set(failure, EXIT_REFUSED,
                                 "%s already contains files that --acknowledge left there; remove them with "
                                 "--removeAcknowledged, or choose another --dir or --filePrefix",
                                 place->path)
                   : failure_set(failure, EXIT_REFUSED, "cannot create the mark of --acknowledge in %s: %s",
                                 place->path, strerror(errno));
    }
    place->mark = fd;
    return true;
}

static bool sync_directories(const struct place *place, struct failure *failure) {
    if (mark_sync_directories(place->fd, place->made)) {
        return true;
    }
    *failure = (struct failure){.call = "fsync", .error = errno};
    (void)snprintf(failure->file, sizeof failure->file, "%s", place->path);
    return failure_set(failure, EXIT_IO_ERROR, "--acknowledge: cannot sync %s and the directories above it: %s",
                       place->path, strerror(failure->error));
}

static void close_mark(void *context, struct place *place, bool remove_name) {
    const struct mark *mark = context;
    char name[NAME_MAX + 1];
    mark_name(name, mark->file_prefix);
    if (place->mark > 0 && remove_name) {
        (void)test_file_unlink(place->fd, name, place->mark);
    }
    if (place->mark > 0) {
        (void)close(place->mark);
        place->mark = 0;
    }
}

void marked_files_open(struct marked_files *marked_files, struct mark *mark, const struct options *options) {
    mark_of_run(mark, options);
    *marked_files =
        (struct marked_files){.context = mark, .mark = create_mark, .sync = sync_directories, .close_mark = close_mark};
}

void marked_files_note_end(void *argument) {
    const struct workload *workload = argument;
    for (uint32_t i = 0; i < workload->places_count; i++) {
        int mark = workload->places[i].mark;
        (void)(mark > 0 && mark_note_end(mark));
    }
}
