// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "host/device.h"

#include "base/units.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DEPTH_MAX 8                     // mapped devices on mapped devices, loop devices on files on loop devices ...
#define PATH_BYTES (PATH_MAX + 64)      // a path in sysfs

// Block devices. Each device is represented by its directory in sysfs.

// Returns false if there is none.
static bool find_directory(struct block_number number, char device[PATH_MAX]) {
    char link[64];
    (void)snprintf(link, sizeof link, "/sys/dev/block/%" PRIu32 ":%" PRIu32, number.major, number.minor);
    return number.major > 0 && realpath(link, device) != NULL;
}

static bool read_fact(const char *directory, const char *name, char *fact, size_t fact_bytes) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return read_text(path, fact, fact_bytes);
}

static const char *name_of(const char *device) {
    return strrchr(device, '/') + 1;
}

static struct block_number number_of(const char *device) {
    char text[FACT_BYTES];
    struct block_number number;
    bool known = read_fact(device, "dev", text, sizeof text) &&
                 sscanf(text, "%" SCNu32 ":%" SCNu32, &number.major, &number.minor) == 2;
    return known ? number : (struct block_number){0};
}

// The directory of the whole disk: the parent if the device is a partition.
static void find_whole_disk(const char *device, char disk[PATH_MAX]) {
    char number[FACT_BYTES];
    (void)snprintf(disk, PATH_MAX, "%s", device);
    if (read_fact(device, "partition", number, sizeof number)) {
        *strrchr(disk, '/') = '\0';
    }
}

bool disks_contain(const struct disks *disks, struct block_number disk) {
    for (uint32_t i = 0; i < disks->count; i++) {
        if (disks->numbers[i].major == disk.major && disks->numbers[i].minor == disk.minor) {
            return true;
        }
    }
    return false;
}

static void add_disk(struct disks *disks, struct block_number disk) {
    if (disks->count < DISKS_MAX && !disks_contain(disks, disk)) {
        disks->numbers[disks->count++] = disk;
    }
}

static void append_name(struct block_stack *stack, const char *before, const char *device) {
    char label[FACT_BYTES];
    bool labelled = read_fact(device, "dm/name", label, sizeof label);
    size_t used = strlen(stack->text);
    (void)snprintf(stack->text + used, sizeof stack->text - used, labelled ? "%s%s (%s)" : "%s%s", before,
                   name_of(device), label);
}

// A partition is on its disk, and a mapped device is on its slaves.
static void walk_down(struct block_stack *stack, const char *before, const char *device, int depth) {
    char disk[PATH_MAX], below[PATH_MAX], pattern[PATH_BYTES];
    glob_t slaves = {0};
    append_name(stack, before, device);
    find_whole_disk(device, disk);
    if (strcmp(disk, device) != 0) {
        append_name(stack, " > ", disk);
    }
    add_disk(&stack->levels, number_of(disk));
    (void)snprintf(pattern, sizeof pattern, "%s/slaves/*", disk);
    if (depth == DEPTH_MAX || glob(pattern, 0, NULL, &slaves) != 0) {
        add_disk(&stack->bottoms, number_of(disk));
    }
    for (size_t i = 0; i < slaves.gl_pathc; i++) {
        if (realpath(slaves.gl_pathv[i], below) != NULL) {
            walk_down(stack, i == 0 ? " > " : " + ", below, depth + 1);
        }
    }
    globfree(&slaves);
}

// Walks down from all devices of the mounted file system on a block device: a mount shows only one device, but a btrfs
// file system may be on several.
static void walk_file_system(struct block_stack *stack, const char *device) {
    char pattern[PATH_BYTES], top[PATH_MAX], disk[PATH_MAX];
    glob_t member = {0}, members = {0};
    (void)snprintf(pattern, sizeof pattern, "/sys/fs/btrfs/*/devices/%s", name_of(device));
    if (glob(pattern, 0, NULL, &member) == 0) {
        const char *path = member.gl_pathv[0];
        (void)snprintf(pattern, sizeof pattern, "%.*s/*", (int)(strrchr(path, '/') - path), path);
        (void)glob(pattern, 0, NULL, &members);
    }
    for (size_t i = 0; i == 0 || i < members.gl_pathc; i++) {
        if (realpath(members.gl_pathc > 0 ? members.gl_pathv[i] : device, top) != NULL) {
            find_whole_disk(top, disk);
            add_disk(&stack->tops, number_of(disk));
            walk_down(stack, i == 0 ? "" : " + ", top, 0);
        }
    }
    globfree(&member);
    globfree(&members);
}

