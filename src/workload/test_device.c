// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/test_device.h"

#include "base/units.h"
#include "host/device.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SECTOR_MAX_BYTES 4096           // the alignment of all files on it
#define NODES "/dev/"

struct opening {
    struct test_device *device;
    const struct place *place;
    char node[PATH_MAX];                // the node to which the link leads
    struct failure *failure;
};

#define refuse(opening, format, ...)                                                                                   \
    failure_set((opening)->failure, EXIT_REFUSED, "--place %s: %s " format, (opening)->place->name,                    \
                (opening)->place->path, __VA_ARGS__)

static struct block_number number_of(dev_t device) {
    return (struct block_number){major(device), minor(device)};
}

// Accepts only a link like those created by udev, which leads to one of the kernel's nodes in /dev.
static bool find_node(struct opening *opening) {
    const char *path = opening->place->path;
    struct stat status;
    if (lstat(path, &status) != 0) {
        return refuse(
            opening, "cannot be found: %s; /dev/disk/by-id has the names of this host's devices", strerror(errno));
    }
    if (!S_ISLNK(status.st_mode)) {
        return refuse(opening, "%s", "is not a link, as udev makes them; name one that is");
    }
    if (realpath(path, opening->node) == NULL) {
        return refuse(opening, "leads nowhere: %s; name the link of a device that exists", strerror(errno));
    }
    size_t nodes = strlen(NODES);
    if (strncmp(opening->node, NODES, nodes) != 0 || strchr(opening->node + nodes, '/') != NULL) {
        return refuse(
            opening, "leads to %s, which is not a device in /dev; name a link as udev makes them", opening->node);
    }
    return true;
}

