// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A bare loop for comparison: it makes the same system call as the tester, over the same ring of preformatted files. It
// does not time, record or stamp anything. Prints writes per second.
//
//     bare_loop DIR BLOCK_BYTES FILE_BYTES FILES SECONDS direct|buffered
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void die(const char *what) {
    perror(what);
    exit(2);
}

static int make_file(const char *dir, int number, char *block, size_t block_bytes, size_t file_bytes, int direct) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/bare_loop.%ld.%d", dir, (long)getpid(), number);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_DSYNC | (direct ? O_DIRECT : 0), 0600);
    if (fd < 0 || unlink(path) != 0) {
        die(path);
    }
    for (size_t at = 0; at + block_bytes <= file_bytes; at += block_bytes) {
        if (pwrite(fd, block, block_bytes, (off_t)at) != (ssize_t)block_bytes) {
            die("preformatting");
        }
    }
    return fd;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        (void)fprintf(stderr, "usage: bare_loop DIR BLOCK_BYTES FILE_BYTES FILES SECONDS direct|buffered\n");
        return 1;
    }
    size_t block_bytes = strtoul(argv[2], NULL, 10), file_bytes = strtoul(argv[3], NULL, 10);
    int files = atoi(argv[4]), direct = strcmp(argv[6], "direct") == 0;
    double seconds = atof(argv[5]);
    int *fds = calloc((size_t)files, sizeof *fds);
    void *block;
    if (fds == NULL || posix_memalign(&block, 4096, block_bytes) != 0) {
        die("memory");
    }
    for (size_t i = 0; i < block_bytes; i++) {
        ((unsigned char *)block)[i] = (unsigned char)rand();
    }
    for (int i = 0; i < files; i++) {
        fds[i] = make_file(argv[1], i, block, block_bytes, file_bytes, direct);
    }
    struct iovec vector = {block, block_bytes};
    double start = now_s(), end = start + seconds, now;
    uint64_t writes = 0;
    int file = 0;
    size_t offset = 0;
    do {
        for (int i = 0; i < 256; i++) {
            if (pwritev(fds[file], &vector, 1, (off_t)offset) != (ssize_t)block_bytes) {
                die("pwritev");
            }
            offset += block_bytes;
            if (offset + block_bytes > file_bytes) {
                offset = 0;
                file = file + 1 < files ? file + 1 : 0;
            }
        }
        writes += 256;
        now = now_s();
    } while (now < end);
    (void)printf("%.1f\n", (double)writes / (now - start));
    return 0;
}
