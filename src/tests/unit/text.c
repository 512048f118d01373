// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Units, options and CSV.
#include "output/csv.h"
#include "base/options.h"
#include "base/units.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void test_units(void) {
    static const struct { const char *text; bool good; uint64_t value; } sizes[] = {
        {"0", true, 0}, {"4096", true, 4096}, {"4K", true, 4096}, {"4k", true, 4096}, {"1M", true, 1048576},
        {"1m", true, 1048576}, {"2G", true, UINT64_C(2147483648)}, {"18446744073709551615", true, UINT64_MAX},
        {"", false, 0}, {"K", false, 0}, {"4KB", false, 0}, {"4 K", false, 0}, {" 4", false, 0}, {"-4", false, 0},
        {"+4", false, 0}, {"4.5K", false, 0}, {"0x10", false, 0}, {"18446744073709551616", false, 0},
        {"18446744073709551615K", false, 0}, {"99999999999999999999999", false, 0}, {"4T", false, 0},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t value = 77;
        CHECK_CASE(parse_size(sizes[i].text, &value) == sizes[i].good, sizes[i].text);
        CHECK_CASE(value == (sizes[i].good ? sizes[i].value : 77), sizes[i].text);
    }
    static const struct { const char *text; bool good; uint64_t value; } decimals[] = {
        {"1", true, 1000000000}, {"0.5", true, 500000000}, {"0.000000001", true, 1}, {"12.25", true, 12250000000},
        {"1790000000.123456789", true, UINT64_C(1790000000123456789)}, {"1.", false, 0}, {".5", false, 0},
        {"1.0000000001", false, 0}, {"1e3", false, 0}, {"-1", false, 0}, {"18446744074", false, 0}, {"", false, 0},
    };
    for (size_t i = 0; i < sizeof decimals / sizeof decimals[0]; i++) {
        uint64_t value = 77;
        CHECK_CASE(parse_decimal(decimals[i].text, &value) == decimals[i].good, decimals[i].text);
        CHECK_CASE(value == (decimals[i].good ? decimals[i].value : 77), decimals[i].text);
    }
    static const struct { const char *text; bool good; uint64_t value; } durations[] = {
        {"0ns", true, 0}, {"7ns", true, 7}, {"500us", true, 500000}, {"2ms", true, 2000000}, {"10s", true, 10000000000},
        {"18446744073709551615ns", true, UINT64_MAX}, {"18446744074s", false, 0}, {"18446744073709551616ns", false, 0},
        {"2", false, 0}, {"ms", false, 0}, {"", false, 0}, {"2 ms", false, 0}, {" 2ms", false, 0}, {"2MS", false, 0},
        {"2msec", false, 0}, {"2m", false, 0}, {"0.5ms", false, 0}, {"-2ms", false, 0}, {"2ms,", false, 0},
    };
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        uint64_t value = 77;
        CHECK_CASE(parse_duration(durations[i].text, &value) == durations[i].good, durations[i].text);
        CHECK_CASE(value == (durations[i].good ? durations[i].value : 77), durations[i].text);
    }
    char thousands[THOUSANDS_BYTES];
    CHECK(strcmp(format_thousands(thousands, UINT64_MAX), "18446744073709551615") == 0);
    static const struct { uint64_t value; const char *text; } names[] = {
        {0, "0"}, {4096, "4K"}, {5000, "5000"}, {131072, "128K"}, {1048576, "1M"}, {1536 << 10, "1536K"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[SIZE_NAME_BYTES];
        CHECK_CASE(strcmp(format_size(text, names[i].value), names[i].text) == 0, names[i].text);
    }
}

static const char *message;

// Parses a command line given as a single text with spaces between the arguments.
static enum options_outcome parse(struct options *options, const char *line) {
    static char copy[8192];
    static char *arguments[64];
    int count = 0;
    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL && count < 63; word = strtok(NULL, " ")) {
        arguments[count++] = word;
    }
    arguments[count] = NULL;
    message = options->failure.message;
    return options_parse(options, arguments);
}

