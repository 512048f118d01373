// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tests of the protocol of --lock, and of the records that lockers use as counters.
#include "lock/protocol.h"
#include "lock/record.h"
#include "check.h"

#include <signal.h>

void test_commands(void) {
    static const struct {
        const char *line;
        struct command wanted;
    } cases[] = {
        {"1 start", {1, ACTION_START, "", {0}, ""}},
        {"64 create log 16777216", {64, ACTION_CREATE, "log", {16777216}, ""}},
        {"2 create a_b-9 4096", {2, ACTION_CREATE, "a_b-9", {4096}, ""}},
        {"3 open record", {3, ACTION_OPEN, "record", {0}, ""}},
        {"3 lock lock try 100", {3, ACTION_LOCK_TRY, "lock", {100}, ""}},
        {"3 lock lock wait", {3, ACTION_LOCK_WAIT, "lock", {0}, ""}},
        {"3 lock lock poll 2000", {3, ACTION_LOCK_POLL, "lock", {2000}, ""}},
        {"3 lock wait wait", {3, ACTION_LOCK_WAIT, "wait", {0}, ""}},
        {"3 test lock", {3, ACTION_TEST, "lock", {0}, ""}},
        {"3 unlock lock", {3, ACTION_UNLOCK, "lock", {0}, ""}},
        {"3 close lock", {3, ACTION_CLOSE, "lock", {0}, ""}},
        {"3 exit", {3, ACTION_EXIT, "", {0}, ""}},
        {"3 kill", {3, ACTION_KILL, "", {0}, ""}},
        {"3 stop lock", {3, ACTION_STOP_LOCK, "", {0}, ""}},
        {"3 stop verify", {3, ACTION_STOP_VERIFY, "", {0}, ""}},
        {"3 stop write", {3, ACTION_STOP_WRITE, "", {0}, ""}},
        {"3 add record 0", {3, ACTION_ADD, "record", {0}, ""}},
        {"3 verify lock 2000", {3, ACTION_VERIFY, "lock", {2000}, ""}},
        {"3 write log 18446744073709551615 1000", {3, ACTION_WRITE, "log", {UINT64_MAX, 1000}, ""}},
        {"3 scan log 1 2 3 4 5", {3, ACTION_SCAN, "log", {1, 2, 3, 4, 5}, ""}},
        {"3 nonce n write 00ff", {3, ACTION_NONCE_WRITE, "n", {0}, "00ff"}},
        {"3 nonce n read", {3, ACTION_NONCE_READ, "n", {0}, ""}},
        {"3 many m 10000", {3, ACTION_MANY, "m", {10000}, ""}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct command command;
        char message[PROTOCOL_MESSAGE_BYTES];
        const struct command *wanted = &cases[i].wanted;
        CHECK_CASE(command_parse(&command, cases[i].line, message) && message[0] == '\0', cases[i].line);
        CHECK_CASE(command.number == wanted->number && command.action == wanted->action, cases[i].line);
        CHECK_CASE(strcmp(command.file, wanted->file) == 0 && strcmp(command.hex, wanted->hex) == 0, cases[i].line);
        CHECK_CASE(memcmp(command.values, wanted->values, sizeof command.values) == 0, cases[i].line);
    }
}

void test_wrong_commands(void) {
    static const struct {
        const char *line;
        uint32_t number;
        const char *part;               // of the message
    } cases[] = {
        {"", 0, "1 to 64"},
        {"start", 0, "1 to 64"},
        {"0 start", 0, "1 to 64"},
        {"65 start", 0, "1 to 64"},
        {"+1 start", 0, "1 to 64"},
        {" 1 start", 0, "1 to 64"},
        {"1", 1, "unknown command"},
        {"1 ", 1, "unknown command"},
        {"1 remove", 1, "unknown command"},
        {"1 START", 1, "unknown command"},
        {"1 start ", 1, "expected: NUMBER start"},
        {"1  start", 1, "unknown command"},
        {"1 start now", 1, "expected: NUMBER start"},
        {"1 open", 1, "expected: NUMBER open FILE"},
        {"1 open ", 1, "expected: NUMBER open FILE"},
        {"1 open  lock", 1, "expected: NUMBER open FILE"},
        {"1 open a/b", 1, "FILE must be 1 to 64"},
        {"1 open ..", 1, "FILE must be"},
        {"1 open .mqops-logdisk.json", 1, "FILE must be"},
        {"1 open Lock", 1, "FILE must be"},
        {"1 open l\xc3\xb6", 1, "FILE must be"},
        {"1 open aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1, "FILE must be"},
        {"1 many aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 9", 1, "PREFIX must be 1 to 59"},
        {"1 many m 0", 1, "FILES must be 1 to 10000"},
        {"1 many m 10001", 1, "FILES must be"},
        {"1 create log 0", 1, "BYTES must be a multiple of 4096"},
        {"1 create log 512", 1, "BYTES must be"},
        {"1 create log 4K", 1, "BYTES must be"},
        {"1 create log 1099511631872", 1, "BYTES must be"},
        {"1 create log -4096", 1, "BYTES must be"},
        {"1 lock lock try", 1, "or NUMBER lock FILE poll MS"},
        {"1 lock lock try 0", 1, "COUNT must be 1 to"},
        {"1 lock lock poll 0", 1, "MS must be 1 to"},
        {"1 lock lock wait 1", 1, "expected: NUMBER lock FILE try COUNT"},
        {"1 lock lock hold", 1, "expected: NUMBER lock FILE try COUNT"},
        {"1 stop add", 1, "expected: NUMBER stop lock, or NUMBER stop verify"},
        {"1 write log 18446744073709551616 0", 1, "SEED must be"},
        {"1 write log 1 3600001", 1, "PAUSE must be"},
        {"1 scan log 1 2", 1, "expected: NUMBER scan FILE SEED SEED WRITES"},
        {"1 nonce n write", 1, "NUMBER nonce FILE read"},
        {"1 nonce n write 0", 1, "HEX must be 2 to 256"},
        {"1 nonce n write 0G", 1, "HEX must be"},
        {"1 nonce n write FF", 1, "HEX must be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct command command;
        char message[PROTOCOL_MESSAGE_BYTES];
        CHECK_CASE(!command_parse(&command, cases[i].line, message), cases[i].line);
        CHECK_CASE(command.number == cases[i].number && strstr(message, cases[i].part) != NULL, cases[i].line);
    }
}

// Texts that are just too long, and the longest one that is allowed.
static void check_long_hex(void) {
    struct command command;
    char line[PROTOCOL_LINE_BYTES] = "1 nonce n write ", message[PROTOCOL_MESSAGE_BYTES];
    size_t length = strlen(line);
    memset(line + length, 'a', PROTOCOL_HEX_MAX + 2);
    CHECK(!command_parse(&command, line, message));
    line[length + PROTOCOL_HEX_MAX] = '\0';
    CHECK(command_parse(&command, line, message) && strlen(command.hex) == PROTOCOL_HEX_MAX);
}

void test_answers(void) {
    static const struct {
        struct answer answer;
        const char *wanted;
    } cases[] = {
        {{1, ACTION_START, ANSWER_DONE, 0, 0, 1, {{FIGURE_PID, 77}}, ""}, "1 start done pid=77\n"},
        {{2, ACTION_LOCK_TRY, ANSWER_REFUSED, EAGAIN, 0, 2, {{FIGURE_TRIES, 100}, {FIGURE_AFTER_NS, 5}}, ""},
         "2 lock refused tries=100 after_ns=5 errno=EAGAIN\n"},
        {{2, ACTION_LOCK_WAIT, ANSWER_FAILED, ENOLCK, 0, 0, {{0, 0}}, ""}, "2 lock failed errno=ENOLCK\n"},
        {{3, ACTION_EXIT, ANSWER_ENDED, 0, 0, 1, {{FIGURE_STATUS, 0}}, ""}, "3 exit ended status=0\n"},
        {{3, ACTION_KILL, ANSWER_ENDED, 0, SIGKILL, 0, {{0, 0}}, ""}, "3 kill ended signal=KILL\n"},
        {{3, ACTION_EXIT, ANSWER_ENDED, 0, SIGXCPU, 0, {{0, 0}}, ""}, "3 exit ended signal=24\n"},
        {{64, ACTION_MANY, ANSWER_DONE, 0, 0, 1, {{FIGURE_HELD, 512}}, ""}, "64 many done held=512 errno=-\n"},
        {{4, ACTION_NONCE_READ, ANSWER_DONE, 0, 0, 0, {{0, 0}}, "00ff"}, "4 nonce done hex=00ff\n"},
        {{4, ACTION_NONCE_READ, ANSWER_FAILED, EIO, 0, 0, {{0, 0}}, ""}, "4 nonce failed errno=EIO hex=-\n"},
        {{5, ACTION_WRITE, ANSWER_EACH, 0, 0, 1, {{FIGURE_COUNT, UINT64_MAX}}, ""},
         "5 write each count=18446744073709551615\n"},
    };
    struct text text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        text_cut(&text, 0);
        answer_put(&text, &cases[i].answer);
        CHECK_CASE(strcmp(text.bytes, cases[i].wanted) == 0, text.bytes);
    }
    text_cut(&text, 0);
    answer_put_usage(&text, 0, "unknown command");
    CHECK(strcmp(text.bytes, "0 error usage unknown command\n") == 0);
    text_free(&text);
    check_long_hex();
}

// A mixture of two records is recognized as neither of them, wherever the boundary is.
void test_records(void) {
    static _Alignas(PROTOCOL_PAGE_BYTES) unsigned char old[PROTOCOL_PAGE_BYTES], new[PROTOCOL_PAGE_BYTES],
        mixed[PROTOCOL_PAGE_BYTES];
    uint64_t number;
    record_fill(old, 7);
    record_fill(new, 8);
    CHECK(record_is_whole(old, &number) && number == 7);
    CHECK(record_is_whole(new, &number) && number == 8);
    for (size_t border = 8; border < PROTOCOL_PAGE_BYTES; border += 8) {
        memcpy(mixed, new, border);
        memcpy(mixed + border, old + border, PROTOCOL_PAGE_BYTES - border);
        CHECK(!record_is_whole(mixed, &number));
    }
    memset(mixed, 0, sizeof mixed);
    CHECK(!record_is_whole(mixed, &number));
}
