// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/early_end.h"

#include "base/clock.h"
#include "base/units.h"

#include <math.h>

#define PART_BYTES 40
#define HUNDRED_PERCENT UINT64_C(100000000)     // a percentile has up to six decimals
#define LOOKS 50                        // a step is checked again when it is longer by 1/LOOKS
// The evidence must reach this power of the odds, which the judge requires if blocks are correlated.
#define POWER 2
// Added to the logarithm of the required odds, as a margin for the writes that end after the decision.
#define SPARE 1
#define MINUTE 60
// A step counts as having slowed down if the number of writes in its last minute is less than SLOWER_SHARE of the number
// in its best minute.
#define SLOWER_SHARE 0.8

// Copies the text up to the next colon, and returns what follows; NULL if it is too long.
static const char *take(const char *text, char part[PART_BYTES]) {
    size_t length = strcspn(text, ":");
    if (length >= PART_BYTES) {
        return NULL;
    }
    (void)snprintf(part, PART_BYTES, "%.*s", (int)length, text);
    return text[length] == ':' ? text + length + 1 : text + length;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

// Parses a percentile such as 99_9, and sets the share of the writes above it.
static bool parse_percentile(const char *text, struct early_end_limit *limit) {
    size_t whole = strcspn(text, "_");
    const char *decimals = text[whole] == '_' ? text + whole + 1 : "";
    char digits[16];
    uint64_t value = 0;
    int length = snprintf(digits, sizeof digits, "%.*s%s%.*s", (int)whole, text, decimals,
                          6 - (int)strnlen(decimals, 6), "000000");
    if (whole == 0 || whole > 2 || (text[whole] == '_' && decimals[0] == '\0') || length != (int)whole + 6 ||
        !parse_integer(digits, &value) || value == 0) {
        return false;
    }
    uint64_t divisor = common_divisor(HUNDRED_PERCENT, HUNDRED_PERCENT - value);
    limit->part = (HUNDRED_PERCENT - value) / divisor;
    limit->whole = HUNDRED_PERCENT / divisor;
    return true;
}

static bool parse_figure(const char *text, struct early_end_limit *limit) {
    static const char writes[] = "latency_p", time[] = "latency_time_weighted_p";
    (void)snprintf(limit->figure, sizeof limit->figure, "%s", text);
    if (strcmp(text, "latency_max") == 0) {
        limit->method = BY_LONGEST;
        return true;
    }
    bool of_time = strncmp(text, time, sizeof time - 1) == 0;
    limit->method = of_time ? BY_SHARE_OF_TIME : BY_SHARE_OF_WRITES;
    return (of_time || strncmp(text, writes, sizeof writes - 1) == 0) &&
           parse_percentile(text + (of_time ? sizeof time : sizeof writes) - 1, limit);
}

// Parses a range such as 4K-64K; an empty text means every number.
static bool parse_range(char *text, uint64_t *min, uint64_t *max) {
    char *dash = strchr(text, '-');
    *min = 0;
    *max = UINT64_MAX;
    if (text[0] == '\0') {
        return true;
    }
    if (dash == NULL) {
        return false;
    }
    *dash = '\0';
    return parse_size(text, min) && parse_size(dash + 1, max) && *min <= *max;
}

static bool parse(const char *text, struct early_end_limit *limit) {
    char parts[4][PART_BYTES] = {"", "", "", ""};
    limit->given = text;
    for (int i = 0; i < 4 && text != NULL; i++) {
        text = take(text, parts[i]);
    }
    return text != NULL && text[0] == '\0' && parse_figure(parts[0], limit) &&
           parse_duration(parts[1], &limit->above_ns) && limit->above_ns > 0 &&
           limit->above_ns <= UINT64_C(3600000000000) &&
           parse_range(parts[2], &limit->bytes_min, &limit->bytes_max) &&
           parse_range(parts[3], &limit->load_min, &limit->load_max);
}

static struct evidence_second *room_for(size_t seconds) {
    return calloc(seconds, sizeof(struct evidence_second));
}

bool early_end_open(struct early_end *early_end, const struct options *options, struct failure *failure) {
    const struct text_list *given = &options->fail_above;
    early_end->evidence = POWER * log((double)options->fail_odds) + SPARE;
    early_end->room = options->duration_s < EARLY_END_SECONDS_MAX ? options->duration_s : EARLY_END_SECONDS_MAX;
    early_end->planned_s = options->duration_s;
    early_end->evidence_kept = log((double)options->pass_odds) + SPARE;
    early_end->pass_after_s = options->pass_after_s;
    early_end->ring_bytes = options->files * options->file_bytes;
    if (options->pass_after_s > 0 && given->count == 0) {
        return failure_set(failure, EXIT_USAGE, "--passAfter needs the limits that have to be kept; add --failAbove");
    }
    bool memory = given->count == 0 ||
                  ((early_end->copy = room_for(early_end->room)) != NULL &&
                   (early_end->writes = calloc(early_end->room, sizeof *early_end->writes)) != NULL);
    for (size_t i = 0; i < given->count; i++) {
        struct early_end_limit *limit = &early_end->limits[early_end->count++];
        if (!parse(given->values[i], limit)) {
            return failure_set(failure, EXIT_USAGE,
                               "--failAbove: '%.200s' is not allowed; allowed: FIGURE:TIME[:SIZES[:LOADS]], with the "
                               "figure latency_max, latency_pN or latency_time_weighted_pN, and at most 3600s; try "
                               "--failAbove=latency_p99:2ms:4K-64K",
                               given->values[i]);
        }
        memory = memory && (limit->method == BY_LONGEST || (limit->seconds = room_for(early_end->room)) != NULL);
    }
    return memory || failure_set(failure, EXIT_REFUSED, "--failAbove: no memory");
}

void early_end_begin_step(struct early_end *early_end, uint64_t block_bytes, uint64_t load_point) {
    early_end->seconds = 0;
    early_end->block_bytes = block_bytes;
    early_end->next_look = EARLY_END_SECONDS_MIN;
    for (size_t i = 0; i < early_end->count; i++) {
        struct early_end_limit *limit = &early_end->limits[i];
        limit->applies = block_bytes >= limit->bytes_min && block_bytes <= limit->bytes_max &&
                         load_point >= limit->load_min && load_point <= limit->load_max;
    }
}

// Returns the number of writes in the best second of the step so far.
static uint64_t most(const struct early_end *early_end) {
    uint64_t found = 0;
    for (size_t i = 0; i < early_end->seconds; i++) {
        found = early_end->writes[i] > found ? early_end->writes[i] : found;
    }
    return found;
}

// Returns a copy of the seconds for a limit on a share of writes or time, and sets the claim about them.
static struct evidence_second *seconds_of(struct early_end *early_end, const struct early_end_limit *limit,
                                          uint32_t writers, uint64_t fastest_ns, struct evidence_claim *claim) {
    *claim = (struct evidence_claim){
        .part = limit->part, .whole = limit->whole, .writers = writers, .threshold_ns = limit->above_ns};
    memcpy(early_end->copy, limit->seconds, early_end->seconds * sizeof *limit->seconds);
    if (limit->method == BY_SHARE_OF_WRITES) {
        claim->fastest_ns = fastest_ns;
    } else {
        evidence_move_back(early_end->copy, early_end->seconds, writers);
    }
    return early_end->copy;
}

static bool is_broken(struct early_end *early_end, const struct early_end_limit *limit, uint32_t writers,
                      uint64_t fastest_ns) {
    struct evidence_claim claim;
    struct evidence_second *seconds = seconds_of(early_end, limit, writers, fastest_ns, &claim);
    struct evidence_step step = {.running = seconds, .seconds = early_end->seconds, .planned_s = early_end->planned_s};
    step.quick = limit->method == BY_SHARE_OF_WRITES ? most(early_end) : writers * NS_PER_S;
    evidence_add_up(seconds, step.seconds);
    return evidence_against(&claim, &step) >= early_end->evidence;
}

static bool is_kept(struct early_end *early_end, const struct early_end_limit *limit, uint64_t fastest_ns) {
    struct evidence_claim claim;
    const struct evidence_second *seconds = seconds_of(early_end, limit, 1, fastest_ns, &claim);
    return evidence_for(&claim, seconds, early_end->seconds) >= early_end->evidence_kept;
}

static uint64_t sum(const uint64_t *writes, size_t count) {
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all += writes[i];
    }
    return all;
}