void test_options_accepted(void) {
    static struct options o;
    CHECK(parse(&o, "--bsize=4K") == OPTIONS_RUN);
    CHECK(strcmp(o.dir, ".") == 0 && strcmp(o.file_prefix, "mqldt_testfile") == 0 && o.file_bytes == 1638400);
    CHECK(o.files == 8 && o.duration_s == 10 && o.queue_managers == 1 && o.delay_us == 0 && o.alignment_bytes == 4096);
    CHECK(o.sync == SYNC_DSYNC && o.direct == 1 && !o.keep_files && !o.create_dirs && o.csv_file == NULL);
    CHECK(parse(&o, "--bsize 4096,8k,1M --qm 1,2,4 --dir /a --fileSize=64M --numFiles 16 --duration=60") ==
          OPTIONS_RUN);
    CHECK(o.block_sizes.count == 3 && o.block_sizes.values[1] == 8192 && o.block_sizes.values[2] == 1048576);
    CHECK(o.load_points.count == 3 && o.queue_managers == 4 && o.file_bytes == 67108864 && o.files == 16);
    CHECK(parse(&o, "-b 4K,128K -d /x -f pre -s 1638400 -t 5 -n 3 -c out.csv -a 512 -p 2 -q 7 -z 100") == OPTIONS_RUN);
    CHECK(strcmp(o.dir, "/x") == 0 && strcmp(o.file_prefix, "pre") == 0 && o.duration_s == 5 && o.files == 3);
    CHECK(strcmp(o.csv_file, "out.csv") == 0 && o.alignment_bytes == 512 && o.background_threads == 2);
    CHECK(o.queue_managers == 7 && o.delay_us == 100);
    CHECK(parse(&o, "--bs=4K --du=3 --num=2 --fileP=x --back=1") == OPTIONS_RUN);
    CHECK(o.duration_s == 3 && o.files == 2 && strcmp(o.file_prefix, "x") == 0 && o.background_threads == 1);
    CHECK(parse(&o, "--bsize=4K --sync=fdatasync --direct=no --rate=0.5 --startAt=1790000000.25 --seed=0") ==
          OPTIONS_RUN);
    CHECK(o.sync == SYNC_FDATASYNC && o.direct == 0 && o.rate_micro_per_s == 500000 && o.seed_given && o.seed == 0);
    CHECK(o.start_at_ns == UINT64_C(1790000000250000000));
    CHECK(parse(&o, "--bsize=4K --verify --mlock --keepFiles --createDirs --cpu=0-1,3 --reserve=0") == OPTIONS_RUN);
    CHECK(o.verify && o.mlock && o.keep_files && o.create_dirs && o.reserve_given && o.reserve_bytes == 0);
    CHECK(o.cpus.count == 3 && o.cpus.values[0] == 0 && o.cpus.values[1] == 1 && o.cpus.values[2] == 3);
    CHECK(o.monitor_s == 0);
    CHECK(parse(&o, "--monitor --bsize=4K") == OPTIONS_RUN && o.monitor_s == 10);
    CHECK(parse(&o, "--bsize=4K --monitor=60") == OPTIONS_RUN && o.monitor_s == 60);
    CHECK(o.workload == WORKLOAD_MQ_LOG);
    CHECK(parse(&o, "--workload=commit --apps=1,1000 --msgSize=100,2k,1M --fileSize=64M --qm=3") == OPTIONS_RUN);
    CHECK(o.workload == WORKLOAD_COMMIT && o.applications.count == 2 && o.message_sizes.values[2] == 1048576);
    CHECK(o.queue_managers == 3 && o.puts_per_commit == 1 && o.log_buffer_bytes == 2097152 && !o.triple_write);
    CHECK(o.think_us == 0 && o.remote_delay_us == 0);
    CHECK(parse(&o, "--apps=1 --msgSize=1 --workload=commit --logBuffer=64K --tripleWrite --thinkTime=10 "
                    "--remoteDelay=500 --putsPerCommit=7") == OPTIONS_RUN);
    CHECK(o.puts_per_commit == 7 && o.log_buffer_bytes == 65536 && o.triple_write && o.think_us == 10);
    CHECK(o.remote_delay_us == 500);
    CHECK(parse(&o, "--help") == OPTIONS_HELP);
    CHECK(parse(&o, "--version") == OPTIONS_VERSION);
}

