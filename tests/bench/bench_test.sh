#!/bin/bash
# SPDX-License-Identifier: MIT
# The benchmark runs and prints all its rows. Nothing is asserted about time.

set -euo pipefail

bench=tests/bench/bench
picture=$(mktemp)
trap 'rm -f "$picture"' EXIT
output=$("$bench" --quick --plot "$picture")
echo "$output"

rows=("spawn + run + exit" "lanes: gen()() + join" "ping-pong, 1 worker" "ping-pong, 2 workers (spinning)"
  "ping-pong, 2 workers (parking)" "one-way int" "one-way table of 10 fields" "ring of 503"
  "8 pairs, 2 workers : 1 worker" "8 pairs, 2 workers : 2 OS processes"
  "memory of a waiting process" "ping-pong, timeout armed"
  "spawn + run + exit : copy + load + run" "one-way int : half a ping-pong"
  "one-way int in batches of 64" "one-way megabyte : memcpy" "one-way megabyte in a buffer" "fan-in, 50 senders"
  "pool call, 64 processes : 2" "shoal -e '' : 1.5 of lua5.4"
  "map that computes, 2 workers : 2 OS processes" "map, an item" "pool call"
  "message beside a busy loop, p50" "message beside a busy loop, p99"
  "9 downloads : 2 of epoll + 10 ms" "9 downloads, by the clock" "9 downloads : LuaSocket"
  "9 downloads : cqueues" "2000 connections : epoll" "2000 connections : cqueues"
  "memory of a connection : cqueues" "echo : epoll" "echo : LuaSocket" "echo : cqueues"
  "echo, 2 workers : 2 OS processes" "host to process and back" "Lua host to process and back"
  "pool call of a host" "Post, nobody to be woken" "Post that wakes" "Post, the longest"
  "TrySend, the longest")
for row in "${rows[@]}"; do
  grep -qF -- "$row" <<<"$output" || { echo "no row: $row"; exit 1; }
done

only=$("$bench" --quick --only ring)
[[ $(grep -c -E ' (ns|us|ms) ' <<<"$only") == 1 ]] || { echo "--only shows: $only"; exit 1; }

# The picture has a bar for each row; the list for programs, a good object.
bars=$(grep -c '^<rect x=' "$picture")
lines=$(grep -c -E ' (ns|us|ms|B|KB|MB|/s|k/s|M/s) ' <<<"$output")
((bars == lines && bars > ${#rows[@]} - 1)) || { echo "$bars bars, $lines lines"; exit 1; }
[[ $(tail -n 1 "$picture") == "</svg>" ]] || { echo "the picture has no end"; exit 1; }
"$bench" --quick --json --only ping-pong 2>/dev/null | lua5.4 -e '
  local list = require("cjson").decode(io.read("a"))
  assert(#list >= 4)
  for _, row in ipairs(list) do
    assert(row.name:find("ping-pong", 1, true) and row.unit == "ns" and row.value > 0)
    assert(math.abs(row.value / row.limit / row.ratio - 1) < 1e-3, row.name)
    assert(type(row.goal) == "string" or row.goal == require("cjson").null)
    assert(row.met == require("cjson").null) -- one round tells nothing
  end
'

if "$bench" --quick --only ring --plot /nowhere/plot.svg >/dev/null 2>&1; then
  echo "a picture that cannot be written is no error"
  exit 1
fi
if "$bench" --only nonsense 2>/dev/null; then echo "a row that is not there is no error"; exit 1; fi
if "$bench" --rounds many 2>/dev/null; then echo "wrong arguments are no error"; exit 1; fi
