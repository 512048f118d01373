// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/fio.h"

// The numbers in a job file are fixed, so the job describes a single load point, the first one.
static uint64_t load_of(const struct workload *workload) {
    return workload->load_points->values[0];
}

static double percent(uint32_t ppm) {
    return (double)ppm / 10000;
}

static uint32_t whole_percent(uint32_t ppm) {
    return (ppm + 5000) / 10000;
}

static void print_global(FILE *out, const struct options *options) {
    (void)fprintf(out, "[global]\nioengine=psync\nthread=1\ntime_based=1\nruntime=%" PRIu64 "\nramp_time=%" PRIu64 "\n",
                  options->duration_s, options->warmup_s);
    // Leaves refill_buffers off: by default, fio alters a small part of each block, as the tester does, and refilling a
    // large block takes longer than some writes. Also turns off fio's hints to the page cache, and prevents fio from
    // dropping the cache before each pass through a file.
    (void)fprintf(
        out,
        "norandommap=1\nfallocate=none\ninvalidate=0\nfadvise_hint=0\ngroup_reporting=1\nclocksource=clock_gettime\n"
        "; latency_* here is fio's clat with psync, and its slat and clat together with libaio\n"
        "; fio has whole percents and whole operations per second\n"
        "; fio reads what it finds: create the files first, with --keepFiles instead of --showFio\n");
}

static void print_way(FILE *out, const struct stream *stream, const struct place *place) {
    (void)fprintf(out, "direct=%d\n", place->direct);
    if (stream->read_ppm == SHARE_PPM) {
        return;
    }
    switch (stream->sync) {
    case SYNC_DSYNC: (void)fprintf(out, "sync=dsync\n"); break;
    case SYNC_SYNC: (void)fprintf(out, "sync=sync\n"); break;
    case SYNC_FDATASYNC: (void)fprintf(out, "fdatasync=1\n"); break;
    case SYNC_FSYNC: (void)fprintf(out, "fsync=1\n"); break;
    default: break;
    }
    if (stream_flushes(stream)) {
        (void)fprintf(out, "; fio reports the flush apart, here it is part of the write's latency\n");
    }
}

// A colon separates names, so a colon inside a name is escaped.
static void print_path(FILE *out, const struct place *place) {
    (void)fprintf(out, "filename=");
    for (const char *at = place->path; *at != '\0'; at++) {
        (void)fprintf(out, *at == ':' ? "\\:" : "%c", *at);
    }
}

// Prints one line for each, because fio reads at most 4095 characters of a line.
static void print_files(FILE *out, const struct workload *workload, const struct stream *stream) {
    const struct place *place = &workload->places[stream->first_place];
    uint64_t files = stream_is_described(stream) ? stream->terms.files : place->files;
    if (place->is_device) {
        (void)fprintf(
            out, "offset=%" PRIu64 "\nsize=%" PRIu64 "\n", place_offset(place, 0, 0), files * place->file_bytes);
        for (uint64_t device = 0; device < files / place->files; device++) {
            print_path(out, place + device);
            (void)fprintf(out, "\n");
        }
        return;
    }
    (void)fprintf(out, "filesize=%" PRIu64 "\nfile_service_type=%s\n", place->file_bytes,
                  stream->pattern == PATTERN_RANDOM || stream->pattern == PATTERN_WALK ? "random" : "sequential");
    for (uint64_t file = 0; file < files; file++) {
        const struct place *of = place + file / place->files;
        print_path(out, of);
        (void)fprintf(out, "/%s.%04" PRIu64 "\n", of->file_prefix, file % place->files);
    }
}

static void print_operations(FILE *out, const struct stream *stream) {
    bool random = stream->pattern == PATTERN_RANDOM || stream->pattern == PATTERN_WALK;
    const char *what = stream->read_ppm == 0 ? "write" : stream->read_ppm == SHARE_PPM ? "read" : "rw";
    (void)fprintf(out, "rw=%s%s\n", random ? "rand" : "", what);
    if (stream->read_ppm > 0 && stream->read_ppm < SHARE_PPM) {
        (void)fprintf(out, "rwmixread=%" PRIu32 "\n", whole_percent(stream->read_ppm));
    }
}

static void print_sizes(FILE *out, const struct stream_terms *terms) {
    if (terms->pattern.align_bytes > 0) {
        (void)fprintf(out, "blockalign=%" PRIu64 "\n", terms->pattern.align_bytes);
    }
    if (terms->sizes_count == 1) {
        (void)fprintf(out, "bs=%" PRIu64 "\n", terms->sizes[0]);
        return;
    }
    (void)fprintf(out, "bssplit=");
    for (uint32_t i = 0, before = 0; i < terms->sizes_count; i++) {
        uint32_t upto = whole_percent(terms->upto_ppm[i]);
        if (upto > before) {            // fio hangs if a size has 0 percent
            (void)fprintf(out, "%s%" PRIu64 "/%" PRIu32, before > 0 ? ":" : "", terms->sizes[i], upto - before);
        }
        before = upto;
    }
    (void)fprintf(out, "\n");
}

// fio accepts only whole operations per second, and 0 means no limit.
static double rate_of(double per_s) {
    return per_s > 0 && per_s < 1 ? 1 : per_s;
}

