#!/bin/bash
# SPDX-License-Identifier: MIT
# Counts the instructions that plain Lua scripts take in the shoal program and in the stock
# interpreter: what the runtime costs a script that does not use it. Both collect as generations, as
# the interpreter does by default. Start and end are taken off.
#
# usage: instructions.sh SHOAL [WORKLOAD...]      (needs valgrind and lua5.4)

shoal=$(realpath "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/workloads" || exit 2
export SHOAL_WORKERS=1

# The least of three runs: which keys of tables collide is a matter of chance in each.
count() {
  for _ in 1 2 3; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
      sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
  done | sort -n | head -n 1
}

own=$(count "$shoal" nothing.lua)
stock_own=$(count lua5.4 nothing.lua)
printf '%-10s %14s %14s %8s %6s\n' workload ours stock ratio goal
for name in "${@:-fib loops strings closures methods sort resume}"; do
  for workload in $name; do
    ours=$(($(count "$shoal" "$workload.lua") - own))
    stock=$(($(count lua5.4 "$workload.lua") - stock_own))
    goal=1.01
    if [[ $workload == resume ]]; then goal=1.10; fi
    awk -v name="$workload" -v ours="$ours" -v stock="$stock" -v goal="$goal" 'BEGIN {
      printf "%-10s %14d %14d %8.4f %6s\n", name, ours, stock, ours / stock, goal
    }'
  done
done
