// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The parsers of the kernel's text.
#include "host/cgroup.h"
#include "host/device.h"
#include "host/io_limit.h"
#include "host/procfs.h"
#include "check.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

void test_mountinfo(void) {
    static struct mount mount;
    char value[32];
    CHECK(parse_mountinfo_line(
        "36 35 98:0 /root /mnt\\040two\\134 rw,noatime shared:1 master:2 - ext4 /dev/sda1 rw,errors=continue\n",
        &mount));
    CHECK(mount.id == 36 && mount.major == 98 && mount.minor == 0 && strcmp(mount.point, "/mnt two\\") == 0);
    CHECK(strcmp(mount.options, "rw,noatime") == 0 && strcmp(mount.type, "ext4") == 0 &&
          strcmp(mount.root, "/root") == 0);
    CHECK(strcmp(mount.source, "/dev/sda1") == 0 && strcmp(mount.super_options, "rw,errors=continue") == 0);
    CHECK(parse_mountinfo_line("25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw", &mount) && mount.major == 0 &&
          mount.upper[0] == '\0');
    CHECK(parse_mountinfo_line(
        "50 1 0:60 /sub / rw - overlay none rw,lowerdir=/l:/m,upperdir=/u\\040a\\134\\054b,workdir=/w\n", &mount));
    CHECK(strcmp(mount.root, "/sub") == 0 && strcmp(mount.upper, "/u a,b") == 0);
    CHECK(parse_mountinfo_line(
        "40 1 0:50 / /m rw - nfs4 srv:/x rw,vers=4.2,wsize=1048576,proto=tcp,addr=10.0.0.1", &mount));
    CHECK(parse_mount_option(mount.super_options, "wsize", value, sizeof value) && strcmp(value, "1048576") == 0);
    CHECK(parse_mount_option(mount.super_options, "addr", value, sizeof value) && strcmp(value, "10.0.0.1") == 0);
    CHECK(parse_mount_option(mount.super_options, "vers", value, 2) && strcmp(value, "4") == 0);
    CHECK(!parse_mount_option(mount.super_options, "size", value, sizeof value));
    CHECK(!parse_mount_option("", "size", value, sizeof value) &&
          !parse_mount_option("a size=1", "size", value, sizeof value));
    static const char *const bad[] = {
        "",
        "36",
        "36 35",
        "36 35 98",
        "36 35 98:0",
        "36 35 98:0 / /mnt rw",
        "x 35 98:0 / /m rw - a b c",
        "36 35 98:0 / /mnt rw shared:1",
        "36 35 98:0 / /mnt rw -"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_CASE(!parse_mountinfo_line(bad[i], &mount), bad[i]);
    }
    static char longest[5000] = "1 2 3:4 / ";
    memset(longest + 10, 'x', 4000);
    strcpy(longest + 4010, " rw - ext4 s o");
    CHECK(parse_mountinfo_line(longest, &mount) && strlen(mount.point) == MOUNT_FIELD_BYTES - 1 &&
          strcmp(mount.type, "ext4") == 0);
}

void test_lock_names(void) {
    struct lock_name name;
#define LINE "000: 00000002 00000000 00000000 0002 01 123 @mqops-logdisk/"
    CHECK(parse_lock_name(LINE "253:1/77.0a1b2c/2026-11-21T1_x.y\n", &name));
    CHECK(name.disk.major == 253 && name.disk.minor == 1 && strcmp(name.run_id, "2026-11-21T1_x.y") == 0 &&
          strcmp(name.instance, "77.0a1b2c") == 0);
    CHECK(parse_lock_name(LINE "0:27/1.2/\n", &name) && name.disk.minor == 27 && name.run_id[0] == '\0');
    CHECK(parse_lock_name(LINE "1:2/3.4/a\033[1m\n", &name) && strcmp(name.run_id, "a") == 0);
    CHECK(parse_lock_name(LINE "1:2/1234567890.1234567890.1234/a\n", &name) &&
          strlen(name.instance) == INSTANCE_BYTES - 1);
    CHECK(parse_lock_name(LINE "1:2/3.4/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", &name) &&
          strlen(name.run_id) == OPTIONS_RUN_ID_MAX);
    static const char *const bad[] = {
        "",
        "Num       RefCount Protocol Flags    Type St Inode Path\n",
        "000: 2 0 0 0002 01 123 mqops-logdisk/1:2/1.2/a\n",
        "000: 2 0 0 0002 01 123 @mqops-logdisk\n",
        LINE "1:2/\n",
        LINE "1/1.2/a\n",
        LINE "1:x/1.2/a\n",
        LINE "1:2/\033[1m/a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_CASE(!parse_lock_name(bad[i], &name), bad[i]);
    }
}