static void take_over(void *over, const char *key, const char *unit, const char *value) {
    if (strcmp(key, "option_over_ns") == 0) {
        (void)snprintf(over, 400, "%s", value);
    }
}

static const char *over_of(const struct options *options) {
    static char over[400];
    options_each(options, take_over, over);
    return over;
}

// Thresholds are sorted and unique, whatever was requested. Only the last --over is used.
void test_options_over(void) {
    static struct options o;
    CHECK(parse(&o, "--bsize=4K") == OPTIONS_RUN);
    CHECK(strcmp(over_of(&o), "100000 200000 500000 1000000 2000000 5000000 10000000 20000000 50000000 100000000 "
                              "200000000 500000000 1000000000 2000000000 5000000000") == 0);
    CHECK(parse(&o, "--over=7s --bsize=4K --over=3600s,1999999ns,2000us,1ns,3ms,3000us") == OPTIONS_RUN);
    CHECK(
        strcmp(over_of(&o), "1 100000 200000 500000 1000000 1999999 2000000 3000000 5000000 10000000 20000000 50000000 "
                            "100000000 200000000 500000000 1000000000 2000000000 5000000000 3600000000000") == 0);
    CHECK(o.over_asked.count == 5 && o.over_asked.values[0] == 1 && o.over_asked.values[1] == 1999999 &&
          o.over_asked.values[2] == 2000000 && o.over_asked.values[4] == UINT64_C(3600000000000));
    static char line[400] = "--bsize=4K --over=11ms";
    for (int i = 12; i <= 42; i++) {
        (void)snprintf(line + strlen(line), 16, ",%dms", i);
    }
    CHECK(parse(&o, line) == OPTIONS_RUN && o.over.count == 15 + 32 - 1);      // 20 ms is built in
    (void)strcat(line, ",43ms");
    CHECK(parse(&o, line) == OPTIONS_WRONG && strstr(message, "--over: a list of 33") && strstr(message, "up to 32"));
}

