# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--place, --stream and --load: the positions of reads and writes, the tables, the trace, and the effect of a stall."""

import collections
import csv
import os
import random
import time

from support import (
    BUILD,
    consistent,
    contains,
    equal,
    frozen,
    mounted,
    near,
    read,
    refused,
    root_test,
    strace,
    test,
    tmpfs,
    traced,
    wait_until_measuring,
    write,
)

LOG = "--stream=name=log,place=log,pattern=ring,size=4K,workers=load,pause=500"
DB = "--stream=name=db,place=data,pattern=random,size=8K,read=50%,sync=none,workers=3,pause=500"
SCAN = (
    "--stream=name=scan,place=data,pattern=runs,start=20%-60%,run=10%,size=4K:40+8K:24+16K:20+32K:8+64K:8,read=100%,"
    "arrival=exponential,rate=400*load,workers=8"
)


def places(place):
    for name in ("a", "b", "l"):
        os.makedirs(os.path.join(place.dir, name), exist_ok=True)
    return [
        "--place=name=data,share=90%,dir={0}/a+{0}/b".format(place.dir),
        "--place=name=log,share=10%,dir=" + place.dir + "/l",
    ]


def trace_of(place):
    with open(os.path.join(place.path, "trace.csv"), newline="") as file:
        return [
            {key: value if key in ("stream", "operation", "place") else int(value) for key, value in row.items()}
            for row in csv.DictReader(file)
        ]


def results(result, **wanted):
    return [row for row in result.rows("results.csv") if all(row[key] == str(value) for key, value in wanted.items())]