// Opening some kinds of nodes affects their devices. Therefore, the type is checked first, with O_PATH, which does not
// open the device.
static int pin_node(struct opening *opening) {
    struct stat status;
    int pin = open(opening->node, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (pin < 0 || fstat(pin, &status) != 0) {
        (void)refuse(opening, "leads to %s, which cannot be inspected: %s", opening->node, strerror(errno));
    } else if (!S_ISBLK(status.st_mode)) {
        (void)refuse(opening, "leads to %s, which is not a block device; name the link of a disk", opening->node);
    } else if (!device_has_name(number_of(status.st_rdev), opening->node + strlen(NODES))) {
        (void)refuse(
            opening, "leads to %s, but that is not the kernel's name of device %u:%u; name a link as udev makes them",
            opening->node, major(status.st_rdev), minor(status.st_rdev));
    } else {
        opening->device->number = status.st_rdev;
        return pin;
    }
    if (pin >= 0) {
        (void)close(pin);
    }
    return -1;
}

// Bypasses the page cache in order to read the device itself.
static bool open_pinned(struct opening *opening, int pin, int flags) {
    char path[64];
    struct device_use use;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", pin);
    int fd = open(path, flags | O_RDWR | O_EXCL | O_DIRECT | O_CLOEXEC), error = errno;
    opening->device->fd = fd;
    if (device_find_use(number_of(opening->device->number), &use)) {
        return refuse(opening, "(%s) %s; %s", opening->node, use.what, use.next);
    }
    if (fd < 0 && error == EBUSY) {
        return refuse(opening,
                      "(%s) is in use: a process, the kernel or another place has it open exclusively, or it is "
                      "mounted in another mount namespace; name another device",
                      opening->node);
    }
    return fd >= 0 || refuse(opening, "(%s) cannot be opened: %s; the tester's user must be able to read and write it",
                             opening->node, strerror(error));
}

// By now, the name may refer to another device.
static bool is_still_named(struct opening *opening) {
    struct stat named, opened;
    return (fstat(opening->device->fd, &opened) == 0 && stat(opening->place->path, &named) == 0 &&
            S_ISBLK(opened.st_mode) && S_ISBLK(named.st_mode) && opened.st_rdev == opening->device->number &&
            named.st_rdev == opened.st_rdev) ||
           refuse(opening, "%s",
                  "was changed while it was being opened; check whether it is still the device that you mean");
}

static bool measure(struct opening *opening, uint64_t *device_bytes) {
    const struct place *place = opening->place;
    uint64_t needed = 2 * DEVICE_END_BYTES + place->files * place->file_bytes;
    int sector_bytes = 0;
    char text[2][THOUSANDS_BYTES];
    if (ioctl(opening->device->fd, BLKGETSIZE64, device_bytes) != 0 ||
        ioctl(opening->device->fd, BLKSSZGET, &sector_bytes) != 0) {
        return refuse(opening, "(%s) has an unknown size: %s; name another device", opening->node, strerror(errno));
    }
    if (*device_bytes < needed) {
        return refuse(opening,
                      "(%s) has %s bytes, but the test takes %s (its share of the capacity, and 1 MiB at both ends "
                      "that is never written to); take less (--numFiles, --fileSize, share)",
                      opening->node, format_thousands(text[0], *device_bytes), format_thousands(text[1], needed));
    }
    opening->device->sector_bytes = (uint32_t)sector_bytes;
    return (sector_bytes > 0 && sector_bytes <= SECTOR_MAX_BYTES) ||
           refuse(opening, "(%s) has sectors of %d bytes; allowed: up to %d; name another device", opening->node,
                  sector_bytes, SECTOR_MAX_BYTES);
}

static bool
is_empty_at(struct opening *opening, const unsigned char *memory, uint64_t offset_bytes, uint64_t device_bytes) {
    size_t at = 0;
    while (at < DEVICE_END_BYTES && memory[at] == 0) {
        at++;
    }
    return at == DEVICE_END_BYTES ||
           refuse(opening,
                  "(%s) is not empty: byte %" PRIu64
                  " is not 0, and only a device whose first and last 1 MiB are zeros is overwritten; name another "
                  "device, or, if nothing on this one is needed, let its owner zero them: blkdiscard -z -l 1M %s; "
                  "blkdiscard -z -o %" PRIu64 " -l 1M %s",
                  opening->node, offset_bytes + at, opening->place->path, device_bytes - DEVICE_END_BYTES,
                  opening->place->path);
}

static bool ends_are_empty(struct opening *opening, unsigned char *memory, uint64_t device_bytes) {
    const uint64_t offsets[] = {0, device_bytes - DEVICE_END_BYTES};
    bool empty = true;
    for (size_t i = 0; i < 2 && empty; i++) {
        ssize_t done;
        while ((done = pread(opening->device->fd, memory, DEVICE_END_BYTES, (off_t)offsets[i])) < 0 && errno == EINTR) {
        }
        empty = done == (ssize_t)DEVICE_END_BYTES
                    ? is_empty_at(opening, memory, offsets[i], device_bytes)
                    : refuse(opening, "(%s) cannot be read at offset %" PRIu64 ": %s; name another device",
                             opening->node, offsets[i], failure_error_text(done < 0 ? errno : FAILURE_SHORT_WRITE));
    }
    return empty;
}

static bool check_content(struct opening *opening) {
    uint64_t device_bytes = 0;
    void *memory;
    if (!measure(opening, &device_bytes)) {
        return false;
    }
    if (posix_memalign(&memory, SECTOR_MAX_BYTES, DEVICE_END_BYTES) != 0) {
        return refuse(opening, "%s", "cannot be read: no memory");
    }
    bool empty = ends_are_empty(opening, memory, device_bytes);
    free(memory);
    return empty;
}

static bool set_direct(struct opening *opening, bool direct) {
    int flags = fcntl(opening->device->fd, F_GETFL);
    return direct || (flags >= 0 && fcntl(opening->device->fd, F_SETFL, flags & ~O_DIRECT) == 0) ||
           refuse(opening, "(%s) cannot be used through the page cache: %s", opening->node, strerror(errno));
}

bool test_device_open(struct test_device *device, const struct place *place, int flags, struct failure *failure) {
    struct opening opening = {.device = device, .place = place, .failure = failure};
    *device = (struct test_device){.fd = -1};
    int pin = find_node(&opening) ? pin_node(&opening) : -1;
    bool good = pin >= 0 && open_pinned(&opening, pin, flags) && is_still_named(&opening) && check_content(&opening) &&
                set_direct(&opening, (flags & O_DIRECT) != 0);
    if (pin >= 0) {
        (void)close(pin);
    }
    if (!good && device->fd >= 0) {
        (void)close(device->fd);
        device->fd = -1;
    }
    return good;
}
