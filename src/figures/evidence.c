// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures/evidence.h"

#include "base/clock.h"

#include <math.h>

#define BLOCKS_MIN 20                   // the minimum in statistics.py
#define STAKES 6                        // stakes of 1, 1/4, 1/16 ... of the largest possible stake, equally weighted

// The stakes on a claim that is kept, and their weights.
static const double kept_stakes[] = {1, 0.5, 0.25, 0.125}, kept_weights[] = {0.6, 0.2, 0.1, 0.1};
#define KEPT_STAKES (sizeof kept_stakes / sizeof kept_stakes[0])

// Returns the largest possible total in a block.
static double most_in_all(const struct evidence_claim *claim, size_t block_s) {
    uint64_t ns = block_s * NS_PER_S;
    return (double)claim->writers * (double)(claim->fastest_ns > 0 ? ns / claim->fastest_ns + 1 : ns);
}

static double spare(const struct evidence_claim *claim, const struct evidence_second *sum) {
    return (double)claim->part * (double)sum->total - (double)claim->whole * (double)sum->over;
}

// Returns the sum of the seconds from first to end. Those that are not measured yet are quick.
static struct evidence_second sum_of(const struct evidence_step *step, size_t first, size_t end) {
    struct evidence_second sum = {0};
    size_t measured = end < step->seconds ? end : step->seconds, quick = first > measured ? first : measured;
    if (measured > first) {
        const struct evidence_second *before = first > 0 ? &step->running[first - 1] : &sum;
        sum = (struct evidence_second){step->running[measured - 1].total - before->total,
                                       step->running[measured - 1].over - before->over};
    }
    sum.total += (end - quick) * step->quick;
    return sum;
}

// Adds the bets on a number of equal blocks.
static void bet(double logarithms[STAKES], double gain, size_t blocks) {
    double stake = 1;
    for (int i = 0; i < STAKES && blocks > 0; i++, stake /= 4) {
        logarithms[i] += stake * gain > -1 ? (double)blocks * log1p(stake * gain) : -INFINITY;
    }
}

static double weighted_sum(const double logarithms[STAKES]) {
    double greatest = -INFINITY, sum = 0;
    for (int i = 0; i < STAKES; i++) {
        greatest = fmax(greatest, logarithms[i]);
    }
    for (int i = 0; i < STAKES && greatest > -INFINITY; i++) {
        sum += exp(logarithms[i] - greatest) / STAKES;
    }
    return greatest > -INFINITY ? greatest + log(sum) : greatest;
}

double evidence_of_blocks(const struct evidence_claim *claim, const struct evidence_step *step, size_t block_s,
                          size_t first_s) {
    struct evidence_second all = sum_of(step, 0, step->planned_s);
    double logarithms[STAKES] = {0}, most = (double)claim->part * most_in_all(claim, block_s);
    if (spare(claim, &all) >= 0) {
        return -INFINITY;
    }
    for (size_t at = 0, end; at < step->planned_s; at = end) {
        size_t blocks = at >= step->seconds ? (step->planned_s - at) / block_s : 1;     // equal ones at the end
        blocks = blocks > 0 ? blocks : 1;
        end = at == 0 && first_s > 0 ? first_s : at + block_s;
        end = end < step->planned_s ? end : step->planned_s;
        struct evidence_second block = sum_of(step, at, end);
        bet(logarithms, -spare(claim, &block) / most, blocks);
        end += (blocks - 1) * block_s;
    }
    return weighted_sum(logarithms);
}

// Returns the largest part of a second's total that can be over the threshold.
static double most_over(const struct evidence_claim *claim) {
    const uint64_t hundredths = 100 * claim->threshold_ns, second = 101 * NS_PER_S;    // 1.01: the width of a bucket
    return (double)claim->writers *
           (double)(claim->fastest_ns > 0 ? (second + hundredths - 1) / hundredths : NS_PER_S);
}

double evidence_for(const struct evidence_claim *claim, const struct evidence_second *seconds, size_t count) {
    double logarithms[KEPT_STAKES] = {0}, most = (double)(claim->whole - claim->part) * most_over(claim), sum = 0;
    for (size_t at = 0; at < count; at++) {
        double gain = spare(claim, &seconds[at]) / most;
        if (gain < 0) {
            return -INFINITY;
        }
        for (size_t i = 0; i < KEPT_STAKES; i++) {
            logarithms[i] += log1p(kept_stakes[i] * gain);
        }
    }
    for (size_t i = 0; i < KEPT_STAKES; i++) {      // the first stake is the greatest, and no gain is negative
        sum += kept_weights[i] * exp(logarithms[i] - logarithms[0]);
    }
    return logarithms[0] + log(sum);
}

double evidence_against(const struct evidence_claim *claim, const struct evidence_step *step) {
    double least = INFINITY;
    size_t planned_s = step->planned_s + 1;
    for (size_t block_s = 1; block_s == 1 || (planned_s + block_s - 1) / block_s >= BLOCKS_MIN; block_s *= 2) {
        for (size_t first_s = 0; first_s < block_s; first_s++) {
            least = fmin(least, evidence_of_blocks(claim, step, block_s, first_s));
        }
    }
    return least;
}

void evidence_add_up(struct evidence_second *seconds, size_t count) {
    for (size_t i = 1; i < count; i++) {
        seconds[i].total += seconds[i - 1].total;
        seconds[i].over += seconds[i - 1].over;
    }
}

void evidence_move_back(struct evidence_second *seconds, size_t count, uint64_t writers) {
    uint64_t carry = 0;
    for (size_t i = count; i-- > 0;) {
        struct evidence_second *second = &seconds[i];
        second->over = second->over < second->total ? second->over : second->total;
        uint64_t quick = second->total - second->over, most = writers * NS_PER_S;
        uint64_t room = most > quick ? most - quick : 0, slow = second->over + carry;
        second->over = slow < room ? slow : room;
        second->total = quick + second->over;
        carry = slow - second->over;
    }
}