static struct block_number device_of_node(const struct stat *status) {
    return S_ISBLK(status->st_mode) ? (struct block_number){major(status->st_rdev), minor(status->st_rdev)}
                                    : (struct block_number){0};
}

// In mountinfo some file systems (btrfs) have no device of their own; for these, the source field names the device.
struct block_number device_of_mount(const struct mount *mount) {
    struct stat status;
    if (mount->major == 0 && strncmp(mount->source, "/dev/", 5) == 0 && stat(mount->source, &status) == 0 &&
        S_ISBLK(status.st_mode)) {
        return device_of_node(&status);
    }
    return (struct block_number){mount->major, mount->minor};
}

// Major 0: the descriptor does not refer to a block device.
static struct block_number device_of_open(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 ? device_of_node(&status) : (struct block_number){0};
}

// Identity.

void parse_chosen(const char *text, char *chosen, size_t size) {
    const char *open = strchr(text, '[');
    size_t length = open != NULL ? strcspn(open + 1, "]") : 0;
    bool bracketed = open != NULL && open[1 + length] == ']';
    (void)snprintf(chosen, size, "%.*s", bracketed ? (int)length : INT_MAX, bracketed ? open + 1 : text);
}

const struct device_fact device_facts[DEVICE_FACTS] = {
    {"device/model", "model", "text"},
    {"queue/scheduler", "scheduler", "text"},
    {"queue/write_cache", "write_cache", "text"},
    {"queue/fua", "fua", "0/1"},
    {"queue/rotational", "rotational", "text"},
    {"queue/nomerges", "nomerges", "text"},
    {"queue/wbt_lat_usec", "wbt_lat_us", "us"},
    {"queue/logical_block_size", "logical_block_bytes", "bytes"},
    {"queue/physical_block_size", "physical_block_bytes", "bytes"},
};

static void read_device(struct device *facts, const char *device, const char *disk) {
    (void)snprintf(facts->name, sizeof facts->name, "%.150s", name_of(device));
    for (int i = 0; i < DEVICE_FACTS; i++) {
        char text[FACT_BYTES];
        (void)read_fact(disk, device_facts[i].file, text, sizeof text);
        parse_chosen(text, facts->facts[i], FACT_BYTES);
    }
}