static bool is_slower_than_before(const struct early_end *early_end) {
    const uint64_t *writes = early_end->writes;
    uint64_t minute = sum(writes, MINUTE), best = minute;
    for (size_t second = MINUTE; second < early_end->seconds; second++) {
        minute += writes[second] - writes[second - MINUTE];
        best = minute > best ? minute : best;
    }
    return (double)minute < SLOWER_SHARE * (double)best;
}

// Returns true if every limit that applies to the step is kept, and at least one applies. A limit on latency_max needs
// no evidence: it is kept as long as no write breaks it.
static bool all_are_kept(struct early_end *early_end, uint64_t fastest_ns) {
    bool any = false;
    for (size_t i = 0; i < early_end->count; i++) {
        const struct early_end_limit *limit = &early_end->limits[i];
        if (limit->applies && limit->method != BY_LONGEST && !is_kept(early_end, limit, fastest_ns)) {
            return false;
        }
        any |= limit->applies;
    }
    return any && sum(early_end->writes, early_end->seconds) * early_end->block_bytes >= early_end->ring_bytes &&
           !is_slower_than_before(early_end);
}

static bool end(struct early_end *early_end, uint32_t step, const struct early_end_limit *limit,
                const struct distribution *latency) {
    char why[160];
    if (limit->method == BY_LONGEST) {
        (void)snprintf(why, sizeof why, "a write took %" PRIu64 " ns, and more than %" PRIu64 " ns break latency_max",
                       latency->max_ns, limit->above_ns);
    } else {
        (void)snprintf(why, sizeof why, "there is evidence that %s is above %" PRIu64 " ns", limit->figure,
                       limit->above_ns);
    }
    early_end->broken = limit;
    early_end->step = step;
    (void)snprintf(early_end->reason, sizeof early_end->reason,
                   "step %" PRIu32 " was ended after %zu s because %s: no further steps were made", step,
                   early_end->seconds, why);
    return true;
}

