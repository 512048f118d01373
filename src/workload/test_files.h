// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The files under test: the preformatted files of each place of a workload.
//
// The most important rule: a file that this run did not create is never written, truncated or removed. Files are
// created exclusively and without following a link, relative to the open directory; before a name is removed, a check
// makes sure that it still refers to the file that was created. Unless they are to be kept, files have no name at all,
// so neither SIGKILL nor a crash leaves them behind; if the file system does not support nameless files (NFS), the
// names are removed once the files are open.
//
// workspace_prepare makes calls that may hang, so it runs in a thread. Meanwhile, the main thread can read the thread's
// current activity from `activity`. Everything that can be refused is refused before the first byte is written.
#pragma once

#include "workload/sync_probe.h"
#include "workload/workload.h"

#include <pthread.h>

// the size of a part when preformatting. Each part uses the stamps of this many bytes, even if it is the short last
// part of a file
#define FORMAT_PART_BYTES ((size_t)1 << 20)

// The current activity of the preparing thread, to report it if the thread hangs.
struct activity {
    const char *call;                   // NULL if nothing can hang
    char file[PATH_MAX];
    uint64_t offset_bytes;
    uint32_t place;                     // from 1
    uint64_t start_ns;
};

struct initial_write {
    uint64_t bytes, elapsed_ns;
    uint64_t slowest_part_ns;           // the slowest write while preformatting
};

// Callbacks for files that must survive a power cut (cut/marked_files.h). They are called for each place.
struct marked_files {
    void *context;
    // Marks the directory before the first byte is written to its files, so that the files can be recognized even if
    // the power fails while they are being written.
    bool (*mark)(void *context, struct place *place, struct failure *failure);
    bool (*sync)(const struct place *place, struct failure *failure);   // called when all files are complete
    void (*close_mark)(void *context, struct place *place, bool remove_name);
};

struct workspace {
    const struct options *options;
    struct workload *workload;
    uint64_t alignment_bytes;  // alignment of memory: --alignment, or the file system's preferred block if that is 0
    uint64_t descriptors;               // number needed for all files and directories, with a reserve
    uint64_t free_bytes, size_bytes;    // of the first directory's file system, read before the first byte is written
    // Called after the checks and before the first file is created, to refuse for other reasons; may be NULL.
    bool (*before_files)(void *context, struct failure *failure);
    void *before_files_context;
    const atomic_bool *stop;            // the stop flag of the supervisor
    struct initial_write initial_write;
    struct payload payload;             // the data for preformatting
    const struct marked_files *marked_files;    // NULL: the files need not survive a power cut
    struct sync_probe sync_probe;       // the result for the first place
    pthread_mutex_t activity_lock;      // held while the preparing thread writes the activity, or main reads it
    struct activity activity;
    struct failure failure;             // EXIT_MEASURED if prepared, or if stopped
};

// workspace_init only sets up the record. workspace_prepare does the work, and leaves the result in failure.
bool workspace_init(struct workspace *workspace, const struct options *options, struct workload *workload,
                    const atomic_bool *stop);
void workspace_prepare(void *workspace);

// Closes the files at the end of a run, and removes directories that --createDirs made and that could not be removed
// before.
void workspace_close(void *workspace);
// Returns the first directory that --createDirs made and that is still there; NULL if there is none.
const char *workspace_left_behind(const struct workspace *workspace);

// The path of a test file, as the user would write it.
void workspace_file_path(const struct workspace *workspace, uint32_t place, uint32_t file, char path[PATH_MAX]);

// Called by the main thread: copies the current activity. Returns false if there is none.
bool workspace_activity(struct workspace *workspace, struct activity *copy);

// Returns the space that is left free on a file system of that size, unless the user says otherwise.
uint64_t test_files_reserve_bytes(uint64_t size_bytes);

// Removes the name if it still refers to the open file; otherwise, returns false.
bool test_file_unlink(int dir_fd, const char *name, int fd);

// Returns the alignment of offsets that the kernel reports for direct I/O here; 0 if it reports none.
uint32_t test_file_direct_io_alignment(int fd);

// Returns how many bytes --verify reads at once: whole blocks of a file, about 1 MiB or one block.
uint64_t test_file_verify_bytes(uint64_t block_bytes, uint64_t file_bytes);