// A stream with a rate becomes one job with the whole rate and a queue, which is the closest match for workers that
// share one plan.
static void print_arrivals(FILE *out, const struct stream *stream, uint64_t load, uint32_t workers) {
    const struct stream_terms *terms = &stream->terms;
    if (terms->process == ARRIVAL_CLOSED) {
        (void)fprintf(out, "numjobs=%" PRIu32 "\n", workers);
        if (stream->arrival.pause_ns > 0) {
            (void)fprintf(out, "thinktime=%" PRIu64 "\n", stream->arrival.pause_ns / 1000);
        }
        return;
    }
    double rate = (double)stream_rate_micro_per_s(stream, load) / 1e6;
    (void)fprintf(out, "ioengine=libaio\niodepth=%" PRIu32 "\nrate_iops=%.0f\n", workers, rate_of(rate));
    (void)fprintf(out, "%s", terms->process == ARRIVAL_EXPONENTIAL ? "rate_process=poisson\n" : "");
    (void)fprintf(out, "; here %.3f operations are due per second, and response times count from when one was due;\n"
                       "; with direct=0, fio's queue has one operation at a time\n", rate);
}

// The zone has at least 1 percent, and no zone of 0 percent precedes it, because fio would then use other places.
static void print_zone(FILE *out, const struct pattern_terms *terms) {
    uint32_t extent = whole_percent(terms->extent_ppm), from = whole_percent(terms->start_from_ppm);
    extent = extent > 0 ? extent : 1;
    from = from + extent <= 100 ? from : 100 - extent;
    (void)fprintf(out, "random_distribution=zoned:");
    if (from > 0) {
        (void)fprintf(out, "0/%" PRIu32 ":", from);
    }
    (void)fprintf(out, "100/%" PRIu32 ":0/\n", extent);
}

static void print_pattern(FILE *out, const struct stream *stream) {
    const struct pattern_terms *terms = &stream->terms.pattern;
    if (stream->pattern == PATTERN_WALK) {
        print_zone(out, terms);
        (void)fprintf(
            out,
            "; fio cannot express the hierarchical walk inside that zone, nor that writes go to every\n"
            "; eighth leaf and 15 %% of them are repeated; and fio's zones are of each file, not of all together\n");
    } else if (stream->pattern == PATTERN_RUNS) {
        (void)fprintf(out,
                      "; fio cannot express runs of %.1f %% of the place that begin anywhere from %.1f to %.1f %% of\n"
                      "; it: this job goes through the whole of it\n",
                      percent(terms->extent_ppm), percent(terms->start_from_ppm), percent(terms->start_to_ppm));
    }
}

// A job belongs to the group of the previous job unless it is the first of its stream.
static void print_job(FILE *out, const struct workload *workload, const struct stream *stream, bool first) {
    uint32_t workers = stream_workers(stream, load_of(workload));
    (void)fprintf(out, "\n[%s]\n%s", stream->name, first ? "new_group=1\n" : "");
    print_operations(out, stream);
    print_sizes(out, &stream->terms);
    print_way(out, stream, &workload->places[stream->first_place]);
    print_arrivals(out, stream, load_of(workload), workers);
    print_pattern(out, stream);
    if (stream->pattern == PATTERN_RING && workers > 1) {
        (void)fprintf(out, "; here each worker has a part of the files; fio's jobs all write to all of them\n");
    }
    print_files(out, workload, stream);
}

// fio 3.33 aborts if a job with a rate, a queue and several files both reads and writes.
static void print_described(FILE *out, const struct workload *workload, const struct stream *stream) {
    struct stream part = *stream;
    if (stream->terms.process == ARRIVAL_CLOSED || stream->read_ppm == 0 || stream->read_ppm == SHARE_PPM) {
        print_job(out, workload, stream, true);
        return;
    }
    part.read_ppm = SHARE_PPM;
    part.terms.rate_micro_per_s = stream->terms.rate_micro_per_s * stream->read_ppm / SHARE_PPM;
    print_job(out, workload, &part, true);
    part.read_ppm = 0;
    part.terms.rate_micro_per_s = stream->terms.rate_micro_per_s - part.terms.rate_micro_per_s;
    print_job(out, workload, &part, false);
}

// The job for mq-log, and for the log writes of the workload commit.
static void print_log(FILE *out, const struct workload *workload, const struct options *options) {
    const struct stream *stream = &workload->streams[0];
    uint32_t loggers = stream_workers(stream, load_of(workload));
    for (uint32_t n = 0; n < loggers; n++) {
        struct stream one = *stream;
        one.first_place = n;
        (void)fprintf(out, "\n[log%" PRIu32 "]\nrw=write\nbs=%" PRIu64 "\n", n + 1, workload->writes.values[0]);
        print_way(out, stream, &workload->places[n]);
        if (options->rate_micro_per_s > 0) {
            (void)fprintf(out, "rate_iops=%.0f\n", (double)options->rate_micro_per_s / 1e6);
        } else if (options->delay_us > 0) {
            (void)fprintf(out, "thinktime=%" PRIu64 "\n", options->delay_us);
        }
        print_files(out, workload, &one);
    }
    if (stream_has(stream, OPERATION_COMMIT)) {
        (void)fprintf(
            out, "; fio cannot express that commits gather while a write is under way: sizes are fixed here\n");
    }
}

void fio_print(FILE *out, const struct workload *workload, const struct options *options) {
    (void)fprintf(out, "; the closest fio job for workload %s at load %" PRIu64 " (%s)\n", workload->name,
                  load_of(workload), workload->load_unit);
    print_global(out, options);
    if (!stream_is_described(&workload->streams[0])) {
        print_log(out, workload, options);
        return;
    }
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        print_described(out, workload, &workload->streams[i]);
    }
}
