#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs plain Lua scripts, which know nothing of Shoal, with the stock interpreter and with the shoal
# program: they must put out the same, byte for byte, and end with the same status.
#
# usage: run.sh SHOAL VARIANT SCRIPT...
#
#   SHOAL     the program
#   VARIANT   default; gc: a full collection at each switch of tasks; every: a slice ends at each
#             instruction; counted: without signals
#   SCRIPT    prints nothing that changes from run to run: no addresses, times, names of files. Nor
#             how deep a recursion may go, which `every` changes: a task that is suspended keeps no
#             C stack; nor when a count hook is called, as the runtime's own instructions count.

shoal=$(realpath "$1")
variant=$2
shift 2

case $variant in
  default) ;;
  gc) export SHOAL_TEST_COLLECT=1 ;;
  every) export SHOAL_TEST_SLICES=every ;;
  counted) export SHOAL_TEST_SLICES=counted ;;
  *)
    echo "run.sh: no variant '$variant'"
    exit 2
    ;;
esac
time=60
if [[ -n ${SANITIZER_LIBRARY:-} ]]; then
  time=300
  # Scripts leave out then what takes hundreds of thousands of slices.
  if [[ $variant == every ]]; then export STOCK_TEST_SHORT=1; fi
fi
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
export TMPDIR=$output
unset LUA_INIT LUA_INIT_5_4 LUA_PATH LUA_PATH_5_4 LUA_CPATH LUA_CPATH_5_4

failed=0
lines=0
for script; do
  name=$(basename "$script")
  cp "$script" "$output/$name"
  cd "$output" || exit 2
  timeout --kill-after=5 60 lua5.4 "$name" >stock 2>&1 </dev/null
  expected=$?
  start=$EPOCHREALTIME
  timeout --kill-after=5 "$time" "$shoal" "$name" >ours 2>&1 </dev/null
  status=$?
  took=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
  cd "$OLDPWD" || exit 2
  lines=$((lines + $(wc -l <"$output/stock")))
  # A script that fails early proves little.
  if ((status == expected && status == 0)) && cmp -s "$output/stock" "$output/ours"; then
    printf 'ok     %6d ms  %s\n' "$took" "$name"
    continue
  fi
  failed=$((failed + 1))
  printf 'FAILED %6d ms  %s: status %d, expected %d\n' "$took" "$name" "$status" "$expected"
  diff "$output/stock" "$output/ours" | head -n 40 | sed 's/^/    /'
done

echo "$lines lines compared, $failed failed"
((failed == 0 && lines > 0))
