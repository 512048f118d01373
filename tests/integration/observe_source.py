# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a source of observations in the same way as the observer on a host. The first argument contains the options of
the source as JSON. The samples are printed to stdout, one per line."""

import json
import sys
import time

from ansible_collections.mqops.logdisk.plugins.module_utils._sources import SourceError, bpftrace


def say(**content: object) -> None:
    print(json.dumps(content), flush=True)


def main() -> None:
    options = json.loads(sys.argv[1])
    source = bpftrace.Source(options)
    try:
        say(facts=source.check())
        for text in source.samples(time.monotonic() + options["duration_s"]):
            if text is not None:
                say(epoch_s=time.time(), monotonic_ns=time.monotonic_ns(), text=text)
        say(end="finished", reason="")
    except SourceError as error:
        say(end="failed", reason=str(error))


main()