void test_options_refused(void) {
    static const struct { const char *line, *option, *value, *hint;
    } cases[] = {
        {"", "--bsize", "missing", "for example --bsize="},
        {"--bsize=5X", "--bsize", "'5X'", "try --bsize="},
        {"--bsize=511", "--bsize", "'511'", "512 to 64M"},
        {"--bsize=65M", "--bsize", "'65M'", "512 to 64M"},
        {"--bsize=4K,", "--bsize", "'4K,'", "try"},
        {"--bsize=,4K", "--bsize", "',4K'", "try"},
        {"--bsize=4K,,8K", "--bsize", "'4K,,8K'", "try"},
        {"--bsize=", "--bsize", "''", "try"},
        {"--bsize=4K --qm=0", "--qm", "'0'", "1 to 1000"},
        {"--bsize=4K --qm=1001", "--qm", "'1001'", "1 to 1000"},
        {"--bsize=4K --qm=1,x", "--qm", "'1,x'", "try --qm="},
        {"--bsize=4K --duration=0", "--duration", "'0'", "1 to 604800"},
        {"--bsize=4K --duration=1.5", "--duration", "'1.5'", "try --duration="},
        {"--bsize=4K --numFiles=10001", "--numFiles", "'10001'", "1 to 10000"},
        {"--bsize=4K --fileSize=4097", "--fileSize", "4097", "multiple of 4096"},
        {"--bsize=4K --fileSize=0", "--fileSize", "'0'", "4K to 16384G bytes"},
        {"--bsize=2M", "--bsize", "2097152", "--fileSize"},
        {"--bsize=4K --delay=60000001", "--delay", "'60000001'", "microseconds"},
        {"--bsize=4K --alignment=1000", "--alignment", "'1000'", "power of two"},
        {"--bsize=4K --backgroundThreads=101", "--backgroundThreads", "'101'", "0 to 100"},
        {"--bsize=4K --sync=always", "--sync", "'always'", "fdatasync"},
        {"--bsize=4K --direct=maybe", "--direct", "'maybe'", "yes"},
        {"--bsize=4K --rate=0", "--rate", "'0'", "0.001"},
        {"--bsize=4K --rate=5 --delay=5", "--rate", "--delay", "exclude"},
        {"--bsize=4K --startAt=yesterday", "--startAt", "'yesterday'", "epoch"},
        {"--bsize=4K --over=2", "--over", "'2'", "1ns to 3600s, in whole ns, us, ms or s; try --over="},
        {"--bsize=4K --over=0ms", "--over", "'0ms'", "1ns to 3600s"},
        {"--bsize=4K --over=3601s", "--over", "'3601s'", "1ns to 3600s"},
        {"--bsize=4K --over=2ms,", "--over", "'2ms,'", "try --over="},
        {"--bsize=4K --over=", "--over", "''", "try --over="},
        {"--bsize=4K --monitor=0", "--monitor", "'0'", "1 to 3600 seconds; try --monitor=10"},
        {"--bsize=4K --monitor 5", "'5'", "is not an option", "values follow"},
        {"--bsize=4K --deadline=0", "--deadline", "'0'", "1 to"},
        {"--bsize=4K --cpu=3-1", "--cpu", "'3-1'", "0-3,8"},
        {"--bsize=4K --filePrefix=a/b", "--filePrefix", "'a/b'", "slash"},
        {"--bsize=4K --dir=/a,/b", "--dir", "2 directories", "--qm=2"},
        {"--bsize=4K --dir=/a,,/b --qm=3", "--dir", "'/a,,/b'", "try"},
        {"--bsize=4K --nonsense=1", "--nonsense=1", "unknown", "--help"},
        {"--bsize=4K --d=1", "--d=1", "ambiguous", "--help"},
        {"--bsize=4K --verify=1", "--verify=1", "takes no value", "--help"},
        {"--bsize=4K --qm", "--qm", "requires a value", "--help"},
        {"--bsize=4K extra", "'extra'", "not an option", "--help"},
        {"--bsize=4K --apps=1", "--apps", "applications that commit", "--workload=commit"},
        {"--bsize=4K --tripleWrite", "--tripleWrite", "applications that commit", "leave it out"},
        {"--workload=pblio", "--workload", "'pblio'", "mq-log commit"},
        {"--workload=commit --bsize=4K", "--bsize", "--msgSize", "leave it out"},
        {"--workload=commit --apps=1 --msgSize=2K --rate=5", "--rate", "not for --workload=commit", "leave it out"},
        {"--csvFile=x --workload=commit --apps=1 --msgSize=2K", "--csvFile", "not for --workload=commit",
         "leave it out"},
        {"--workload=commit --msgSize=2K", "--apps", "missing", "for example --apps="},
        {"--workload=commit --apps=1", "--msgSize", "missing", "--msgSize=2K"},
        {"--workload=commit --apps=0 --msgSize=2K", "--apps", "'0'", "1 to 100000"},
        {"--workload=commit --apps=1 --msgSize=0", "--msgSize", "'0'", "1 to 100M"},
        {"--workload=commit --apps=1 --msgSize=2K --qm=1,2", "--qm", "a list", "--apps"},
        {"--workload=commit --apps=1 --msgSize=2K", "--logBuffer", "2097152", "--fileSize"},
        {"--workload=commit --apps=1 --msgSize=2K --logBuffer=5000", "--logBuffer", "'5000'", "multiple of 4096"},
        {"--workload=commit --apps=1 --msgSize=2K --logBuffer=17M", "--logBuffer", "'17M'", "4K to 16M"},
        {"--workload=commit --apps=1 --msgSize=2K --remoteDelay=1000001", "--remoteDelay", "'1000001'", "microseconds"},
        {"--bsize=4K --seed=18446744073709551616", "--seed", "'18446744073709551616'", "try --seed="},
    };
    static struct options o;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_CASE(parse(&o, cases[i].line) == OPTIONS_WRONG, cases[i].line);
        CHECK_CASE(strstr(message, cases[i].option) != NULL, message);
        CHECK_CASE(strstr(message, cases[i].value) != NULL, message);
        CHECK_CASE(strstr(message, cases[i].hint) != NULL, message);
    }
    static char line[8000] = "--bsize=4096";
    for (int i = 0; i < 1000; i++) {
        (void)strcat(line, ",4096");
    }
    CHECK(parse(&o, line) == OPTIONS_WRONG);
    line[strlen(line) - 5] = '\0';
    CHECK(parse(&o, line) == OPTIONS_RUN && o.block_sizes.count == 1000);
}