void test_kernel_counters(void) {
    static const char cpu[] = "cpu  10 1 5 100 20 0 3 7 4 0\ncpu0 1 2 3\n",
                      memory[] = "pswpinx 2\npswpin 9\npswpout 33\nempty \n";
    static const char pressure[] = "some avg10=2.99 avg60=5.40 avg300=1.76 total=8381925\nfull avg10=0.00 total=5\n";
    static const char disk[] = "  237115    28914 10557002   143810  1232302   549247 102260016   189338        0";
    uint64_t sum;
    CHECK(parse_figures(cpu, "cpu", 0xff, &sum) && sum == 146);
    CHECK(parse_figures(cpu, "cpu", 1 << 3 | 1 << 4, &sum) && sum == 120);
    CHECK(parse_figures(cpu, "cpu0", 1 << 2, &sum) && sum == 3 && !parse_figures(cpu, "cpu0", 1 << 3, &sum));
    CHECK(parse_figures(pressure, "some", 1 << 3, &sum) && sum == 8381925);
    CHECK(!parse_figures("full avg10=0.00 total=5\n", "some", 1 << 3, &sum) &&
          !parse_figures("some total=\n", "some", 1, &sum));
    CHECK(parse_figures(memory, "pswpin", 1, &sum) && sum == 9 && parse_figures(memory, "pswpout", 1, &sum) &&
          sum == 33);
    CHECK(!parse_figures(memory, "pswp", 1, &sum) && !parse_figures(memory, "empty", 1, &sum) &&
          !parse_figures("", "cpu", 1, &sum));
    CHECK(parse_figures(disk, "", 1 << 2, &sum) && sum == 10557002 && parse_figures(disk, "", 1 << 6, &sum) &&
          sum == 102260016);
    CHECK(!parse_figures("1 2 3 4 5 6", "", 1 << 6, &sum) && !parse_figures("", "", 1, &sum));
    CHECK(parse_figures("pos:\t0\nflags:\t0100000\nmnt_id:\t27\nino:\t5", "mnt_id:", 1, &sum) && sum == 27);
    CHECK(!parse_figures("pos:\t0\nxmnt_id:\t27\n", "mnt_id:", 1, &sum) &&
          !parse_figures("mnt_id:\tx", "mnt_id:", 1, &sum));
    char chosen[16];
    parse_chosen("none [mq-deadline] kyber", chosen, sizeof chosen);
    CHECK(strcmp(chosen, "mq-deadline") == 0);
    parse_chosen("none", chosen, sizeof chosen);
    CHECK(strcmp(chosen, "none") == 0);
    parse_chosen("]x[", chosen, sizeof chosen);
    CHECK(strcmp(chosen, "]x[") == 0);
}

static bool located(const char *text, const char *root, const char *point, const char *path) {
    static struct cgroup cgroup;
    return parse_cgroup(text, "cpu", &cgroup) && cgroup_locate(&cgroup, root, point) == (path[0] != '\0') &&
           strcmp(cgroup.path, path) == 0 && cgroup.mount_length == (path[0] == '\0' ? 0 : strlen(point));
}

