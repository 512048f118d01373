#!/bin/sh
# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# run.sh BUILD_DIR: all tests of the tester; the last line is "N passed, N failed", and the status is 0 if none failed.
# run.sh BUILD_DIR NAME...: only the black-box tests whose file or function name contains one of NAME.
build=$1
shift
here=$(dirname "$0")
passed=0
failed=0

# Runs one suite, and adds the numbers in its last line to the totals. A suite without such a line counts as a failure.
suite() {
    output=$("$@" 2>&1)
    status=$?
    last=$(printf '%s\n' "$output" | tail -n 1)
    counts=$(printf '%s\n' "$last" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
    printf '%s: ' "$*"
    printf '%s\n' "$output"
    if [ -z "$counts" ] || { [ "$status" -ne 0 ] && [ "${counts#* }" -eq 0 ]; }; then
        failed=$((failed + 1))
        return
    fi
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
}

# A short run of the fuzzer, with a fixed number of inputs, so that the coverage does not depend on the machine's speed.
: "${FUZZ_INPUTS:=200000}"
fuzz() {
    if output=$("$build/fuzz" -runs="$FUZZ_INPUTS" -seed=1 -max_len=1024 -dict="$here/fuzz.dict" \
        -artifact_prefix="$build/" 2>&1); then
        echo "1 passed, 0 failed"
    else
        printf '%s\n' "$output" | tail -n 40
        echo "0 passed, 1 failed"
        return 1
    fi
}

# The fuzzer runs in parallel, because the black-box tests mostly wait.
if [ $# -eq 0 ]; then
    suite "$build/unit"
    fuzz > "$build/fuzz.log" 2>&1 &
    fuzzer=$!
    suite python3 "$here/blackbox/run.py" "$build"
    wait "$fuzzer"
    suite cat "$build/fuzz.log"
else
    suite python3 "$here/blackbox/run.py" "$build" "$@"
fi
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
