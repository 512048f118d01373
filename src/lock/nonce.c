// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/nonce.h"

#define BEGIN "nonce "                  // in front of the text, which ends with a line feed

static _Alignas(PROTOCOL_PAGE_BYTES) unsigned char page[PROTOCOL_PAGE_BYTES];

static void answer_hex(struct locker *locker, const struct command *command, int error, const char *hex) {
    struct answer answer = locker_answer_to(locker, command);
    answer.outcome = error != 0 ? ANSWER_FAILED : ANSWER_DONE;
    answer.error = error;
    (void)snprintf(answer.hex, sizeof answer.hex, "%s", error == 0 ? hex : "");
    locker_answer(locker, &answer);
}

void nonce_write(struct locker *locker, const struct command *command) {
    const struct opened_file *file = locker_file(locker, command->file);
    memset(page, 0, sizeof page);
    (void)snprintf((char *)page, sizeof page, BEGIN "%s\n", command->hex);
    answer_hex(locker, command, file == NULL ? EBADF : locker_write_page(file->fd, page), command->hex);
}

// Returns the digits of the nonce in the page; an empty text if the page does not contain a nonce.
static const char *text_of_page(void) {
    char *text = (char *)page + strlen(BEGIN);
    size_t length = strspn(text, "0123456789abcdef");
    bool is_nonce = memcmp(page, BEGIN, strlen(BEGIN)) == 0 && length <= PROTOCOL_HEX_MAX && text[length] == '\n';
    text[is_nonce ? length : 0] = '\0';
    return text;
}

void nonce_read(struct locker *locker, const struct command *command) {
    const struct opened_file *file = locker_file(locker, command->file);
    int error = file == NULL ? EBADF : locker_read_page(file->fd, page);
    page[PROTOCOL_PAGE_BYTES - 1] = '\0';
    answer_hex(locker, command, error, text_of_page());
}
