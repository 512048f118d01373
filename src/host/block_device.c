// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "host/block_device.h"

#include "host/procfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_DEPTH_MAX 8

bool block_directory(struct block_number number, char device[BLOCK_PATH_BYTES]) {
    char link[64];
    (void)snprintf(link, sizeof link, "/sys/dev/block/%u:%u", number.major, number.minor);
    return number.major > 0 && realpath(link, device) != NULL;
}

static bool has(const char *directory, const char *name) {
    char path[BLOCK_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

void block_disk(const char *device, char disk[BLOCK_PATH_BYTES]) {
    (void)snprintf(disk, BLOCK_PATH_BYTES, "%s", device);
    char *slash = strrchr(disk, '/');
    if (has(device, "partition") && slash != NULL) {
        *slash = '\0';
    }
}

void block_fact(const char *directory, const char *name, char *fact, size_t fact_bytes) {
    char path[BLOCK_PATH_BYTES + 64];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!read_text(path, fact, fact_bytes)) {
        fact[0] = '\0';
    }
}

struct block_number block_number_of(const char *device) {
    char text[BLOCK_FACT_BYTES];
    struct block_number number = {0};
    block_fact(device, "dev", text, sizeof text);
    (void)parse_device_number(text, &number.major, &number.minor);
    return number;
}

const char *block_name(const char *device) {
    const char *slash = strrchr(device, '/');
    return slash != NULL ? slash + 1 : device;
}

static void append(char stack[BLOCK_STACK_BYTES], const char *text) {
    size_t used = strlen(stack);
    (void)snprintf(stack + used, BLOCK_STACK_BYTES - used, "%s", text);
}

static void append_name(struct block_stack *stack, const char *device) {
    char label[BLOCK_FACT_BYTES];
    append(stack->text, block_name(device));
    block_fact(device, "dm/name", label, sizeof label);
    if (label[0] != '\0') {
        append(stack->text, " (");
        append(stack->text, label);
        append(stack->text, ")");
    }
}

static void add_bottom(struct block_stack *stack, const char *disk) {
    struct block_number number = block_number_of(disk);
    if (number.major > 0 && stack->bottoms_count < BLOCK_BOTTOMS_MAX) {
        stack->bottoms[stack->bottoms_count++] = number;
    }
}

static void walk_down(struct block_stack *stack, const char *device, int depth) {
    char disk[BLOCK_PATH_BYTES], slaves[BLOCK_PATH_BYTES + 16];
    append_name(stack, device);
    block_disk(device, disk);
    if (strcmp(disk, device) != 0) {
        append(stack->text, " > ");
        append_name(stack, disk);
    }
    (void)snprintf(slaves, sizeof slaves, "%s/slaves", disk);
    DIR *directory = depth < STACK_DEPTH_MAX ? opendir(slaves) : NULL;
    struct dirent *entry;
    int members = 0;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char link[BLOCK_PATH_BYTES + 300], below[BLOCK_PATH_BYTES];
        (void)snprintf(link, sizeof link, "%s/%s", slaves, entry->d_name);
        if (entry->d_name[0] == '.' || realpath(link, below) == NULL) {
            continue;
        }
        append(stack->text, members++ == 0 ? " > " : " + ");
        walk_down(stack, below, depth + 1);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    if (members == 0) {
        add_bottom(stack, disk);
    }
}

void block_walk(struct block_stack *stack, const char *device) {
    *stack = (struct block_stack){0};
    walk_down(stack, device, 0);
}