void test_options_directories(void) {
    static struct options o;
    char path[32];
    CHECK(parse(&o, "--bsize=4K --dir=/a/b") == OPTIONS_RUN);
    CHECK(options_directory(&o, 1, path, sizeof path) && strcmp(path, "/a/b") == 0);
    CHECK(parse(&o, "--bsize=4K --dir=/a/b --qm=1,12") == OPTIONS_RUN);
    CHECK(options_directory(&o, 1, path, sizeof path) && strcmp(path, "/a/b1") == 0);
    CHECK(options_directory(&o, 12, path, sizeof path) && strcmp(path, "/a/b12") == 0);
    CHECK(parse(&o, "--bsize=4K --dir=/a,/b,/c --qm=3") == OPTIONS_RUN);
    CHECK(options_directory(&o, 1, path, sizeof path) && strcmp(path, "/a") == 0);
    CHECK(options_directory(&o, 3, path, sizeof path) && strcmp(path, "/c") == 0);
    CHECK(!options_directory(&o, 3, path, 2));
}

void test_cpu_list(void) {
    static const struct { const char *text; bool good;
    } cases[] = {
        {"0", true},
        {"0,1", true},
        {"0-3,8", true},
        {"1023", true},
        {"0-999", true},
        {"1024", false},
        {"0-1000", false},
        {"0-600,0-600", false},
        {"", false},
        {",", false},
        {"1-", false},
        {"-1", false},
        {"1-2-3", false},
        {"a", false},
        {"3-1", false},
        {"1,", false},
        {"0-18446744073709551615", false},
    };
    static struct options o;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "--bsize=4K --cpu=%s", cases[i].text);
        CHECK_CASE((parse(&o, line) == OPTIONS_RUN) == cases[i].good, line);
    }
}

static const char *as_csv(const char *text) {
    static char buffer[256];
    struct csv csv = {0};
    csv_field(&csv, text);
    (void)snprintf(buffer, sizeof buffer, "%s", csv.text.bytes != NULL ? csv.text.bytes : "");
    text_free(&csv.text);
    return buffer;
}

void test_csv(void) {
    static const struct { const char *text, *csv;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"a,b", "\"a,b\""},
        {"a\"b", "\"a\"\"b\""},
        {"a\nb", "a\\x0Ab"},
        {"tab\there", "tab\\x09here"},
        {"\xC3\xA4", "\xC3\xA4"},
        {"\xE2\x82\xAC", "\xE2\x82\xAC"},
        {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
        {"\xFF", "\\xFF"},
        {"\xC3", "\\xC3"},
        {"\xC0\x80", "\\xC0\\x80"},
        {"\xED\xA0\x80", "\\xED\\xA0\\x80"},
        {"\xE0\x80\x80", "\\xE0\\x80\\x80"},
        {"\xF4\x90\x80\x80", "\\xF4\\x90\\x80\\x80"},
        {"\x7F", "\\x7F"},
        {"=1+1", "=1+1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_CASE(strcmp(as_csv(cases[i].text), cases[i].csv) == 0, cases[i].csv);
    }
    static const struct { enum csv_form form; const char *csv; } forms[] = {
        {CSV_VALUES, "18446744073709551615,,0.333,"}, {CSV_NAMES, "a,b,c,x_d"},
        {CSV_PAIRS, "a,18446744073709551615\nb,\nc,0.333\nx_d,\n"},
        {CSV_LIST, "t,a,bytes\nt,b,ns\nt,c,ratio\nt,x_d,ns\n"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct csv csv = {.form = forms[i].form, .table = "t"};
        csv_integer(&csv, "a", "bytes", UINT64_MAX);
        csv_integer_if(&csv, "b", "ns", false, 1);
        csv_real(&csv, "c", "ratio", 1.0 / 3, 3);
        csv.prefix = "x_";
        csv_real(&csv, "d", "ns", NAN, 3);
        CHECK_CASE(strcmp(csv.text.bytes, forms[i].csv) == 0, csv.text.bytes);
        text_free(&csv.text);
    }
}
