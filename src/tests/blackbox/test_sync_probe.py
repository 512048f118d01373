# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of a synchronous write compared with a plain one. It is measured before the first step, on the run's own
files."""

import re

from support import consistent, contains, equal, near, strace, test, traced

KEYS = ("sync_probe_plain_p50_ns", "sync_probe_sync_p50_ns", "sync_probe_ratio")


@test
def sync_probe_tells_the_two_kinds_apart(place):
    """The synchronous half is made slow; its time is limited, and all of it comes before the first write of
    a worker."""
    trace = strace(place, "pwrite64:delay_exit=5000:when=201+", calls="pwrite64,pwritev,openat")
    result = place.logdisk("--duration=1", "--delay=5000", before=trace)
    equal(result.status, 0, result.err)
    plain, sync, ratio = (float(consistent(result)[key]) for key in KEYS)
    assert plain < 5e6 <= sync, (plain, sync)
    near(ratio, sync / plain, 0.001, "ratio")
    calls = [re.search(r'(pwrite64\(\d+|pwritev|openat\(\S+ "/proc/self/fd/\d+", \S+)', line) for line in traced(place)]
    calls = [call.group(1) for call in calls if call]
    opened = [number for number, call in enumerate(calls) if "O_DIRECT" in call]
    equal(
        [("O_DSYNC" in calls[number], "O_CREAT" in calls[number]) for number in opened],
        [(False, False), (True, False)],
        "opened anew",
    )
    written = [number for number, call in enumerate(calls) if call.startswith("pwrite64")]
    equal(sum(number < opened[1] for number in written), 200, "plain writes")
    assert 5 <= sum(number > opened[1] for number in written) <= 400 / 5, "synchronous writes in 0.4 s"
    assert (
        "pwritev" not in calls[opened[0] : written[-1]]
        and calls.count("pwritev") > calls[: opened[0]].count("pwritev") > 0
    )


@test
def sync_probe_says_nothing_if_it_knows_nothing(place):
    for options, inject, status in (
        (["--direct=no"], [], 0),
        (["--acknowledge"], [], 0),
        ([], ["pwrite64:error=EINVAL"], 0),
        ([], ["pwrite64:error=EINVAL:when=201+"], 0),
    ):
        result = place.logdisk(
            "--duration=1", "--delay=5000", *options, before=strace(place, *inject, calls="pwrite64")
        )
        equal(result.status, status, result.err)
        equal([consistent(result)[key] for key in KEYS], [""] * 3)
        if not inject:
            equal(traced(place), [], "writes of a probe")
    failed = place.logdisk("--duration=1", before=strace(place, "pwrite64:error=EIO:when=7", calls="pwrite64"))
    equal(failed.status, 3, failed.err)
    contains(failed.err, "cannot write to " + place.dir + "/mqldt_testfile.0000 at offset 0: Input/output error")