void identity_gather(struct identity *identity, int fd) {
    char device[PATH_MAX], disk[PATH_MAX], member[PATH_MAX];
    struct mount holder;
    *identity = (struct identity){0};
    (void)read_text(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource", identity->clock_source, FACT_BYTES);
    identity->number = device_of_open(fd);
    if (identity->number.major == 0) {
        (void)mount_of(fd, &identity->mount);
        identity->number = mount_behind_overlay(fd, &holder) ? device_of_mount(&holder) : (struct block_number){0};
    }
    if (!find_directory(identity->number, device)) {
        return;
    }
    find_whole_disk(device, disk);
    read_device(&identity->device, device, disk);
    walk_file_system(&identity->stack, device);
    if (find_directory(identity->stack.bottoms.numbers[0], member) && strcmp(member, disk) != 0) {
        read_device(&identity->member, member, member);
    }
}

// Backing.

static void look(struct backing *backing, int fd, int depth);

static bool is_memory(const char *type) {
    return strcmp(type, "memory") == 0 || strcmp(type, "tmpfs") == 0 || strcmp(type, "ramfs") == 0 ||
           strcmp(type, "rootfs") == 0 || strcmp(type, "devtmpfs") == 0;
}

static void add_type(struct backing *backing, const char *type) {
    if (backing->type[0] == '\0' || (is_memory(type) && !is_memory(backing->type))) {
        (void)snprintf(backing->type, sizeof backing->type, "%s", type);
    }
}

static void add_unknown(struct backing *backing, const char *what) {
    backing->unknown = backing->unknown != NULL ? backing->unknown : what;
}

// Adds the number that identifies a file system without a block device.
static void add_file_system(struct backing *backing, int fd) {
    dev_t number = file_system_of(fd);
    if (number != 0) {
        add_disk(&backing->disks, (struct block_number){major(number), minor(number)});
    }
}

static uint64_t number_fact(const char *directory, const char *name) {
    char text[FACT_BYTES];
    uint64_t value = 0;
    return read_fact(directory, name, text, sizeof text) && parse_integer(text, &value) ? value : 0;
}

// The path belongs to the namespace that set up the loop device, so it is used only if a file of the device's size
// exists there.
static int open_backing_file(const char *loop) {
    char path[PATH_MAX];
    struct stat status;
    int fd = read_fact(loop, "loop/backing_file", path, sizeof path) && path[0] == '/'
                 ? open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0) {
        return -1;
    }
    uint64_t offset = number_fact(loop, "loop/offset"), limit = number_fact(loop, "loop/sizelimit");
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size >= offset;
    uint64_t bytes = regular ? (uint64_t)status.st_size - offset : 0;
    bytes = limit > 0 && limit < bytes ? limit : bytes;
    if (!regular || bytes / 512 != number_fact(loop, "size")) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

// number: a whole disk at the bottom of a stack. type: the type of the file system on the stack.
static void add_bottom(struct backing *backing, struct block_number number, const char *type, int depth) {
    char disk[PATH_MAX];
    const char *name = find_directory(number, disk) ? name_of(disk) : "";
    if (strncmp(name, "loop", 4) == 0) {
        int file = depth < DEPTH_MAX ? open_backing_file(disk) : -1;
        if (file >= 0) {
            look(backing, file, depth + 1);
            (void)close(file);
            return;
        }
        add_unknown(backing, "the file behind a loop device");
    }
    bool memory = strncmp(name, "ram", 3) == 0 || strncmp(name, "zram", 4) == 0 || strncmp(name, "nullb", 5) == 0;
    add_type(backing, memory ? "memory" : type);
    add_disk(&backing->disks, number);
}

// type: the type of the file system on the device.
static void look_below(struct backing *backing, struct block_number number, const char *type, int depth) {
    struct block_stack stack = {0};
    char device[PATH_MAX];
    if (!find_directory(number, device)) {
        add_unknown(backing, "the block device");
        add_disk(&stack.bottoms, number);
    } else {
        walk_file_system(&stack, device);
    }
    for (uint32_t i = 0; i < stack.levels.count; i++) {
        add_disk(&backing->levels, stack.levels.numbers[i]);
    }
    for (uint32_t i = 0; i < stack.bottoms.count; i++) {
        add_bottom(backing, stack.bottoms.numbers[i], type, depth);
    }
}

static void look(struct backing *backing, int fd, int depth) {
    struct mount mount;
    struct block_number number = device_of_open(fd);
    if (number.major > 0) {
        look_below(backing, number, "none", depth);
        return;
    }
    if (!mount_behind_overlay(fd, &mount)) {
        add_unknown(backing, mount.id == 0 ? "the mount" : "the upper directory of an overlay");
        add_file_system(backing, fd);
        return;
    }
    if (strncmp(mount.type, "fuse", 4) == 0) {
        add_unknown(backing, "what is behind a FUSE file system");
    }
    number = device_of_mount(&mount);
    if (number.major == 0) {
        add_type(backing, mount.type);
        add_file_system(backing, fd);
        return;
    }
    look_below(backing, number, mount.type, depth);
}

void backing_add(struct backing *backing, int fd) {
    look(backing, fd, 0);
}
