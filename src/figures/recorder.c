// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "figures/recorder.h"

void recorder_start_step(struct recorder *recorder, struct timeline timeline, struct recorder_sink sink) {
    recorder->timeline = timeline;
    recorder->sink = sink;
    recorder->cut = timeline_first(&timeline);
    distribution_clear(&recorder->second);
    distribution_clear(&recorder->batch);
    distribution_clear(&recorder->round);
    distribution_clear(&recorder->step);
    memset(recorder->rounds, 0, sizeof recorder->rounds);
    recorder->rounds_done = 0;
    recorder->seconds = (struct seconds){0};
    recorder->finalised = 0;
}

static void raise_to(_Atomic uint64_t *value, uint64_t candidate) {
    uint64_t seen = *value;
    while (candidate > seen && !atomic_compare_exchange_weak(value, &seen, candidate)) {
    }
}

void recorder_add(struct recorder *recorder, uint32_t cut, const struct distribution *slot) {
    if (slot->count == 0) {
        return;
    }
    struct pending_slot *pending = &recorder->pending[cut % RECORDER_PENDING];
    struct bucket_range range = distribution_range(slot);
    pending->count += slot->count;
    pending->bytes += slot->bytes;
    pending->response_sum_ns += slot->response_sum_ns;
    pending->sum_ns += slot->sum_ns;
    raise_to(&pending->max_ns, slot->max_ns);
    raise_to(&pending->min_ns_below_max, UINT64_MAX - slot->min_ns);
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        if (slot->buckets[bucket] > 0) {
            pending->buckets[bucket] += (uint32_t)slot->buckets[bucket];
        }
    }
}

static uint64_t round_begin_ns(const struct recorder *recorder, uint32_t rounds_before) {
    return recorder->timeline.start_ns + recorder->timeline.duration_ns * rounds_before / TIMELINE_ROUNDS;
}

static void end_round(struct recorder *recorder, uint64_t end_ns) {
    uint64_t begin_ns = round_begin_ns(recorder, recorder->rounds_done);
    struct round_figures *figures = &recorder->rounds[recorder->rounds_done++];
    figures->operations = recorder->round.count;
    figures->bytes = recorder->round.bytes;
    figures->latency_sum_ns = recorder->round.sum_ns;
    figures->elapsed_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
    figures->partial = end_ns < round_begin_ns(recorder, recorder->rounds_done);
    figures->has_p99 = distribution_percentile_ns(&recorder->round, BY_COUNT, 990000, &figures->latency_p99_ns);
    distribution_clear(&recorder->round);
}

static void end_batch(struct recorder *recorder, uint32_t batch, uint64_t end_ns) {
    recorder->sink.batch(&recorder->sink, batch, &recorder->batch);
    distribution_merge(&recorder->round, &recorder->batch);
    distribution_clear(&recorder->batch);
    if (batch % TIMELINE_BATCHES_A_ROUND == 0) {
        end_round(recorder, end_ns);
    }
}

static void end_second(struct recorder *recorder, uint32_t second, bool partial) {
    recorder->sink.second(&recorder->sink, second, partial, &recorder->second);
    if (!partial) {
        seconds_add(&recorder->seconds, recorder->second.bytes);
    }
    distribution_clear(&recorder->second);
}

// Adds the pending slot of the current cut to the second, the batch and the step, and clears it.
static void take_over(struct recorder *recorder) {
    struct pending_slot *pending = &recorder->pending[recorder->cut.index % RECORDER_PENDING];
    struct distribution *slot = &recorder->slot;
    if (pending->count == 0) {
        return;
    }
    distribution_clear(slot);
    slot->count = atomic_exchange(&pending->count, 0);
    slot->bytes = atomic_exchange(&pending->bytes, 0);
    slot->response_sum_ns = atomic_exchange(&pending->response_sum_ns, 0);
    slot->sum_ns = atomic_exchange(&pending->sum_ns, 0);
    slot->max_ns = atomic_exchange(&pending->max_ns, 0);
    slot->min_ns = UINT64_MAX - atomic_exchange(&pending->min_ns_below_max, 0);
    struct bucket_range range = distribution_range(slot);
    for (unsigned bucket = range.first; bucket <= range.last; bucket++) {
        slot->buckets[bucket] = atomic_exchange(&pending->buckets[bucket], 0);
    }
    distribution_merge(&recorder->second, slot);
    distribution_merge(&recorder->batch, slot);
    distribution_merge(&recorder->step, slot);
}

void recorder_finalise_next(struct recorder *recorder) {
    struct cut cut = recorder->cut;
    if (cut.index > 0) {
        take_over(recorder);
        if (cut.ends_second) {
            end_second(recorder, cut.second, false);
        }
        if (cut.ends_batch) {
            end_batch(recorder, cut.batch, cut.end_ns);
        }
    }
    recorder->cut = timeline_next(&recorder->timeline, &cut);
    recorder->finalised = recorder->cut.index;
}

void recorder_finish(struct recorder *recorder, uint64_t end_ns) {
    while (recorder->cut.end_ns <= end_ns) {
        recorder_finalise_next(recorder);
    }
    struct cut cut = recorder->cut;
    if (cut.index == 0) {
        return;
    }
    take_over(recorder);
    uint64_t second_begin_ns = recorder->timeline.start_ns + (cut.second - 1) * NS_PER_S;
    if (recorder->second.count > 0 || end_ns > second_begin_ns) {
        end_second(recorder, cut.second, true);
    }
    uint64_t batch_begin_ns = recorder->timeline.start_ns +
                              recorder->timeline.duration_ns * (cut.batch - 1) / TIMELINE_BATCHES;
    if (recorder->batch.count > 0 || end_ns > batch_begin_ns) {
        end_batch(recorder, cut.batch, end_ns);
    }
    bool in_round = recorder->rounds_done < TIMELINE_ROUNDS && end_ns > round_begin_ns(recorder, recorder->rounds_done);
    if (recorder->round.count > 0 || in_round) {
        end_round(recorder, end_ns);
    }
}
