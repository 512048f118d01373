// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Streams without a disk: the parsing of --place and --stream, and whether the generator follows it. Seeds are fixed,
// so the statistical tests have one outcome. Their thresholds are those of the 0.1 % level.
#include "workload/stream_grammar.h"
#include "base/clock.h"
#include "check.h"

#include <math.h>

#define OPERATIONS_DRAWN 1000000
#define REGIONS 100
#define CHI_SQUARE_99 148.2             // for 99 degrees of freedom
#define KOLMOGOROV 1.95                 // times 1/sqrt(n)

static const char *message;

// Parses a command line given as a single text with spaces between the arguments.
static bool open_streams(struct workload *workload, const char *line) {
    static struct options options;
    static char copy[4096];
    static char *arguments[32];
    int count = 0;
    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL && count < 31; word = strtok(NULL, " ")) {
        arguments[count++] = word;
    }
    arguments[count] = NULL;
    message = options.failure.message;
    return options_parse(&options, arguments) == OPTIONS_RUN && streams_open(workload, &options, &options.failure);
}

static void close_streams(struct workload *workload) {
    for (uint32_t i = 0; i < workload->places_count; i++) {
        bool first = i == 0 || strcmp(workload->places[i].name, workload->places[i - 1].name) != 0;
        free(workload->places[i].path);
        if (first) {
            free((void *)(uintptr_t)workload->places[i].file_prefix);
            free(workload->places[i].fds);
        }
    }
    free(workload->places);
    *workload = (struct workload){0};
}

#define DB "--stream=name=db,pattern=random,size=8K"
#define DISK "/dev/disk/by-id/a+b=c:d"

void test_streams_accepted(void) {
    static struct workload w;
    CHECK(open_streams(&w, DB));
    CHECK(w.streams_count == 1 && w.places_count == 1 && strcmp(w.places[0].path, ".") == 0 && w.places[0].files == 8);
    CHECK(strcmp(w.streams[0].terms.place, "data") == 0 && strcmp(w.places[0].file_prefix, "mqldt_testfile.data") == 0);
    CHECK(w.streams[0].workers == 1 && w.streams[0].read_ppm == 0 && w.streams[0].sync == SYNC_DSYNC);
    CHECK(w.places[0].direct && w.places[0].sync == SYNC_DSYNC && !stream_is_open_loop(&w.streams[0]));
    close_streams(&w);
    CHECK(open_streams(
        &w, "--workload=streams --load=1,20 --loadUnit=BSU --fileSize=1M --numFiles=100 --direct=no "
            "--place=name=a,share=45%,dir=/x+/y --place=name=b,share=55%,direct=yes,dir=/z "
            "--stream=name=log,place=b,pattern=ring,size=4K,sync=fdatasync,workers=3*load "
            "--stream=place=a,name=s,pattern=runs,start=20%-60%,run=10%,size=4K:40+8K:24+16K:20+32K:8+64K:8,"
            "read=100%,arrival=exponential,rate=1.75*load,workers=32"));
    CHECK(w.places_count == 3 && w.places[0].files == 23 && w.places[1].fds == w.places[0].fds + 23);
    CHECK(!w.places[0].direct && w.places[2].direct && strcmp(w.places[1].path, "/y") == 0);
    CHECK(w.places[2].files == 60 && w.places[2].sync == SYNC_NONE);      // a file for each worker of the ring
    CHECK(w.streams[0].first_place == 2 && stream_workers(&w.streams[0], 20) == 60);
    const struct stream_terms *of = &w.streams[1].terms;
    CHECK(of->files == 46 && of->sizes_count == 5 && of->size_max == 65536 && of->upto_ppm[1] == 640000);
    CHECK(of->rate_scales && stream_rate_micro_per_s(&w.streams[1], 20) == 35000000);
    CHECK(w.streams[1].block_bytes == 0 && w.writes.count == 5 && strcmp(w.load_unit, "BSU") == 0);
    double footprint = (double)workload_footprint(&w);
    CHECK(fabs((double)(46 * w.places[0].file_bytes) / footprint - 0.45) < 0.005 && footprint / (100 << 20) > 0.99);
    close_streams(&w);
    CHECK(open_streams(&w, DB " --fileSize=1M --place=name=data,device=" DISK ",share=100% --eraseDevice=" DISK));
    CHECK(w.places_count == 1 && w.places[0].is_device && strcmp(w.places[0].path, DISK) == 0 &&
          w.places[0].files == 8);
    CHECK(place_offset(&w.places[0], 0, 0) == 1 << 20 && place_offset(&w.places[0], 2, 512) == (3 << 20) + 512);
    close_streams(&w);
}