void test_cgroup(void) {
    static struct cgroup cgroup;
    CHECK(parse_cgroup("0::/a.slice/b:c\n", "cpu", &cgroup) && !cgroup.legacy &&
          strcmp(cgroup.path, "/a.slice/b:c") == 0);
    CHECK(parse_cgroup("4:cpu,cpuacct:/v1\n6:blkio:/io\n0::/v2\n", "blkio", &cgroup) && cgroup.legacy &&
          strcmp(cgroup.path, "/io") == 0);
    CHECK(parse_cgroup("4:cpu:/v1\n0::/v2\n", "blkio", &cgroup) && !cgroup.legacy && strcmp(cgroup.path, "/v2") == 0);
    CHECK(parse_cgroup("9:cpuset:/x\n4:cpuacct,cpu:/v1\n0::/v2\n", "cpu", &cgroup) && cgroup.legacy &&
          strcmp(cgroup.path, "/v1") == 0);
    CHECK(parse_cgroup("0::/v2\n4:cpu:/v1\n", "cpu", &cgroup) && cgroup.legacy && strcmp(cgroup.path, "/v1") == 0);
    CHECK(parse_cgroup("9:cpuset:/x\n3:name=cpu:/y\n2:cpuacct:/z\n0::/", "cpu", &cgroup) && !cgroup.legacy &&
          strcmp(cgroup.path, "/") == 0);
    static const char *const bad[] = {
        "",         "\n",    "0",      "0:",         "0::",    "0::\n/a", "0::a",       ":cpu:/a",
        "x:cpu:/a", "4:cpu", "4:cpu:", "4:cpu\n:/a", "00::/a", "1::/a",   "9:cpuset:/x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_CASE(!parse_cgroup(bad[i], "cpu", &cgroup) && cgroup.path[0] == '\0', bad[i]);
    }
    CHECK(located("0::/a/b", "/", "/sys/fs/cgroup", "/sys/fs/cgroup/a/b") && located("0::/", "/", "/m", "/m"));
    CHECK(located("0::/docker/1", "/docker/1", "/m", "/m") && located("0::/docker/1/x", "/docker/1", "/m", "/m/x"));
    CHECK(located("0::/docker/12", "/docker/1", "/m", "") && located("0::/a", "/docker/1", "/m", ""));
    CHECK(located("0::/../other", "/", "/m", "") && located("0::/", "/..", "/m", ""));
    static const char modern[] = "usage_usec 9\nnr_periods 7\nnr_throttled 3\nthrottled_usec 250\nnr_bursts 0\n";
    static const char old[] = "nr_periods 7\nnr_throttled 3\nthrottled_time 250000\n";
    CHECK(parse_throttled_ns(modern, false) == 250000 && parse_throttled_ns(old, true) == 250000);
    CHECK(isnan(parse_throttled_ns(modern, true)) && isnan(parse_throttled_ns(old, false)) &&
          isnan(parse_throttled_ns("", false)));
    CHECK(isnan(parse_throttled_ns("throttled_usec -1", false)) &&
          isnan(parse_throttled_ns("throttled_usec\n", false)));

    // The process's own group and the groups above it, up to the mount point. The parent directory of the mount point
    // contains a file with the same name.
    double levels[CGROUP_LEVELS];
    char base[] = "/tmp/logdisk-unit-XXXXXX", path[80];
    static const char *const below[] = {"/m/a/b", "/m/a", "/m", ""};
    CHECK(mkdtemp(base) != NULL);
    for (int i = 3; i >= 0; i--) {
        (void)snprintf(path, sizeof path, "%s%s", base, below[i]);
        CHECK(i == 3 || mkdir(path, 0700) == 0);
        strcat(path, "/cpu.stat");
        FILE *file = i == 1 ? NULL : fopen(path, "w");
        CHECK(file == NULL || (fprintf(file, "throttled_usec %d\n", i + 1) > 0 && fclose(file) == 0));
    }
    cgroup = (struct cgroup){0};
    cgroup_throttled_ns(&cgroup, levels);
    CHECK(isnan(levels[0]) && isnan(levels[CGROUP_LEVELS - 1]));
    (void)snprintf(path, sizeof path, "%s/m", base);
    CHECK(parse_cgroup("0::/a/b", "cpu", &cgroup) && cgroup_locate(&cgroup, "/", path));
    cgroup_throttled_ns(&cgroup, levels);
    CHECK(levels[0] == 1000 && isnan(levels[1]) && levels[2] == 3000 && isnan(levels[3]));
    for (int i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof path, "%s%s/cpu.stat", base, below[i]);
        CHECK(unlink(path) == 0 || i == 1);
        (void)snprintf(path, sizeof path, "%s%s", base, below[i]);
        CHECK(rmdir(path) == 0);
    }
}

// Writes a line of io.max for a device.
static void write_io_max(const char *group, struct block_number device, const char *limits) {
    char path[96];
    (void)snprintf(path, sizeof path, "%s/io.max", group);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fprintf(file, "1:2 rbps=1 wbps=1 riops=1 wiops=1\n%u:%u %s\n", device.major, device.minor,
                                  limits) > 0 && fclose(file) == 0);
}

