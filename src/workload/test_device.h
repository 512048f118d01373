// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The block device under test. A device that contains any data, or that is in use, is never written to.
//
// The user names the device twice, by a link in /dev/disk/by-id (streams.c compares the two). Everything else is
// checked through one descriptor, which is opened exclusively, so that the device cannot be mounted, mapped or used for
// swapping during the test. There is no list of signatures: the first and the last DEVICE_END_BYTES must hold nothing
// but zeros, because partition tables, file systems, volume managers and RAIDs have their marks there. Tests never
// write to these two regions, so they are unchanged for the next test, no matter how this one ends.
//
// These checks cannot detect another host with access to the device. Nor can they detect a process or virtual machine
// that uses the device without claiming it, and leaves both ends empty.
#pragma once

#include "workload/workload.h"

struct test_device {
    int fd;
    dev_t number;
    uint32_t sector_bytes;              // the smallest write with O_DIRECT; never more than a page of 4096
};

// Opens the device of a place with the given flags, or reports why not. Nothing is written.
bool test_device_open(struct test_device *device, const struct place *place, int flags, struct failure *failure);
