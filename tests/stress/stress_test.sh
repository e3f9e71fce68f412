#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the stress script for a while with seeds of the day, and prints them.
#
# usage: stress_test.sh SHOAL SCRIPT
#
# SHOAL_STRESS_SECONDS: for how long; default 10, under a sanitizer 60. SHOAL_TEST_SEED: the seed of
# the only run.

seconds=${SHOAL_STRESS_SECONDS:-10}
[[ -n ${SANITIZER_LIBRARY:-} ]] && seconds=${SHOAL_STRESS_SECONDS:-60}
if [[ -n ${SHOAL_TEST_SEED:-} ]]; then
  exec "$1" "$2" "$seconds" "$SHOAL_TEST_SEED"
fi
set -e
for workers in 1 2 4; do
  timeout --kill-after=5 $((seconds + 120)) \
    "$1" -w "$workers" "$2" $((seconds / 3)) $((RANDOM * 32768 + RANDOM))
done