// The groups of version 2, in a directory of the test's own. One write of 4096 bytes is held back.
void test_io_limits(void) {
    static struct io_limits limits;
    static struct disks devices;
    char base[] = "/tmp/logdisk-unit-XXXXXX", own[64], expected[96];
    FILE *file = popen("cat /sys/block/*/dev 2>/dev/null", "r");
    struct block_number device = {0};
    bool any = file != NULL && fscanf(file, "%u:%u", &device.major, &device.minor) == 2;
    CHECK(file == NULL || pclose(file) >= 0);
    CHECK(mkdtemp(base) != NULL);
    (void)snprintf(own, sizeof own, "%s/own", base);
    CHECK(mkdir(own, 0700) == 0);
    devices = (struct disks){1, {device}};
    static const struct {
        const char *own, *above, *below, *value;        // below: which of the two groups has the named limit
    } cases[] = {
        {"rbps=max wbps=1000 riops=max wiops=max", "rbps=max wbps=max riops=max wiops=4", "/own", "wbps=1000"},
        {"rbps=max wbps=1000 riops=max wiops=max", "rbps=max wbps=900 riops=max wiops=max", "", "wbps=900"},
        {"rbps=max wbps=max riops=max wiops=max", "rbps=max wbps=max riops=max wiops=4", "", "wiops=4"},
        {"rbps=max wbps=max riops=max wiops=4 idle=5", "rbps=max wbps=max riops=max wiops=5", "/own", "wiops=4"},
        {"rbps=max wbps=max riops=max wiops=max", "rbps=max wbps=max riops=max wiops=max", NULL, ""},
    };
    for (size_t i = 0; any && i < sizeof cases / sizeof cases[0]; i++) {
        limits = (struct io_limits){.devices = devices};
        CHECK(parse_cgroup("0::/own", "blkio", &limits.cgroup) && cgroup_locate(&limits.cgroup, "/", base));
        write_io_max(own, device, cases[i].own);
        write_io_max(base, device, cases[i].above);
        io_limits_begin_step(&limits);
        io_limits_end_step(&limits, 1, 4096);
        (void)snprintf(expected, sizeof expected, "%s%s/io.max", base, cases[i].below != NULL ? cases[i].below : "");
        const struct io_limit_used *used = &limits.by_writes;
        CHECK_CASE(strcmp(used->file, cases[i].below != NULL ? expected : "") == 0, cases[i].value);
        (void)snprintf(expected, sizeof expected, "%u:%u %s", device.major, device.minor, cases[i].value);
        CHECK_CASE(cases[i].below == NULL || (strcmp(used->value, expected) == 0 && used->share == 1), cases[i].value);
        CHECK_CASE(limits.by_reads.file[0] == '\0', cases[i].value);
        // The limit of one step is not that of the next one.
        write_io_max(own, device, "rbps=max wbps=max riops=5 wiops=max");
        write_io_max(base, device, "rbps=max wbps=max riops=max wiops=max");
        io_limits_begin_step(&limits);
        io_limits_end_step(&limits, 1, 4096);
        CHECK_CASE(used->file[0] == '\0' && limits.by_reads.file[0] == '/', cases[i].value);
    }
    (void)snprintf(expected, sizeof expected, "%s/io.max", own);
    CHECK(unlink(expected) == 0 || !any);
    (void)snprintf(expected, sizeof expected, "%s/io.max", base);
    CHECK(unlink(expected) == 0 || !any);
    CHECK(rmdir(own) == 0 && rmdir(base) == 0);
}

// The storage below a FUSE file system whose program has ended cannot be seen. Only root can mount one, if the kernel
// supports it.
static void test_fuse(void) {
    char point[] = "/tmp/logdisk-unit-XXXXXX", options[80];
    struct backing backing = {0};
    int program = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    CHECK(mkdtemp(point) != NULL);
    (void)snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", program);
    bool mounted = program >= 0 && mount("/dev/null", point, "fuse.test", MS_NOSUID | MS_NODEV, options) == 0;
    if (program >= 0) {
        CHECK(close(program) == 0);
    }
    if (mounted) {
        int fd = open(point, O_PATH | O_DIRECTORY | O_CLOEXEC);
        backing_add(&backing, fd);
        CHECK(backing.unknown != NULL && strstr(backing.unknown, "FUSE") != NULL &&
              strcmp(backing.type, "fuse.test") == 0);
        CHECK(close(fd) == 0 && umount(point) == 0);
    }
    CHECK(rmdir(point) == 0);
}

void test_identity(void) {
    static struct identity identity;
    int fd = open("/proc", O_RDONLY | O_DIRECTORY);
    identity_gather(&identity, fd);
    CHECK(strcmp(identity.mount.type, "proc") == 0 && strcmp(identity.mount.point, "/proc") == 0);
    CHECK(identity.number.major == 0 && identity.device.name[0] == '\0' && identity.stack.text[0] == '\0');
    static struct backing backing;
    backing_add(&backing, fd);
    backing_add(&backing, fd);
    CHECK(strcmp(backing.type, "proc") == 0 && backing.unknown == NULL && backing.disks.count == 1);
    CHECK(close(fd) == 0);
    test_fuse();
    char text[8];
    CHECK(!read_text("/proc/no/such/file", text, sizeof text));
    CHECK(read_text("/proc/self/stat", text, sizeof text) && strlen(text) <= 7);
}
