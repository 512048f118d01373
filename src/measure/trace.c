// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/trace.h"

#include "host/procfs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define WRITE_BYTES ((size_t)1 << 20)

static const char header[] = "step,load_point,stream,operation,worker,place,due_offset_ns,start_offset_ns,latency_ns,"
                             "offset_bytes,bytes\n";

// The pages are populated in advance, so that no measured operation causes a page fault.
static void *take_memory(size_t bytes) {
    if (bytes >= memory_available_bytes()) {
        return MAP_FAILED;
    }
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

bool trace_open(struct trace *trace, const char *path, uint64_t operations, struct failure *failure) {
    trace->path = path;
    if (path == NULL) {
        return true;
    }
    size_t bytes = operations * sizeof *trace->operations;
    void *memory = take_memory(bytes);
    if (memory == MAP_FAILED) {
        trace->path = NULL;
        return failure_set(failure, EXIT_REFUSED, "--trace: no memory for %" PRIu64 " operations; take fewer "
                           "(--traceOperations)", operations);
    }
    trace->operations = memory;
    trace->room = operations;
    trace->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (trace->fd < 0) {
        trace->path = NULL;
        const char *next = errno == EEXIST ? "; remove it, or name another file" : "";
        return failure_set(failure, EXIT_REFUSED, "--trace=%s: cannot create it: %s%s", path, strerror(errno), next);
    }
    return true;
}

void trace_discard(struct trace *trace) {
    if (trace->path != NULL) {
        (void)unlink(trace->path);
        (void)close(trace->fd);
        trace->path = NULL;
    }
}

// In a closed loop, operations that were due before the measured time are recorded at its beginning.
static uint64_t offset_ns(const struct trace *trace, uint64_t instant_ns) {
    return instant_ns > trace->start_ns ? instant_ns - trace->start_ns : 0;
}

static void put(struct text *text, const struct trace *trace, const struct traced *traced) {
    const struct stream *stream = &trace->workload->streams[traced->stream];
    text_printf(
        text,
        "%" PRIu32 ",%" PRIu32 ",%s,%s,%" PRIu16 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 "\n",
        trace->step, trace->load_point, stream->name, traced->reads ? "read" : "write", traced->worker,
        stream->terms.place, offset_ns(trace, traced->due_ns), offset_ns(trace, traced->start_ns), traced->latency_ns,
        traced->offset_bytes, traced->bytes);
}

static void flush_text(struct trace *trace, struct text *text) {
    trace->error = trace->error == 0 ? text_write(text, trace->fd) : trace->error;
    text_cut(text, 0);
}

void trace_write(void *argument) {
    struct trace *trace = argument;
    uint64_t used = atomic_exchange(&trace->used, 0), kept = used < trace->room ? used : trace->room;
    struct text text = {0};
    if (trace->step == 1) {
        text_printf(&text, "%s", header);
    }
    for (uint64_t i = 0; i < kept; i++) {
        put(&text, trace, &trace->operations[i]);
        if (text.length >= WRITE_BYTES) {
            flush_text(trace, &text);
        }
    }
    flush_text(trace, &text);
    text_free(&text);
    trace->dropped += used - kept;
    trace->room -= kept;
}