// Places without directories use those of --dir.
void test_streams_directories(void) {
    static const struct { const char *line, *paths[4]; } cases[] = {
        {"--dir=/a", {"/a", "/a", "/x", "/a"}},
        {"--dir=/a,/b+/c,/d", {"/a", "/b", "/c", "/x"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct workload w;
        char line[400];
        (void)snprintf(line, sizeof line,
                       "%s --place=name=a --place=name=b --place=name=c,dir=/x --place=name=d " DB
                       ",place=a --stream=name=2,place=b,pattern=random,size=8K "
                       "--stream=name=3,place=c,pattern=random,size=8K --stream=name=4,place=d,pattern=random,size=8K",
                       cases[i].line);
        CHECK_CASE(open_streams(&w, line), message);
        for (uint32_t place = 0; place < 4 && place < w.places_count; place++) {
            CHECK_CASE(strcmp(w.places[place].path, cases[i].paths[place]) == 0, w.places[place].path);
        }
        close_streams(&w);
    }
}

void test_streams_refused(void) {
    static const struct { const char *line, *says;
    } cases[] = {
        {"--workload=streams", "missing option --stream"},
        {"--place=name=a", "only for streams"},
        {DB " --bsize=4K", "--bsize is not for --workload=streams"},
        {DB " --qm=2", "--load"},
        {"--stream=pattern=random,size=8K", "missing key name"},
        {"--stream=name=db,size=8K", "--stream db: missing key pattern"},
        {"--stream=name=db,pattern=random", "--stream db: missing key size"},
        {"--stream=name=all,pattern=random,size=8K", "not 'all'"},
        {DB ",size=4K", "size is given twice"},
        {DB ",sise=4K", "'sise=4K' is not a known key"},
        {DB ",workers", "'workers' is not a known key"},
        {DB ",workers=0", "workers: '0' is not allowed"},
        {DB ",workers=2*laod", "workers: '2*laod'"},
        {DB ",workers=300*load --load=1,20", "6000 at the greatest load"},
        {DB ",arrival=even,rate=1000*load --load=10,2000", "rate: 2000000 per second at the greatest load"},
        {DB " --dir=/a,/b", "--dir names 2 directories, but 1 of the places have no dir"},
        {DB " --dir=/a,/b,/c --place=name=a,dir=/x --place=name=b --place=name=c",
         "--dir names 3 directories, but 2 of the places"},
        {DB " --dir=/a,/b+ --place=name=a --place=name=b", "--dir: '/b+' is not allowed"},
        {DB ",read=101%", "read: '101%'"},
        {DB ",read=0.5", "read: '0.5'"},
        {DB ",rate=5", "rate is not for arrival=closed"},
        {DB ",arrival=even", "missing key rate"},
        {DB ",arrival=even,rate=5,pause=1", "pause is not for arrival=even"},
        {DB ",start=5%", "start is not for pattern=random"},
        {DB ",place=log", "there is no place 'log'"},
        {DB " " DB, "--stream db: the name is given twice"},
        {"--stream=name=db,pattern=random,size=8K:50+4K:49", "add up to 100"},
        {"--stream=name=db,pattern=random,size=8K:60+4K:60", "add up to 100"},
        {"--stream=name=db,pattern=ring,size=6K:50+4K:50", "not a multiple of the smallest"},
        {"--stream=name=db,pattern=random,size=4M", "do not fit into the files of place data"},
        {"--stream=name=db,pattern=walk,start=15%,width=5%,size=4K:50+8K:50", "a walk has one size"},
        {"--stream=name=db,pattern=walk,start=15%-20%,width=5%,size=4K", "not a range"},
        {"--stream=name=db,pattern=walk,start=96%,width=5%,size=4K", "beyond the end"},
        {"--stream=name=db,pattern=random,size=4K:50+8K:50,align=4K",
         "align: 4096 is not a multiple of the largest size, 8192"},
        {"--stream=name=db,pattern=ring,size=4K,align=8K", "align is not for pattern=ring"},
        {"--stream=name=db,pattern=runs,start=60%-20%,run=5%,size=4K", "start: '60%-20%'"},
        {"--stream=name=db,pattern=runs,start=20%-95%,run=10%,size=4K", "beyond the end"},
        {"--stream=name=db,pattern=runs,start=0%-10%,run=0.1%,size=64K", "a run is shorter"},
        {DB " --place=name=a,share=40% --place=name=b,share=50%", "add up to 90"},
        {DB " --place=name=a,share=40% --place=name=b", "--place b: missing key share"},
        {DB " --place=name=a --place=name=a", "--place a: the name is given twice"},
        {DB " --place=name=a --place=name=b", "--stream db: missing key place"},
        {DB ",place=a --place=name=a --place=name=b", "--place b: no stream uses it"},
        {DB " --place=name=a,dir=/x++/y", "dir: '/x++/y'"},
        {DB " --place=name=a,dir=/x,device=" DISK " --eraseDevice=" DISK,
         "--place a: dir and device exclude each other"},
        {DB " --place=name=a,device=/dev/sda --eraseDevice=/dev/sda", "device: '/dev/sda' is not allowed"},
        {DB " --place=name=a,device=/dev/disk/by-id/ --eraseDevice=/dev/disk/by-id/",
         "a name directly below /dev/disk/by-id/"},
        {DB " --place=name=a,device=/dev/disk/by-id/.. --eraseDevice=/dev/disk/by-id/..", "a name directly below"},
        {DB " --place=name=a,device=/dev/disk/by-id/a/b --eraseDevice=/dev/disk/by-id/a/b", "a name directly below"},
        {DB " --place=name=a,device=" DISK, "--place a: a test overwrites " DISK ", and no --eraseDevice permits that"},
        {DB " --eraseDevice=" DISK, "--eraseDevice: no place has device=" DISK},
        {DB ",place=a --place=name=a,device=" DISK " --place=name=b,device=" DISK " --eraseDevice=" DISK,
         DISK " is named twice in the places"},
        {DB ",place=a --place=name=a,device=" DISK "+" DISK " --eraseDevice=" DISK,
         DISK " is named twice in the places"},
        {DB ",place=a --place=name=a,device=" DISK "+" DISK "2 --eraseDevice=" DISK,
         "overwrites " DISK "2, and no --eraseDevice"},
        {DB ",place=a --place=name=a,device=" DISK "+ --eraseDevice=" DISK,
         "overwrites " DISK "+, and no --eraseDevice"},
        {DB ",place=a --place=name=a,device=" DISK "+/dev/x --eraseDevice=" DISK,
         "device: '" DISK "+/dev/x' is not allowed"},
        {DB ",place=a --place=name=a,device=" DISK "+/ --eraseDevice=" DISK, "is not allowed"},
        {"--bsize=4K --eraseDevice=" DISK, "only for streams"},
        {DB " --stream=name=x,pattern=random,size=8K,sync=none",
         "sync=none is not possible beside sync=dsync of stream db"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct workload w;
        CHECK_CASE(!open_streams(&w, cases[i].line) && strstr(message, cases[i].says) != NULL, message);
        close_streams(&w);
    }
}

// Patterns of operations.

static _Atomic uint8_t leaf_reads[WORKLOAD_STREAMS_MAX][4096];

static struct pattern pattern_of(const struct workload *workload, uint32_t stream, uint64_t *random) {
    const struct stream *of = &workload->streams[stream];
    struct pattern pattern = {
        .kind = of->pattern,
        .files = of->terms.files,
        .unit_bytes = of->terms.size_min,
        .file_bytes = workload->places[of->first_place].file_bytes,
        .leaf_reads = leaf_reads[stream]};
    CHECK(pattern_walk_leaves(&of->terms.pattern, pattern.files, pattern.file_bytes, pattern.unit_bytes) <=
          sizeof leaf_reads[0]);
    memset(leaf_reads[stream], 0, sizeof leaf_reads[stream]);
    pattern_open(&pattern, &of->terms.pattern, random);
    return pattern;
}

static uint64_t position(const struct pattern *pattern) {
    return pattern->file * pattern->file_bytes + pattern->offset_bytes;
}

static bool lies_well(const struct pattern *pattern) {
    return pattern->file < pattern->files && pattern->offset_bytes + pattern->block_bytes <= pattern->file_bytes &&
           pattern->offset_bytes % pattern->unit_bytes == 0;
}

static double chi_square(const uint64_t *found, const double *wanted, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (wanted[i] - (double)found[i]) * (wanted[i] - (double)found[i]) / wanted[i];
    }
    return sum;
}

void test_random_pattern(void) {
    static struct workload w;
    uint64_t random = 1, regions[REGIONS] = {0};
    uint32_t size;
    double wanted[REGIONS];
    CHECK(open_streams(&w, DB " --fileSize=1M --numFiles=25"));
    struct pattern pattern = pattern_of(&w, 0, &random);
    uint64_t region_bytes = pattern.file_bytes * pattern.files / REGIONS;
    for (uint64_t i = 0; i < OPERATIONS_DRAWN; i++) {
        CHECK(stream_draw(&w.streams[0], &pattern, &random, &size) == OPERATION_WRITE && lies_well(&pattern));
        regions[position(&pattern) / region_bytes]++;
    }
    for (int i = 0; i < REGIONS; i++) {
        wanted[i] = (double)OPERATIONS_DRAWN / REGIONS;
    }
    CHECK(chi_square(regions, wanted, REGIONS) < CHI_SQUARE_99);
    close_streams(&w);
}

void test_aligned_pattern(void) {
    static struct workload w;
    uint64_t random = 6, odd = 0;
    uint32_t size;
    CHECK(open_streams(&w, "--stream=name=a,pattern=random,size=4K,align=8K --fileSize=36K --numFiles=3"));
    struct pattern pattern = pattern_of(&w, 0, &random);
    for (int i = 0; i < 1000; i++) {
        (void)stream_draw(&w.streams[0], &pattern, &random, &size);
        CHECK(lies_well(&pattern) && pattern.block_bytes == 4096 && pattern.offset_bytes % 8192 == 0);
        odd += pattern.file == 1 && pattern.offset_bytes == 24576;
    }
    CHECK(odd > 50 && odd < 120);       // one of twelve positions
    close_streams(&w);
}

// The height of a jump is that of the smallest subtree that contains both the previous leaf and the next one. Writes go
// to every eighth leaf. Reads take the blocks of a leaf in turn.
void test_walk(void) {
    enum { TOP = 9, LEAVES = 512 };
    static struct workload w;
    uint64_t random = 2, heights[TOP + 1] = {0}, before = 0, rewrites = 0, writes = 0, written = 0, steps = 0,
             last_read = 0;
    uint8_t reads[LEAVES] = {0};
    uint32_t size;
    CHECK(open_streams(
        &w, "--stream=name=w,pattern=walk,start=15%,width=4%,size=4K,read=50% --fileSize=4M --numFiles=100"));
    struct pattern pattern = pattern_of(&w, 0, &random);
    CHECK(pattern.walk.top == TOP && pattern.walk.leaves == LEAVES && pattern.walk.first_leaf == 1920);
    before = pattern.walk.leaf;
    for (uint64_t i = 0; i < OPERATIONS_DRAWN; i++) {
        bool was_due = pattern.walk.rewrites;
        enum operation operation = stream_draw(&w.streams[0], &pattern, &random, &size);
        uint64_t leaf = pattern.walk.leaf, block = position(&pattern) % 32768 / 4096, differ = before ^ leaf;
        CHECK(lies_well(&pattern) && leaf < LEAVES && position(&pattern) / 32768 == pattern.walk.first_leaf + leaf);
        bool rewrite = operation == OPERATION_WRITE && was_due;
        if (operation == OPERATION_READ) {
            CHECK(block == reads[leaf]++ % 8);
            heights[differ == 0 ? 0 : 64 - __builtin_clzll(differ)]++;
            steps++;
        } else if (rewrite) {
            CHECK(position(&pattern) == written && !pattern.walk.rewrites);
            rewrites++;
        } else {
            CHECK(leaf % 8 == 0);
            last_read += block == (uint8_t)(reads[leaf] - 1) % 8;
            writes++;
        }
        written = operation == OPERATION_WRITE ? position(&pattern) : written;
        before = leaf;
    }
    double wanted[TOP + 1] = {0}, climbs = 1;
    for (int top = WALK_HEIGHT_MIN; top <= TOP; top++) {
        double here = top < TOP ? climbs * 0.56 : climbs;
        for (int height = 0; height <= top; height++) {
            wanted[height] += (double)steps * here * (height == 0 ? 1 : exp2(height - 1)) / exp2(top);
        }
        climbs *= 0.44;
    }
    CHECK(chi_square(heights, wanted, TOP + 1) < 27.9);             // 9 degrees of freedom
    CHECK(fabs((double)rewrites / (double)writes - 0.15) < 0.0015);
    CHECK(fabs((double)last_read / (double)writes - (0.5 + 0.5 / 8)) < 0.003);
    close_streams(&w);
}

// If the size of a region is not a power of two, the draws are still nearly uniform and never leave the region.
void test_walk_of_any_width(void) {
    static struct workload w;
    for (int leaves = 1; leaves < 400; leaves = leaves * 3 + 1) {
        char line[200];
        uint64_t random = (uint64_t)leaves, upper_half = 0;
        uint32_t size;
        (void)snprintf(
            line, sizeof line,
            "--stream=name=w,pattern=walk,start=0%%,width=100%%,size=4K,read=100%% --fileSize=32K --numFiles=%d",
            leaves);
        CHECK(open_streams(&w, line));
        struct pattern pattern = pattern_of(&w, 0, &random);
        for (int i = 0; i < 20000; i++) {
            (void)stream_draw(&w.streams[0], &pattern, &random, &size);
            CHECK(lies_well(&pattern));
            upper_half += 2 * pattern.walk.leaf >= (uint64_t)leaves;
        }
        CHECK(leaves == 1 || (upper_half > 7000 && upper_half < 13000));
        close_streams(&w);
    }
}

void test_runs(void) {
    static struct workload w;
    enum { PARTS = 20 };
    uint64_t random = 3, starts = 0, next = UINT64_MAX, from = UINT64_MAX, to = 0, parts[PARTS] = {0};
    double wanted[PARTS];
    uint32_t size;
    CHECK(open_streams(
        &w,
        "--stream=name=s,pattern=runs,start=20%-60%,run=10%,size=4K:50+64K:50,read=100% --fileSize=1M --numFiles=100"));
    struct pattern pattern = pattern_of(&w, 0, &random);
    uint64_t all = pattern.file_bytes * pattern.files, in_run = 0;
    for (uint64_t i = 0; i < OPERATIONS_DRAWN; i++) {
        CHECK(stream_draw(&w.streams[0], &pattern, &random, &size) == OPERATION_READ && lies_well(&pattern));
        uint64_t at = position(&pattern);
        bool tail_left = pattern.offset_bytes == 0 && at > next && at - next < 65536;
        if (at != next && !tail_left) {
            CHECK(in_run == 0 || (in_run <= all / 10 && in_run > all / 10 - 2 * 65536));
            starts++;
            parts[(at - all / 5) * PARTS / (all / 10 * 4 + 65536)]++;
            from = at < from ? at : from;
            to = at > to ? at : to;
            in_run = 0;
        }
        in_run += pattern.block_bytes + (tail_left ? at - next : 0);
        next = at + pattern.block_bytes;
    }
    for (int i = 0; i < PARTS; i++) {
        wanted[i] = (double)starts / PARTS;
    }
    CHECK(chi_square(parts, wanted, PARTS) < 43.8);     // 19 degrees of freedom
    CHECK(starts > 3000 && from >= all / 5 && from < all / 5 + all / 100);
    CHECK(to <= all / 10 * 6 + 65536 && to > all / 10 * 6 - all / 100);
    close_streams(&w);
}

// A ring with different sizes wraps around as for mq-log, and each step begins in the next file.
void test_ring_of_sizes(void) {
    static struct workload w;
    uint64_t random = 4, next = 0, moved = 0;
    uint32_t size;
    CHECK(open_streams(&w, "--stream=name=l,pattern=ring,size=4K:50+12K:50 --fileSize=64K --numFiles=3"));
    struct pattern pattern = pattern_of(&w, 0, &random);
    pattern_start_step(&pattern, 0);
    for (int i = 0; i < 1000; i++) {
        (void)stream_draw(&w.streams[0], &pattern, &random, &size);
        bool wraps = pattern.offset_bytes == 0;
        CHECK(lies_well(&pattern) && (wraps || position(&pattern) == next));
        moved += wraps;
        next = position(&pattern) + pattern.block_bytes;
    }
    uint32_t file = pattern.file;
    pattern_start_step(&pattern, 0);
    (void)stream_draw(&w.streams[0], &pattern, &random, &size);
    CHECK(moved > 100 && pattern.offset_bytes == 0 && pattern.file == (file + 1) % 3);
    close_streams(&w);
}

// The times at which operations are due.

static int compare(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return difference < 0 ? -1 : difference > 0;
}

void test_arrivals(void) {
    static double gaps[OPERATIONS_DRAWN];
    struct arrival_plan plan;
    struct schedule schedule = {.origin_ns = 7 * NS_PER_S, .rate_micro_per_s = UINT64_C(1750000000)};
    uint64_t due_ns, before_ns = schedule.origin_ns;
    arrival_start(&plan, ARRIVAL_EXPONENTIAL, schedule, 5);
    for (size_t i = 0; i < OPERATIONS_DRAWN; i++) {
        CHECK(arrival_take(&plan, UINT64_MAX, &due_ns) && due_ns > before_ns);
        gaps[i] = (double)(due_ns - before_ns) * 1750 / 1e9;
        before_ns = due_ns;
    }
    qsort(gaps, OPERATIONS_DRAWN, sizeof gaps[0], compare);
    double worst = 0;
    for (size_t i = 0; i < OPERATIONS_DRAWN; i++) {
        double below = 1 - exp(-gaps[i]);
        worst = fmax(
            worst, fmax(fabs(below - (double)i / OPERATIONS_DRAWN), fabs((double)(i + 1) / OPERATIONS_DRAWN - below)));
    }
    CHECK(worst < KOLMOGOROV / sqrt(OPERATIONS_DRAWN));
    // Operations are not taken before they are due, and the same seed gives the same plan.
    CHECK(!arrival_take(&plan, before_ns, &due_ns));
    arrival_start(&plan, ARRIVAL_EXPONENTIAL, schedule, 5);
    uint64_t first_ns, again_ns;
    CHECK(arrival_take(&plan, UINT64_MAX, &first_ns));
    arrival_start(&plan, ARRIVAL_EXPONENTIAL, schedule, 5);
    CHECK(arrival_take(&plan, UINT64_MAX, &again_ns) && again_ns == first_ns);
    arrival_start(&plan, ARRIVAL_EVEN, schedule, 5);
    for (uint64_t n = 0; n < 1000; n++) {
        CHECK(arrival_take(&plan, UINT64_MAX, &due_ns) && due_ns == schedule_due_ns(&schedule, n));
    }
    CHECK(!arrival_take(&plan, due_ns, &due_ns));
}

// The eight streams of SPC-1 v1, with its read fractions and with those of pblio's generator.

#define SMIX "size=4K:40+8K:24+16K:20+32K:8+64K:8"
#define OPEN ",arrival=exponential"

static void draw_spc1(int reads_asu1, int reads_asu2, double reads_wanted) {
    static const double intensities[8] = {0.035, 0.281, 0.070, 0.210, 0.018, 0.070, 0.035, 0.281};
    static struct workload w;
    static char line[2048];
    struct arrival_plan plans[8];
    struct pattern patterns[8];
    uint64_t random[8], counts[8] = {0}, reads[8] = {0}, sizes[8][5] = {{0}}, all = 0, all_reads = 0;
    (void)snprintf(
        line, sizeof line,
        "--place=name=asu1,share=45%% --place=name=asu2,share=45%% --place=name=asu3,share=10%% --fileSize=4M "
        "--numFiles=200 --stream=name=1-1,place=asu1,pattern=random,size=4K,read=%d%%,rate=1.75*load" OPEN
        " --stream=name=1-2,place=asu1,pattern=walk,start=15%%,width=5%%,size=4K,read=%d%%,rate=14.05*load" OPEN
        " --stream=name=1-3,place=asu1,pattern=runs,start=20%%-60%%,run=10%%," SMIX ",read=100%%,rate=3.5*load" OPEN
        " --stream=name=1-4,place=asu1,pattern=walk,start=70%%,width=5%%,size=4K,read=%d%%,rate=10.5*load" OPEN
        " --stream=name=2-1,place=asu2,pattern=random,size=4K,read=%d%%,rate=0.9*load" OPEN
        " --stream=name=2-2,place=asu2,pattern=walk,start=47%%,width=5%%,size=4K,read=%d%%,rate=3.5*load" OPEN
        " --stream=name=2-3,place=asu2,pattern=runs,start=20%%-60%%,run=10%%," SMIX ",read=100%%,rate=1.75*load" OPEN
        " --stream=name=3-1,place=asu3,pattern=runs,start=0%%-70%%,run=30%%," SMIX ",rate=14.05*load" OPEN,
        reads_asu1, reads_asu1, reads_asu1, reads_asu2, reads_asu2);
    CHECK_CASE(open_streams(&w, line), message);
    const double read_shares[8] = {reads_asu1 / 100.0, reads_asu1 / 100.0, 1, reads_asu1 / 100.0, reads_asu2 / 100.0,
                                   reads_asu2 / 100.0, 1, 0};
    for (uint32_t i = 0; i < 8; i++) {
        random[i] = i;
        patterns[i] = pattern_of(&w, i, &random[i]);
        arrival_start(&plans[i], ARRIVAL_EXPONENTIAL,
                      (struct schedule){.rate_micro_per_s = stream_rate_micro_per_s(&w.streams[i], 100)}, i);
    }
    for (uint64_t due_ns, end_ns = NS_PER_S / 5; all < OPERATIONS_DRAWN; end_ns += NS_PER_S / 5) {
        for (uint32_t i = 0; i < 8; i++) {
            while (arrival_take(&plans[i], end_ns, &due_ns)) {
                uint32_t size;
                bool is_read = stream_draw(&w.streams[i], &patterns[i], &random[i], &size) == OPERATION_READ;
                counts[i]++;
                sizes[i][size]++;
                reads[i] += is_read;
                all_reads += is_read;
                all++;
            }
        }
    }
    for (uint32_t i = 0; i < 8; i++) {
        static const double mix[5] = {0.40, 0.24, 0.20, 0.08, 0.08};
        CHECK_CASE(fabs((double)counts[i] / (double)all - intensities[i]) < 0.01 * intensities[i] + 0.0005,
                   w.streams[i].name);
        CHECK_CASE(fabs((double)reads[i] / (double)counts[i] - read_shares[i]) < 0.01, w.streams[i].name);
        for (uint32_t j = 0; j < 5 && w.streams[i].terms.sizes_count > 1; j++) {
            CHECK_CASE(fabs((double)sizes[i][j] / (double)counts[i] - mix[j]) < 0.01, w.streams[i].name);
        }
    }
    CHECK(fabs((double)all_reads / (double)all - reads_wanted) < 0.01);
    close_streams(&w);
}

void test_spc1(void) {
    draw_spc1(50, 30, 0.394);
    draw_spc1(75, 60, 0.552);
}
