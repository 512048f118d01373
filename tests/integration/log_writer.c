// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A logger that repeatedly writes 4 KiB to a file in one of several ways, and records its own timing:
//
//   log_writer FILE ACCOUNT WAY COUNT
//
// WAY is dsync (pwrite to a file opened with O_DSYNC), flagged (pwritev2 with RWF_DSYNC), flushed (pwrite and
// fdatasync), grouped (three times pwrite, then fsync), unflushed (pwrite alone), aio (io_submit) or uring (io_uring).
// When all log writes are done, a line
// "log NS" for each of them is written to ACCOUNT.
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 4096, GROUP = 3 };

static char block[SIZE] __attribute__((aligned(SIZE)));

static void check(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

static void write_by_aio(int file)
{
	static aio_context_t context;
	if (!context)
		check(syscall(SYS_io_setup, 1, &context) == 0, "io_setup");
        struct iocb one = {
            .aio_fildes = (uint32_t)file,
            .aio_lio_opcode = IOCB_CMD_PWRITE,
            .aio_buf = (uintptr_t)block,
            .aio_nbytes = SIZE};
        struct iocb *all[] = { &one };
	struct io_event event;
	check(syscall(SYS_io_submit, context, 1, all) == 1, "io_submit");
	check(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1 && event.res == SIZE, "io_getevents");
}

static void write_by_uring(int file)
{
	static int ring;
	static struct io_uring_params parameters;
	static char *rings;
	static struct io_uring_sqe *entries;
	if (!ring) {
		ring = (int)syscall(SYS_io_uring_setup, 1, &parameters);
		check(ring > 0, "io_uring_setup");
		size_t size = parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
		rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
		entries = mmap(NULL, sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
		check(rings != MAP_FAILED && entries != MAP_FAILED, "mmap");
	}
	memset(entries, 0, sizeof *entries);
	entries->opcode = IORING_OP_WRITE;
	entries->fd = file;
	entries->addr = (uintptr_t)block;
	entries->len = SIZE;
	uint32_t *tail = (uint32_t *)(void *)(rings + parameters.sq_off.tail);
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	check(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1, "io_uring_enter");
	uint32_t *head = (uint32_t *)(void *)(rings + parameters.cq_off.head);
        struct io_uring_cqe *done =
            (struct io_uring_cqe *)(void *)(rings + parameters.cq_off.cqes) + (*head & (parameters.cq_entries - 1));
        check(done->res == SIZE, "io_uring write");
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void write_once(int file, const char *way)
{
	struct iovec vector = { block, SIZE };
	int writes = !strcmp(way, "grouped") ? GROUP : 1;
	if (!strcmp(way, "aio")) {
		write_by_aio(file);
	} else if (!strcmp(way, "uring")) {
		write_by_uring(file);
	} else if (!strcmp(way, "flagged")) {
		check(pwritev2(file, &vector, 1, 0, RWF_DSYNC) == SIZE, "pwritev2");
	} else {
		for (int i = 0; i < writes; i++)
			check(pwrite(file, block, SIZE, i * SIZE) == SIZE, "pwrite");
	}
	if (!strcmp(way, "flushed"))
		check(fdatasync(file) == 0, "fdatasync");
	if (!strcmp(way, "grouped"))
		check(fsync(file) == 0, "fsync");
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	int file = open(argv[1], O_WRONLY | O_CREAT | (strcmp(argv[3], "dsync") ? 0 : O_DSYNC), 0600);
	FILE *account = fopen(argv[2], "w");
	check(file >= 0 && account, "open");
	for (long left = strtol(argv[4], NULL, 10); left > 0; left--) {
		uint64_t start_ns = now_ns();
		write_once(file, argv[3]);
		fprintf(account, "log %ju\n", (uintmax_t)(now_ns() - start_ns));
	}
	return fclose(account) == 0 ? 0 : 1;
}