static void count_second(struct early_end *early_end, const struct distribution *latency) {
    for (size_t i = 0; i < early_end->count; i++) {
        const struct early_end_limit *limit = &early_end->limits[i];
        bool of_time = limit->method == BY_SHARE_OF_TIME;
        if (limit->applies && limit->seconds != NULL) {
            struct distribution_over over = distribution_over(latency, limit->above_ns);
            limit->seconds[early_end->seconds] = (struct evidence_second){
                .total = of_time ? latency->sum_ns : latency->count, .over = of_time ? over.sum_ns : over.count};
        }
    }
    early_end->writes[early_end->seconds++] = latency->count;
}

bool early_end_second(struct early_end *early_end, uint32_t step, const struct distribution *latency, uint32_t writers,
                      uint64_t fastest_ns) {
    if (early_end->count == 0 || early_end->broken != NULL || early_end->kept_step == step ||
        early_end->seconds == early_end->room) {
        return false;
    }
    count_second(early_end, latency);
    bool looks = early_end->seconds >= early_end->next_look;
    if (looks) {
        early_end->next_look = early_end->seconds + 1 + early_end->seconds / LOOKS;
    }
    for (size_t i = 0; i < early_end->count; i++) {
        const struct early_end_limit *limit = &early_end->limits[i];
        if (limit->applies && (limit->method == BY_LONGEST
                                   ? latency->max_ns > limit->above_ns
                                   : looks && is_broken(early_end, limit, writers, fastest_ns))) {
            return end(early_end, step, limit, latency);
        }
    }
    // One second more than requested, because the last second of a step is not a whole one.
    if (looks && writers == 1 && early_end->pass_after_s > 0 && early_end->seconds > early_end->pass_after_s &&
        all_are_kept(early_end, fastest_ns)) {
        early_end->kept_step = step;
        text_printf(&early_end->kept_steps, "%s%" PRIu32, early_end->kept_steps.length > 0 ? " " : "", step);
        return true;
    }
    return false;
}
