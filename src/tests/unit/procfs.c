// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The parsers of the kernel's text.
#include "base/platform.h"

#include "host/backing.h"
#include "host/device_lock.h"
#include "host/device.h"
#include "host/procfs.h"
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

void test_mountinfo(void) {
    struct mount mount, mount_root;
    CHECK(parse_mountinfo_line("36 35 98:0 /root /mnt\\040two\\134 rw,noatime shared:1 master:2 - ext4 /dev/sda1 rw,errors=continue\n",
                               &mount));
    CHECK(mount.id == 36 && mount.major == 98 && mount.minor == 0 && strcmp(mount.point, "/mnt two\\") == 0);
    CHECK(strcmp(mount.options, "rw,noatime") == 0 && strcmp(mount.type, "ext4") == 0);
    CHECK(strcmp(mount.source, "/dev/sda1") == 0 && strcmp(mount.super_options, "rw,errors=continue") == 0);
    CHECK(parse_mountinfo_line("25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw", &mount) && mount.major == 0);
    CHECK(parse_mountinfo_line("40 1 0:50 / /m rw - nfs4 srv:/x rw,vers=4.2,wsize=1048576,proto=tcp,addr=10.0.0.1", &mount));
    char value[32];
    static const char overlay[] = "50 1 0:60 /sub / rw - overlay none rw,lowerdir=/l:/m,upperdir=/u\\040a\\054b,workdir=/w,xino=off\n";
    CHECK(parse_mountinfo_line(overlay, &mount_root) && strcmp(mount_root.root, "/sub") == 0);
    CHECK(parse_mountinfo_option(overlay, "upperdir", value, sizeof value) && strcmp(value, "/u a,b") == 0);
    CHECK(parse_mountinfo_option(overlay, "workdir", value, 2) && strcmp(value, "/") == 0);
    CHECK(parse_mountinfo_option(overlay, "xino", value, sizeof value) && strcmp(value, "off") == 0);
    CHECK(!parse_mountinfo_option(overlay, "upper", value, sizeof value) && !parse_mountinfo_option("a - b", "c", value, sizeof value));
    CHECK(!parse_mountinfo_option(overlay, "none", value, sizeof value) && !parse_mountinfo_option("", "c", value, sizeof value));
    CHECK(parse_mount_option(mount.super_options, "wsize", value, sizeof value) && strcmp(value, "1048576") == 0);
    CHECK(parse_mount_option(mount.super_options, "addr", value, sizeof value) && strcmp(value, "10.0.0.1") == 0);
    CHECK(parse_mount_option(mount.super_options, "vers", value, 2) && strcmp(value, "4") == 0);
    CHECK(!parse_mount_option(mount.super_options, "size", value, sizeof value));
    CHECK(!parse_mount_option("", "size", value, sizeof value));
    static const char *const bad[] = {"", "36", "36 35", "36 35 98", "36 35 98:0", "36 35 98:0 / /mnt rw", "x 35 98:0 / /m rw - a b c",
                                      "36 35 98:0 / /mnt rw shared:1", "36 35 98:0 / /mnt rw -", "-1 35 98:0 / /m rw - a b c",
                                      "99999999999 1 1:1 / /m rw - a b c"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mount.id = 7;
        CHECK_CASE(!parse_mountinfo_line(bad[i], &mount) && mount.id == 7, bad[i]);
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
    CHECK(parse_lock_name(LINE "253:1/2026-11-21T1_x.y/77.0a1b2c\n", &name));
    CHECK(name.disk.major == 253 && name.disk.minor == 1 && strcmp(name.run_id, "2026-11-21T1_x.y") == 0 &&
          strcmp(name.instance, "77.0a1b2c") == 0);
    CHECK(parse_lock_name(LINE "0:27//1.2\n", &name) && name.run_id[0] == '\0');
    static const char *const bad[] = {
        "", "Num       RefCount Protocol Flags    Type St Inode Path\n", "000: 2 0 0 0002 01 123 mqops-logdisk/1:2/a/1.2\n",
        "000: 2 0 0 0002 01 123 @mqops-logdisk\n", LINE "1:2/a\n", LINE "1:2/a/1.2", LINE "1/a/1.2\n", LINE "1:x/a/1.2\n",
        LINE "1:2/\033[1m/1.2\n", LINE "1:2/a/1.2 3\n", LINE "1:2/a/1234567890.1234567890.1234\n",
        LINE "1:2/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/1.2\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_CASE(!parse_lock_name(bad[i], &name), bad[i]);
    }
}

void test_kernel_counters(void) {
    uint64_t a, b, c;
    uint32_t id, minor;
    CHECK(parse_cpu_times("cpu  10 1 5 100 20 0 3 7 4 0\ncpu0 1 2 3\n", &a, &b, &c) && a == 146 && b == 120 && c == 7);
    CHECK(!parse_cpu_times("cpu  10 1 5\ncpu0 1", &a, &b, &c) && !parse_cpu_times("", &a, &b, &c));
    CHECK(parse_pressure("some avg10=2.99 avg60=5.40 avg300=1.76 total=8381925\nfull avg10=0.00 total=5\n", &a) && a == 8381925);
    CHECK(!parse_pressure("full avg10=0.00 total=5\n", &a) && !parse_pressure("some avg10=1\nfull total=5", &a));
    CHECK(parse_vmstat("pswpin 1\npswpinx 2\npswpout 33\n", "pswpout", &a) && a == 33);
    CHECK(parse_vmstat("pswpinx 2\npswpin 9\n", "pswpin", &a) && a == 9);
    CHECK(!parse_vmstat("pswpinx 2\n", "pswpin", &a) && !parse_vmstat("pswpin \n", "pswpin", &a));
    CHECK(parse_block_stat("  237115    28914 10557002   143810  1232302   549247 102260016   189338        0", &a, &b));
    CHECK(a == UINT64_C(10557002) * 512 && b == UINT64_C(102260016) * 512);
    CHECK(!parse_block_stat("1 2 3 4 5 6", &a, &b) && !parse_block_stat("", &a, &b));
    CHECK(parse_schedstat("514605 4451700 2", &a) && a == 4451700 && !parse_schedstat("514605", &a));
    CHECK(parse_fdinfo_mount("pos:\t0\nflags:\t0100000\nmnt_id:\t27\nino:\t5", &id) && id == 27);
    CHECK(!parse_fdinfo_mount("pos:\t0\nxmnt_id:\t27\n", &id) && !parse_fdinfo_mount("mnt_id:\tx", &id));
    CHECK(parse_device_number("254:16", &id, &minor) && id == 254 && minor == 16);
    CHECK(!parse_device_number("254:", &id, &minor) && !parse_device_number("254:1x", &id, &minor));
    char chosen[16];
    parse_chosen("none [mq-deadline] kyber", chosen, sizeof chosen);
    CHECK(strcmp(chosen, "mq-deadline") == 0);
    parse_chosen("none", chosen, sizeof chosen);
    CHECK(strcmp(chosen, "none") == 0);
    parse_chosen("]x[", chosen, sizeof chosen);
    CHECK(strcmp(chosen, "]x[") == 0);
}

// Of a FUSE file system whose program has gone: what it stands on cannot be seen. Only root mounts one, where there is one.
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
        CHECK(backing.unknown != NULL && strstr(backing.unknown, "FUSE") != NULL && strcmp(backing.type, "fuse.test") == 0);
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
    CHECK(strcmp(backing.type, "proc") == 0 && backing.unknown == NULL && backing.disks_count == 1);
    CHECK(close(fd) == 0);
    test_fuse();
    char text[8];
    CHECK(!read_text("/proc/no/such/file", text, sizeof text));
    CHECK(read_text("/proc/self/stat", text, sizeof text) && strlen(text) <= 7);
}
