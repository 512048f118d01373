#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces more than 1,000,000 operations of the streams of SPC-1 v1 on tmpfs,
and compares them with their specification.

    benchmarks/streams.py [LOAD]        LOAD in BSU of 50 operations per second, default 1700

The read fractions are first those of the specification, and then those of pblio's generator. Shares, read fractions and
sizes have to be within 1 %, and arrivals have to be exponential (Kolmogorov-Smirnov test). Addresses have to be in
their regions, and those of random streams have to be evenly distributed (chi-square test over 100 regions). The
significance level of both tests is 0.1 %. The benchmark fails if any of these conditions is not met.
"""

import collections
import csv
import math
import os
import subprocess
import sys
import tempfile

SRC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
OPERATIONS, IOPS_A_BSU, PLACE_BYTES = 1000000, 50, {"asu1": 180 << 20, "asu2": 180 << 20, "asu3": 40 << 20}
MIX = {4096: 0.40, 8192: 0.24, 16384: 0.20, 32768: 0.08, 65536: 0.08}
SIZES = "+".join("%d:%g" % (size, 100 * share) for size, share in MIX.items())
# By stream: its share of the operations, the fraction of reads as specified and in pblio, its pattern, and the regions
# (percent) that it may reach.
STREAMS = {
    "asu1-1": (0.035, 0.50, 0.75, "random,size=4K", (0, 100)),
    "asu1-2": (0.281, 0.50, 0.75, "walk,start=15%,width=5%,size=4K", (15, 20)),
    "asu1-3": (0.070, 1.00, 1.00, "runs,start=20%-60%,run=10%,size=" + SIZES, (20, 70)),
    "asu1-4": (0.210, 0.50, 0.75, "walk,start=70%,width=5%,size=4K", (70, 75)),
    "asu2-1": (0.018, 0.30, 0.60, "random,size=4K", (0, 100)),
    "asu2-2": (0.070, 0.30, 0.60, "walk,start=47%,width=5%,size=4K", (47, 52)),
    "asu2-3": (0.035, 1.00, 1.00, "runs,start=20%-60%,run=10%,size=" + SIZES, (20, 70)),
    "asu3-1": (0.281, 0.00, 0.00, "runs,start=0%-70%,run=30%,size=" + SIZES, (0, 100)),
}


def trace(directory, load, reads_column):
    path = os.path.join(directory, "trace.csv")
    command = [
        SRC + "/build/logdisk",
        "--load=%d" % load,
        "--fileSize=4M",
        "--numFiles=100",
        "--reserve=0",
        "--sync=none",
        "--shareDevice",
    ]
    # The trace has space for more operations than expected, because a full trace would lack the operations that waited
    # longest, and thus their arrivals.
    command += [
        "--duration=%d" % (OPERATIONS / IOPS_A_BSU / load + 2),
        "--trace=" + path,
        "--traceOperations=%d" % (2 * OPERATIONS),
    ]
    command += [
        "--place=name=%s,dir=%s,share=%d%%,direct=no" % (place, directory, size / (4 << 20))
        for place, size in PLACE_BYTES.items()
    ]
    for name, terms in STREAMS.items():
        rate = IOPS_A_BSU * terms[0]
        options = "read=%g%%,arrival=exponential,rate=%g*load,workers=32" % (100 * terms[reads_column], rate)
        command.append("--stream=name=%s,place=%s,pattern=%s,%s" % (name, name[:4], terms[3], options))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    operations = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            operations[row["stream"]].append(
                (int(row["due_offset_ns"]), row["operation"] == "read", int(row["offset_bytes"]), int(row["bytes"]))
            )
    os.unlink(path)
    return operations


def kolmogorov(instants_ns, mean_ns):
    """Return the largest distance between the distribution of the gaps and an exponential distribution, times the
    square root of the number of gaps."""
    instants_ns = sorted(instants_ns)
    gaps = sorted(after - before for before, after in zip(instants_ns, instants_ns[1:]))
    below = [1 - math.exp(-gap / mean_ns) for gap in gaps]
    return math.sqrt(len(gaps)) * max(
        max(abs(b - i / len(gaps)), abs((i + 1) / len(gaps) - b)) for i, b in enumerate(below)
    )


def chi_square(regions):
    wanted = sum(regions) / len(regions)
    return sum((found - wanted) ** 2 / wanted for found in regions)


def check(name, found, all_count, load, reads_column):
    """Yield the conditions that a stream does not meet."""
    share, pattern, (first, end) = STREAMS[name][0], STREAMS[name][3], STREAMS[name][4]
    count, sizes, regions = (
        len(found),
        collections.Counter(bytes_ for dummy, dummy2, dummy3, bytes_ in found),
        [0] * 100,
    )
    for operation in found:
        regions[operation[2] * 100 // PLACE_BYTES[name[:4]]] += 1
    reads = sum(operation[1] for operation in found) / count
    ks = kolmogorov([operation[0] for operation in found], 1e9 / (IOPS_A_BSU * share * load))
    print(
        "%s: %7d operations, %.4f of all, reads %.4f, Kolmogorov-Smirnov %.2f"
        % (name, count, count / all_count, reads, ks)
    )
    if abs(count / all_count - share) > 0.01:
        yield "share %.4f" % (count / all_count)
    if abs(reads - STREAMS[name][reads_column]) > 0.01:
        yield "reads %.4f" % reads
    for size, wanted in MIX.items() if pattern.endswith(SIZES) else ((4096, 1),):
        if abs(sizes[size] / count - wanted) > 0.01:
            yield "size %d: %.4f" % (size, sizes[size] / count)
    if ks > 1.95:
        yield "arrivals: %.2f" % ks
    # The files of a place are rounded down to pages, and the first leaf of a walk can begin before the region.
    if any(regions[: max(first - 1, 0)] + regions[end + 1 :]) or (
        pattern.startswith("random") and chi_square(regions) > 148.2
    ):
        yield "regions %s" % regions


def main():
    load, wrong = int(sys.argv[1]) if len(sys.argv) > 1 else 1700, []
    subprocess.check_call(["make", "-s", "-C", SRC, "build/logdisk"], stdout=subprocess.DEVNULL)
    for reads_column, title in ((1, "as specified"), (2, "as pblio has them")):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            operations = trace(directory, load, reads_column)
        count = sum(map(len, operations.values()))
        print(
            "Reads %s: %d operations, %.4f of them reads"
            % (title, count, sum(o[1] for found in operations.values() for o in found) / count)
        )
        wrong += [
            "%s: %s" % (name, what)
            for name in STREAMS
            for what in check(name, operations[name], count, load, reads_column)
        ]
        wrong += ["only %d operations; try a higher LOAD" % count] if count < OPERATIONS else []
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