@test
def streams_in_places(place):
    """Several streams, places and directories: all tables agree with each other and with the trace."""
    result = place.logdisk(
        *places(place),
        LOG,
        DB,
        SCAN,
        "--load=1,2",
        "--loadUnit=threads",
        "--duration=2",
        "--warmup=1",
        "--fileSize=1M",
        "--numFiles=30",
        "--trace=" + place.path + "/trace.csv",
    )
    equal(result.status, 0, result.err)
    run, trace = consistent(result), trace_of(place)
    equal(
        (run["workload"], run["load_unit"], run["step_size"], run["steps_measured"]),
        ("streams", "threads", "none", "2"),
    )
    equal((run["option_loads"], run["stream_1"], run["trace_operations_dropped"]), ("1 2", LOG[9:], "0"))
    equal(len(results(result, step=2, stream="log", operation="write")), 3, "rows of two workers and all")
    for step in ("1", "2"):
        [whole] = results(result, step=step, stream="all")
        rows = [row for row in results(result, step=step, worker="all") if row["stream"] != "all"]
        equal(
            [(row["stream"], row["operation"], row["block_size_bytes"]) for row in rows],
            [("log", "write", "4096"), ("db", "write", "8192"), ("db", "read", "8192"), ("scan", "read", "")],
        )
        for key in ("operations", "bytes", "latency_sum_ns"):
            equal(int(whole[key]), sum(int(row[key]) for row in rows), key)
        equal((whole["operation"], whole["worker"], whole["response_mean_ns"]), ("all", "all", ""))
        for row in rows:
            seen = [
                t
                for t in trace
                if (t["step"], t["stream"], t["operation"]) == (int(step), row["stream"], row["operation"])
            ]
            equal(
                (len(seen), sum(t["bytes"] for t in seen)),
                (int(row["operations"]), int(row["bytes"])),
                "trace of " + row["stream"],
            )
            equal(sum(t["latency_ns"] for t in seen), int(row["latency_sum_ns"]), "latencies of " + row["stream"])
    bounds = {"data": 27 << 20, "log": 3 << 20}
    for t in trace:
        equal(t["place"], "log" if t["stream"] == "log" else "data")
        assert t["offset_bytes"] + t["bytes"] <= bounds[t["place"]] and t["start_offset_ns"] >= t["due_offset_ns"], t
    scanned = {t["offset_bytes"] * 100 // bounds["data"] for t in trace if t["stream"] == "scan"}
    assert min(scanned) >= 19 and max(scanned) <= 71, scanned
    fidelity = {
        (r["step"], r["stream"], r["property"], r["item"]): (float(r["asked"]), float(r["achieved"]))
        for r in result.rows("fidelity.csv")
    }
    near(*fidelity["1", "all", "capacity_share", "data"], 0.001)
    equal(fidelity["2", "scan", "read_share", ""], (1, 1))
    near(*fidelity["2", "db", "read_share", ""], 0.05)
    near(*fidelity["2", "scan", "size_share", "4096"], 0.08)
    equal(fidelity["2", "scan", "operations_per_s", ""][0], 800)
    near(*fidelity["2", "scan", "operations_per_s", ""], 100)


def place_rows(text, when):
    """Returns the rows of places on the screen: count, operations per second, and mean latency and response time in
    microseconds, by place and operation."""
    found = {}
    for line in text.splitlines():
        fields = line.split()
        if fields[:1] == [when] and len(fields) >= 6:
            found[fields[1], fields[2]] = tuple(map(float, [*fields[3:5], *fields[6:]]))
    return found


@test
def places_have_rows_for_each_period_and_step(place):
    """Two streams with a rate share a place, and a third stream has no rate. The screen agrees with the tables and the
    trace."""
    due = DB.replace("pause=500", "arrival=even,rate=300")
    result = place.logdisk(
        *places(place),
        LOG,
        due,
        SCAN,
        "--duration=4",
        "--monitor=2",
        "--fileSize=1M",
        "--numFiles=30",
        "--trace=" + place.path + "/t.csv",
    )
    equal(result.status, 0, result.err)
    with open(os.path.join(place.path, "t.csv"), newline="") as file:
        trace = list(csv.DictReader(file))
    for row in trace:
        row["end_ns"] = int(row["start_offset_ns"]) + int(row["latency_ns"])
    for when, seconds in (("2", (1, 2)), ("4", (3, 4))):
        rows = place_rows(result.out, when)
        equal(
            set(rows),
            {("data", "write"), ("data", "read"), ("log", "write"), ("all", "write"), ("all", "read"), ("all", "all")},
        )
        counted = collections.Counter()
        for row in result.rows("intervals.csv"):
            if int(row["second"]) in seconds:
                counted["log" if row["stream"] == "log" else "data", row["operation"]] += int(row["operations"])
        for key, count in counted.items():
            equal(rows[key][:2], (count, count / 2), str(key))
        equal(rows["all", "all"][0], sum(counted.values()))
        reads = [
            row for row in trace if row["operation"] == "read" and seconds[0] - 1 <= row["end_ns"] / 1e9 < seconds[1]
        ]
        responses = [row["end_ns"] - int(row["due_offset_ns"]) for row in reads if int(row["due_offset_ns"]) > 0]
        near(
            rows["data", "read"][3],
            sum(responses) / len(responses) / 1000,
            0.02 * rows["data", "read"][3] + 1,
            "mean response",
        )
        equal((len(rows["log", "write"]), len(rows["all", "all"])), (3, 3), "no response time without a rate")
    whole = place_rows(result.out, "step")
    for operation in ("write", "read"):
        streams = [row for row in results(result, operation=operation, worker="all") if row["stream"] in ("db", "scan")]
        count, response_ns = (sum(int(row[key]) for row in streams) for key in ("operations", "response_sum_ns"))
        left = sum(int(row["operations_not_started"]) for row in streams)
        equal(whole["data", operation][0], count)
        near(whole["data", operation][3], response_ns / (count + left) / 1000, 0.06, "mean response of the step")
    equal(whole["all", "all"][0], int(results(result, stream="all")[0]["operations"]))


@test
def files_of_places_are_opened_as_their_streams_want_and_full(place):
    result = place.logdisk(
        *places(place),
        LOG,
        DB,
        "--duration=1",
        "--fileSize=1M",
        "--numFiles=30",
        "--keepFiles",
        before=strace(place, calls="openat"),
    )
    equal(result.status, 0, result.err)
    opened = [line for line in traced(place) if "mqldt_testfile." in line and "O_DIRECT" in line]
    equal({("log" in line.split('"')[1], "O_DSYNC" in line) for line in opened}, {(True, True), (False, False)})
    for folder, name, files in (("a", "data", 14), ("b", "data", 14), ("l", "log", 3)):
        names = sorted(os.listdir(os.path.join(place.dir, folder)))
        equal(names, ["mqldt_testfile.%s.%04d" % (name, n) for n in range(files)])
        for path in (os.path.join(place.dir, folder, n) for n in names):
            status = os.stat(path)
            assert status.st_blocks * 512 >= status.st_size > 900000, "a hole in " + path
            with open(path, "rb") as file:
                sectors = [file.read(512) for dummy in range(status.st_size // 512)]
            equal(len(set(sectors)), len(sectors), "different sectors of " + path)


@test
def each_worker_of_a_ring_has_files_of_its_own(place):
    result = place.logdisk(
        "--stream=name=log,pattern=ring,size=4K,workers=3,pause=1000",
        "--fileSize=64K",
        "--numFiles=2",
        "--duration=1",
        "--trace=" + place.path + "/trace.csv",
    )
    equal(result.status, 0, result.err)
    files = collections.defaultdict(list)
    for t in trace_of(place):
        files[t["worker"]].append(t["offset_bytes"])
    equal(sorted((min(at), max(at)) for at in files.values()), [(0, 36864), (40960, 77824), (81920, 118784)])
    for at in files.values():
        equal({b - a for a, b in zip(at, at[1:])}, {4096, -36864}, "sequential, and round again")


def published_walk(blocks, units, operations, chance):
    """The hierarchical random walk of asu1-2 in goioworkload's spc1.c (HRRW_V2), reimplemented from its source. Yields
    the blocks of 4 KiB in the region, in the order in which they are used."""
    leaves, levels = blocks // 8, 0
    while 1 << levels < leaves:
        levels += 1
    leaf_state = [0] * (leaves + 1)
    walks = [{"at": chance.randrange(blocks), "rewrite": None} for dummy in range(units)]
    for dummy in range(operations):
        walk, reads = chance.choice(walks), chance.random() < 0.5
        if not reads and walk["rewrite"] is not None:
            walk["at"], walk["rewrite"] = walk["rewrite"], None
            yield "write", walk["at"]
            continue
        leaf = walk["at"] // 8
        for dummy_try in range(101):
            span = 64
            while span < 1 << levels and chance.random() < 0.44:
                span *= 2
            leaf = span * (leaf // span) + chance.randrange(span)
            leaf -= 0 if reads else leaf % 8
            if leaf <= leaves:
                break
        else:
            leaf = chance.randrange(leaves)
        if reads:
            block = leaf_state[leaf]
            leaf_state[leaf] = (block + 1) % 8
        else:
            block = chance.randrange(8) if chance.random() < 0.5 else (leaf_state[leaf] or 8) - 1
        walk["at"] = 8 * leaf + block
        if not reads and chance.random() < 0.15:
            walk["rewrite"] = walk["at"]
        yield "read" if reads else "write", walk["at"]


def seen_by_a_cache(operations):
    """Returns the number of distinct blocks written, of distinct blocks used, and of hits in a cache of the 1,000
    blocks used last."""
    cache, hits, blocks = collections.OrderedDict(), 0, collections.defaultdict(set)
    for operation, block in operations:
        hits += block in cache
        cache[block] = True
        cache.move_to_end(block)
        if len(cache) > 1000:
            cache.popitem(last=False)
        blocks[operation].add(block)
    return len(blocks["write"]), len(blocks["write"] | blocks["read"]), hits


@test
def walk_goes_where_the_published_one_goes(place):
    """The addresses of asu1-2 at 200 BSU have as many distinct blocks and cache hits as those of the published
    algorithm."""
    stream = (
        "--stream=name=asu1-2,pattern=walk,start=15%,width=5%,size=4K,read=50%,sync=none,arrival=exponential,"
        "rate=14.05*load,workers=load"
    )
    trace = "--trace=" + place.path + "/trace.csv"
    result = place.logdisk(stream, "--load=200", "--fileSize=16M", "--numFiles=16", "--duration=4", "--seed=7", trace)
    equal(result.status, 0, result.err)
    operations = sorted(trace_of(place), key=lambda t: t["start_offset_ns"])
    leaves = (256 << 20) // 32768
    blocks, first = leaves // 20 * 8, leaves * 15 // 100 * 8
    ours = seen_by_a_cache([(t["operation"], t["offset_bytes"] // 4096 - first) for t in operations])
    published = seen_by_a_cache(published_walk(blocks, 200, len(operations), random.Random(7)))
    assert len(operations) > 8000, len(operations)
    for what, one, other in zip(("blocks written", "blocks", "hits"), ours, published):
        near(one / other, 1, 0.05, what)


def slow_reads(place, workers):
    """Runs a test in which every read takes 20 ms, and 200 reads per second are due for 2 s."""
    stream = "--stream=name=db,pattern=random,size=4K,read=100%%,arrival=even,rate=200,workers=%d" % workers
    return place.logdisk(stream, "--duration=2", before=strace(place, "preadv:delay_enter=20000", calls="preadv"))


@test
def whoever_is_free_takes_the_next_operation(place):
    """One worker can perform only 50 of the 200 reads per second. Eight workers can perform all of them."""
    result = slow_reads(place, 8)
    equal(result.status, 0, result.err)
    consistent(result)
    row = result.all(stream="db")
    near(int(row["operations"]) + int(row["operations_not_started"]), 400, 1, "reads done and left")
    assert int(row["operations"]) > 380 and int(row["response_p50_ns"]) < 40000000, row


@test
def open_streams_are_charged_for_what_they_could_not_start(place):
    result = slow_reads(place, 1)
    equal(result.status, 0, result.err)
    run, row = consistent(result), result.all(stream="db")
    left = int(row["operations_not_started"])
    near(int(row["operations"]) + left, 400, 1, "reads done and left")
    assert left > 250 and int(row["response_max_ns"]) > 1000000000 and int(row["latency_p90_ns"]) < 100000000, row
    near(float(row["response_mean_ns"]), int(row["response_sum_ns"]) / (int(row["operations"]) + left), 0.0006, "mean")
    buckets = [r for r in result.rows("responses.csv") if r["stream"] == "db"]
    equal(sum(int(r["operations"]) for r in buckets), int(row["operations"]) + left, "responses")
    near(
        max(int(r["response_upper_ns"]) for r in buckets) / int(row["response_max_ns"]), 1, 0.01, "the longest response"
    )
    contains(run["warning_1"], "step 1: %d reads were due by stream db" % left)
    equal(results(result, stream="all")[0]["response_max_ns"], row["response_max_ns"])


@root_test
def own_reads_are_not_foreign(place):
    stream = "--stream=name=db,place=data,pattern=random,size=64K,read=100%,pause=1000"
    with mounted(place) as point:
        for folder in ("/a", "/b"):
            os.mkdir(point + folder)
        run = place.logdisk(
            stream, "--place=name=data,dir={0}/a+{0}/b".format(point), "--duration=1", "--fileSize=1M"
        ).run()
    equal(run["own_written_bytes"], "0", "a stream that only reads")
    assert int(run["device_read_bytes"]) > 10000000 and float(run["foreign_io_share"]) < 0.1, (
        run["device_read_bytes"],
        run["foreign_io_share"],
    )


@root_test
def streams_of_a_disk_that_hangs_end_at_the_deadline(place):
    """For each stream, the age of the operation in flight is counted, and so are the operations that became due in the
    meantime."""
    slow = "--stream=name=slow,pattern=random,size=4K,workers=2,pause=10000"
    due = "--stream=name=due,pattern=walk,start=10%,width=50%,size=4K,arrival=exponential,rate=200,workers=4"
    with mounted(place) as point:
        process = place.start(
            slow,
            due,
            "--duration=3",
            "--deadline=5",
            "--fileSize=1M",
            "--progress=" + place.path + "/progress",
            dir=point,
        )
        wait_until_measuring(place, process)
        time.sleep(0.5)
        with frozen(point):
            place.wait_for("run.csv", "complete,1", process)
        result = place.finish(process)
    equal(result.status, 4, result.err)
    run, row = consistent(result), result.all(stream="due")
    assert int(run["in_flight_age_ns"]) > 1000000000, run["in_flight_age_ns"]
    equal((row["latency_max_in_flight"], result.all(stream="slow")["latency_max_in_flight"]), ("1", "1"))
    near(int(row["operations"]) + 4 + int(row["operations_not_started"]), 600, 120, "done, in flight, and left")
    assert int(row["response_p50_ns"]) > 1000000000, row["response_p50_ns"]


@test
def errors_and_short_reads_of_streams_are_errors(place):
    stream = "--stream=name=db,pattern=random,size=4K,read=50%,pause=1000"
    for inject, says, status in (
        ("preadv:error=EIO:when=50", "Input/output error", 3),
        ("preadv:retval=100:when=50", "less was transferred", 3),
    ):
        result = place.logdisk(stream, "--duration=2", before=strace(place, inject, calls="preadv"))
        equal(result.status, status, result.err)
        contains(result.err, "preadv failed at offset", says)
        assert int(result.run()["error_operation_number"]) > 50


@test
def trace_is_bounded_and_never_replaces_a_file(place):
    path = place.path + "/trace.csv"
    stream = "--stream=name=db,pattern=random,size=4K"
    result = place.logdisk(stream, "--duration=1", "--trace=" + path, "--traceOperations=100")
    equal((result.status, len(trace_of(place))), (0, 100))
    equal(int(result.run()["trace_operations_dropped"]), int(result.all(stream="db")["operations"]) - 100)
    os.unlink(path)
    write(path, "mine")
    refused(place, place.logdisk(stream, "--duration=1", "--trace=" + path), "--trace", "File exists; remove it")
    equal(read(path), "mine")
    os.unlink(path)
    refused(place, place.logdisk(stream, "--duration=1", "--trace=" + path, dir=place.dir + "/no"), "does not exist")
    equal(os.path.exists(path), False, "a trace of a refusal")


@root_test
def trace_that_cannot_be_written_costs_no_table(place):
    with tmpfs(place, "size=16k") as point:
        result = place.logdisk(
            "--stream=name=db,pattern=random,size=4K", "--duration=1", "--trace=" + point + "/trace.csv"
        )
    equal(result.status, 2, result.err)
    contains(result.err, "--trace", "cannot write it: No space left")
    contains(consistent(result)["warning_1"], "it is incomplete")


@test
def wrong_streams_are_refused_before_anything_happens(place):
    result = place.logdisk("--stream=name=db,pattern=random,size=4K,bogus=1")
    equal((result.status, result.out, os.listdir(place.dir), os.path.exists(place.tables)), (1, "", [], False))
    contains(result.err, "--stream db: 'bogus=1' is not a known key", "allowed: name place pattern")
    twice = "--place=name=data,dir={0}+{0}/.".format(place.dir)
    refused(
        place,
        place.logdisk("--stream=name=db,pattern=random,size=4K", "--duration=1", twice),
        "are the same directory; name each once",
    )


@test
def a_ladder_of_loads_ends_above_a_limit(place):
    ladder = ("--stream=name=due,pattern=random,size=4K,arrival=even,rate=50*load", "--load=1,2,3", "--duration=1")
    result = place.logdisk(*ladder, "--stopAbove=due:write:latency_mean:60s", "--stopAbove=all:all:response_mean:1ns")
    run = consistent(result)
    equal(
        (result.status, run["exit_reason"], run["steps_planned"], run["steps_measured"]), (0, "stopped_above", "3", "1")
    )
    equal((run["stop_above_1"], {row["load_point"] for row in results(result)}), ("due:write:latency_mean:60s", {"1"}))
    contains(
        run["exit_message"],
        "response_mean of all, all was ",
        " ns at load point 1, above the 1 ns of --stopAbove: no further steps were made",
    )
    run = consistent(place.logdisk(*ladder, "--stopAbove=due:write:latency_mean:60s"))
    equal((run["exit_reason"], run["exit_message"], run["steps_measured"]), ("measured", "", "3"))


@test
def limits_that_cannot_end_a_ladder_are_refused(place):
    for limit, reason in (
        (
            "db:read:latency_mean",
            "is not allowed; allowed: STREAM:OPERATION:FIGURE:TIME, with the figure latency_mean or response_mean",
        ),
        ("db:read:latency_p99:1ms", "is not allowed"),
        ("db:read:latency_mean:0ms", "is not allowed"),
        ("other:read:latency_mean:1ms", "the workload does not have this stream with this operation and figure"),
        ("db:write:latency_mean:1ms", "the workload does not have"),
        ("db:read:response_mean:1ms", "response_mean only of streams with a rate"),
        ("all:read:latency_mean:1ms", "a stream and read or write, or all:all"),
        ("all:all:response_mean:1ms", "the workload does not have"),
    ):
        result = place.logdisk("--stream=name=db,pattern=random,size=4K,read=100%", "--stopAbove=" + limit)
        equal((result.status, os.path.exists(place.tables)), (1, False))
        contains(result.err, "--stopAbove: '%s'" % limit, reason)


@test
def nearest_job_of_fio(place):
    result = place.logdisk(*places(place), LOG, DB, SCAN, "--showFio")
    equal((result.status, result.err, os.path.exists(place.tables)), (0, "", False))
    contains(
        result.out,
        "[log]",
        "rw=write",
        "sync=dsync",
        "[db]",
        "rw=randrw",
        "rwmixread=50",
        "thinktime=500",
        "fio cannot express runs of 10.0 %",
        "bssplit=4096/40:8192/24:16384/20:32768/8:65536/8",
        "rate_process=poisson",
        place.dir + "/b/mqldt_testfile.data.0000",
    )
    equal(result.out.count("new_group=1"), 3, "fio reports each stream on its own")
    equal(result.out.count("\nfilename="), 9, "a line for each file: fio refuses lines longer than 4095")
    # 0 would mean no limit.
    slow = place.logdisk(
        "--stream=name=slow,pattern=random,size=4K,read=30%,arrival=even,rate=0.9,workers=32", "--showFio"
    )
    contains(slow.out, "[slow]\nnew_group=1\nrw=randread", "[slow]\nrw=randwrite", "iodepth=32")
    equal(slow.out.count("rate_iops=1\n"), 2, "fio 3.33 aborts if one job both reads and writes")
    contains(
        place.logdisk("--stream=name=a,pattern=random,size=4K,align=8K", "--showFio").out, "blockalign=8192\nbs=4096\n"
    )
    disk = "/dev/disk/by-id/usb-a:b"
    whole = place.logdisk(
        LOG.replace("place=log", "place=data"), "--place=name=data,device=" + disk, "--eraseDevice=" + disk, "--showFio"
    )
    contains(whole.out, "offset=1048576\nsize=786432\nfilename=/dev/disk/by-id/usb-a\\:b\n")
    # fio hangs if a size has 0 percent. A zone with 0 percent makes it use other places.
    mix = place.logdisk("--stream=name=db,pattern=random,size=4K:0.4+8K:12.2+16K:12.4+64K:75,read=100%", "--showFio")
    contains(mix.out, "bssplit=8192/13:16384/12:65536/75\n")
    assert "sync=" not in mix.out, "of reads only"
    for walk, zone in (("start=0%,width=0.3%", "100/1:0/\n"), ("start=99%,width=1%", "0/99:100/1:0/\n")):
        job = place.logdisk("--stream=name=db,pattern=walk,%s,size=4K,sync=fsync" % walk, "--showFio")
        contains(job.out, "random_distribution=zoned:" + zone, "fsync=1\n; fio reports the flush apart")
    log = place.logdisk("--bsize=16K", "--qm=2", "--showFio")
    contains(log.out, "[log2]", "bs=16384", "sync=dsync", "direct=1", place.dir + "2/mqldt_testfile.0002")


@test
def streams_under_sanitizers(place):
    for kind in ("asan", "tsan"):
        result = place.logdisk(
            *places(place),
            LOG,
            DB,
            SCAN,
            "--load=1,2",
            "--duration=1",
            "--warmup=1",
            "--fileSize=1M",
            "--numFiles=30",
            "--trace=" + place.path + "/" + kind,
            logdisk=os.path.join(BUILD, kind, "logdisk"),
        )
        assert "Sanitizer" not in result.err and "runtime error" not in result.err, result.err
        equal(result.status, 0, result.err)
        consistent(result)
