#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the examples in C++, and checks what they say. Numbers that depend on the machine are "#".
#
# usage: embed_test.sh HELLO JOB_HOST IMAGE_FILTER

set -u
export LC_ALL=C

hello=$1 job_host=$2 image_filter=$3
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/embed.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0

# expect STATUS COMMAND...: what it puts out must be what stands on stdin.
expect() {
  local status=$1 got_status
  shift
  cat >"$scratch/want"
  timeout 200 "$@" >"$scratch/out" 2>&1
  got_status=$?
  sed -E 's/process: [0-9]+ \(pool [0-9]+\)/process: #/;
          s/[0-9.]+ (s with|us|times|workers|jobs a)/# \1/g' "$scratch/out" >"$scratch/got"
  if [[ $got_status != "$status" ]] ||
    ! diff -u --label expected --label "$(basename "$1")" "$scratch/want" "$scratch/got"; then
    echo "FAILED: $(basename "$1"): exit status $got_status, expected $status"
    cat "$scratch/out"
    failed=1
  fi
}

expect 0 "$hello" <<EOF
Hello, world, from process: #
Hello, moon, from process: #
EOF

# Each tenth job is not in the cache, and each 97th is broken; 970 is both, and not found.
expect 0 "$job_host" 1000 <<EOF
1000 jobs: 891 done, 100 not found, 9 failed
# jobs a second on # workers; p50 # us, p99 # us, longest # us
EOF

expect 0 "$image_filter" "$scratch/image.ppm" 96 40 <<EOF
96 x 40: # s with one worker, # s with one for each core: # times as fast
EOF
[[ $(head -c 13 "$scratch/image.ppm" | tr '\n' ' ') == "P6 96 40 255 " &&
  $(stat -c %s "$scratch/image.ppm") == $((13 + 96 * 40 * 3)) ]] || {
  echo "FAILED: image_filter: that is no image of 96 x 40"
  failed=1
}
expect 2 "$image_filter" <<<"usage: image_filter FILE.ppm [WIDTH HEIGHT]"
exit "$failed"
