#!/bin/bash
# SPDX-License-Identifier: MIT
# An idle program makes no system call: processes that wait for a message and for a far deadline, or
# for sockets, and no worker that wakes up in between.
set -uo pipefail

shoal=bindings/cli/shoal
idle_socket=tests/runtime/idle_socket
script=$TEST_TMPDIR/idle.lua
cat >"$script" <<'LUA'
local shoal = require "shoal"
local ch = shoal.channel()
for i = 1, 20 do
  shoal.spawn(function(c, key) c:receive(key) end, ch, i)
end
shoal.spawn(function() require "shoal".sleep(3600) end)
-- Some work first, so that all threads have run.
for i = 1, 1000 do ch:send("k", i) ch:receive("k") end
ch:receive("never")
LUA

# Runs a program and looks what it calls. `$1`: its name for people.
failed=0
look() {
  local name=$1 pid log first late
  shift
  "$@" >/dev/null &
  pid=$!
  sleep 2
  log=$TEST_TMPDIR/calls
  # strace itself makes the threads leave and enter their waits once, at its begin: the first half
  # second does not count.
  timeout 6 strace -f -tt -o "$log" -p "$pid" 2>"$TEST_TMPDIR/strace.err"
  if ! kill "$pid" 2>/dev/null; then
    echo "$name: the program has ended by itself"
    return 1
  fi
  if [[ ! -s $log ]]; then
    echo "$name: strace saw nothing at all:"
    cat "$TEST_TMPDIR/strace.err"
    return 1
  fi
  first=$(awk 'NR == 1 { split($2, t, ":"); print t[1] * 3600 + t[2] * 60 + t[3] }' "$log")
  late=$(awk -v first="$first" '
    { split($2, t, ":"); s = t[1] * 3600 + t[2] * 60 + t[3] }
    s - first > 0.5 && s - first < 5.5 && !/detached/ { print }' "$log")
  if [[ -n $late ]]; then
    echo "$name: system calls of an idle program:"
    echo "$late"
    return 1
  fi
  echo "$name: no system call in 5 s"
}

look messages "$shoal" "$script" || failed=$((failed + 1))
look sockets "$idle_socket" || failed=$((failed + 1))
echo "$((2 - failed)) passed, $failed failed"
((failed == 0))
