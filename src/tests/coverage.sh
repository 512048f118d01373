#!/bin/sh
# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# coverage.sh CC LIBS: builds the tool and the unit tests for gcov, runs all tests with them, and prints the share of
# lines that ran, with one line for each file. Fails if the total is below 90 %.
# Compiler and libraries may be several words each:
# shellcheck disable=SC2086
cc=$1
libs=$2
dir=build/coverage
rm -rf "$dir"
mkdir -p "$dir"
flags="-g -O0 --coverage"
# Both programs use the same objects, so that their counts add up.
for source in *.c [!bt]*/*.c base/*.c; do
    object=$(echo "${source%.c}" | tr / _)
    $cc $flags -c -o "$dir/$object.o" "$source" || exit 2
done
$cc $flags -o "$dir/logdisk" "$dir"/*.o $libs || exit 2
mv "$dir/main.o" "$dir/main.object"
set -- "$dir"/*.o
$cc --coverage -o "$dir/unit" "$@" tests/unit/*.c $libs || exit 2
mv "$dir/main.object" "$dir/main.o"
rm -f "$dir"/unit-*.gcno
ln -s ../asan ../tsan "$dir/"
"$dir/unit" || exit 1
python3 tests/blackbox/run.py "$dir" || exit 1
(cd "$dir" && gcov -n ./*.o 2>/dev/null) | awk '
    /^File/ { split($0, part, "\047"); file = part[2] }
    /^Lines executed/ && file !~ /^\/|tests\// {
        split($0, part, /[:% ]+/); lines = part[5]; ran = part[3] * lines / 100
        printf "%6.1f %% of %4d  %s\n", part[3], lines, file
        all += lines; run += ran; file = "/"
    }
    END { printf "%.1f %% of %d lines\n", 100 * run / all, all; exit run / all < 0.9 }'
