# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates files as they are after power cuts, to test a checker that was written according to
src/cut/README.md. Needs root:

    PYTHONPATH=tests:tests/integration .venv-dev/bin/python tests/cut_images.py DIRECTORY [NUMBER]

This cuts the power of disks on the test bed NUMBER times (50 by default). Some disks keep everything that they
acknowledged, and others do not. Then a bit or half a sector is changed in some of the files. DIRECTORY/NN contains the
acknowledgements that the witness received (acknowledged) and the files of the queue managers (qm1, qm2). For each cut,
the verdict of logdisk is printed and stored in DIRECTORY/verdicts.csv. It consists of the exit status (0: kept, 5:
lost) and the counts. Another checker should report the same status and counts.
"""

import csv
import itertools
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from test_cut_disks import COUNTS, KEPT, LOST, WORKLOAD, write_until_cut
from testbed import Bed, HostSpec
from testbed.host import FILE_SYSTEMS, Host
from testbed.shell import run

PROJECT = Path(__file__).resolve().parent.parent
TESTER = PROJECT / "src/build/logdisk"
SECTOR_BYTES = 512
CHANGES = ("flip", "half")
# Disks whose lost part is unreadable are left out, because they cannot be copied.
KINDS = (
    "honest",
    "tail",
    "flip",
    "reorder",
    "honest-garbage",
    "torn",
    "half",
    "drop",
    "write-through",
    "misdirect",
    "zero",
    "garbage",
)


def main() -> None:
    directory, number = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50
    directory.mkdir(parents=True)
    run("make", "-s", "-C", str(PROJECT / "src"), "build/logdisk")
    with (directory / "verdicts.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["cut", "kind", "file_system", "status", *COUNTS])
        kinds = itertools.islice(zip(itertools.cycle(KINDS), itertools.cycle(FILE_SYSTEMS), strict=False), number)
        for seed, (kind, file_system) in enumerate(kinds, 1):
            image = directory / f"{seed:02}"
            make(image, kind, file_system, seed)
            status, counts = verdict(image)
            table.writerow([image.name, kind, file_system, status, *counts])
            told = ", ".join(f"{name} {count}" for name, count in zip(COUNTS, counts, strict=True) if count)
            print(f"{image}  {kind:14}  {file_system:4}  {status}  {told or 'kept'}", flush=True)


def make(image: Path, kind: str, file_system: str, seed: int) -> None:
    """Cut the power of a disk, and copy the data that it has kept."""
    image.mkdir()
    with Bed() as bed:
        bed.up([HostSpec("h1", disk="cut", character="honest" if kind in CHANGES else kind, file_system=file_system)])
        witnessed = write_until_cut(bed["h1"], TESTER, image, seed, settled=not kind.startswith("honest"))
        copy(bed["h1"], image)
    (image / "acknowledged").write_text(witnessed)
    (image / "log").unlink()
    if kind in CHANGES:
        {"flip": flip_a_bit, "half": put_half_a_sector_back}[kind](image, random.Random(seed))


def copy(host: Host, image: Path) -> None:
    """Copy those directories of the queue managers that still exist."""
    run(*host.command("sh", "-c", "mkdir /root/image; cp -a /fut/qm* /root/image || :"))
    for path in (host.root / "root/image").iterdir():
        run("cp", "-a", str(path), str(image))


def flip_a_bit(image: Path, choice: random.Random) -> None:
    path = choice.choice(sorted(image.glob("qm*/*.0*")))
    content = bytearray(path.read_bytes())
    content[choice.randrange(len(content))] ^= 1 << choice.randrange(8)
    path.write_bytes(content)


def put_half_a_sector_back(image: Path, choice: random.Random) -> None:
    """Restore one half of a sector from an earlier pass, whose content is known because a run with the same seed writes
    the same data."""
    seed = re.search(r" seed=(\d+) ", (image / "acknowledged").read_text())
    assert seed
    earlier = image.parent / "earlier"
    earlier.mkdir()
    options = [word for word in WORKLOAD if not word.startswith(("--dir", "--duration"))]
    run(
        str(TESTER), "--acknowledge", *options, "--warmup=0", f"--dir={earlier}/qm", "--duration=1", f"--seed={seed[1]}"
    )
    for path, offset in places(image, choice):
        now, before = path.read_bytes(), (earlier / path.relative_to(image)).read_bytes()
        half = slice(offset, offset + SECTOR_BYTES // 2)
        if now[half] != before[half]:
            path.write_bytes(now[: half.start] + before[half] + now[half.stop :])
            break
    run("rm", "-r", str(earlier))


def places(image: Path, choice: random.Random) -> Iterator[tuple[Path, int]]:
    """Yield halves of sectors."""
    files = sorted(image.glob("qm*/*.0*"))
    while True:
        path = choice.choice(files)
        yield path, choice.randrange(path.stat().st_size // (SECTOR_BYTES // 2)) * (SECTOR_BYTES // 2)


def verdict(image: Path) -> tuple[int, list[int]]:
    """Return the tester's exit status, and its counts."""
    tables = image / "tables"
    command = [TESTER, f"--checkAcknowledged={image}/acknowledged", f"--dir={image}/qm", f"--tables={tables}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (KEPT, LOST):
        return done.returncode, [0] * len(COUNTS)
    with (tables / "durability.csv").open(newline="") as file:
        (everything,) = (row for row in csv.DictReader(file) if row["worker"] == "all")
    return done.returncode, [int(everything[name]) for name in COUNTS]


if __name__ == "__main__":
    main()
