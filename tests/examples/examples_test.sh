#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs each example with the shoal program, on one worker and on two, and checks what it says.
#
# usage: examples_test.sh [SHOAL]              in the top folder
#
# Numbers with a decimal point in the output depend on the machine: they are compared as "#.#".

set -u
export LC_ALL=C

shoal=${1:-bindings/cli/shoal}
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/examples.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0

# expect STATUS EXAMPLE [ARGS...]: what the program puts out, on stderr and then on stdout, must be
# what stands on stdin. With `attempts=N` before it, one time of N: a thread that stands still may let
# a timeout pass.
expect() {
  local status got_status attempt
  status=$1
  shift
  cat >"$scratch/want"
  for ((attempt = 0; attempt < ${attempts:-1}; ++attempt)); do
    timeout 120 "$shoal" "examples/$1.lua" "${@:2}" >"$scratch/out" 2>"$scratch/err"
    got_status=$?
    cat "$scratch/err" "$scratch/out" |
      sed -E 's/[0-9]+\.[0-9]+/#.#/g; s/: [0-9]+ MB/: # MB/' >"$scratch/got"
    if [[ $got_status == "$status" ]] && cmp -s "$scratch/want" "$scratch/got"; then break; fi
  done
  if [[ $got_status != "$status" ]]; then
    echo "FAILED: $* (workers: $SHOAL_WORKERS): exit status $got_status, expected $status"
    cat "$scratch/err" "$scratch/out"
    failed=1
  elif ! diff -u --label expected --label "$*" "$scratch/want" "$scratch/got"; then
    echo "FAILED: $* (workers: $SHOAL_WORKERS): the output differs"
    failed=1
  fi
}

test_primes() {
  expect 0 primes 10000 3 <<EOF
1 process: 1229 primes below 10000 in #.# s
3 processes: 1229 primes below 10000 in #.# s
speed-up: #.# (workers: $SHOAL_WORKERS)
EOF
  # The limit itself is not below the limit, and ranges may be shorter than a piece of work.
  expect 0 primes 30011 1 <<EOF
1 process: 3245 primes below 30011 in #.# s
1 process: 3245 primes below 30011 in #.# s
speed-up: #.# (workers: $SHOAL_WORKERS)
EOF
  expect 0 primes 2 1 <<EOF
1 process: 0 primes below 2 in #.# s
1 process: 0 primes below 2 in #.# s
speed-up: #.# (workers: $SHOAL_WORKERS)
EOF
  local bad
  for bad in 1 -5 ten 1e400 "" "100 0" "100 x" "100 1.5"; do
    # shellcheck disable=SC2086  # two arguments in one
    expect 2 primes ${bad:-''} <<EOF
usage: primes.lua [LIMIT [PROCESSES]], LIMIT at least 2, PROCESSES at least 1
EOF
  done
}

test_word_count() {
  printf "The sea, the SEA.\nDon't panic: it's d\303\251j\303\240 vu." >"$scratch/one"
  : >"$scratch/empty"
  expect 0 word_count "$scratch/one" "$scratch/empty" <<EOF
9 words, 7 different, in 2 of 2 files
       2  sea
       2  the
       1  don't
       1  d$(printf '\303\251j\303\240')
       1  it's
       1  panic
       1  vu
EOF
  expect 0 word_count "$scratch/empty" <<EOF
0 words, 0 different, in 1 of 1 files
EOF
  # Larger than a block, with words across the borders of blocks, and a word of several blocks.
  yes 'ab cd-ef' | head -n 100000 >"$scratch/large"
  {
    printf 'before '
    head -c 200000 /dev/zero | tr '\0' x
    printf ' after'
  } >"$scratch/long"
  expect 0 word_count "$scratch/large" "$scratch/large" <<EOF
600000 words, 3 different, in 2 of 2 files
  200000  ab
  200000  cd
  200000  ef
EOF
  expect 0 word_count "$scratch/long" <<EOF
3 words, 3 different, in 1 of 1 files
       1  after
       1  before
       1  $(head -c 200000 /dev/zero | tr '\0' x)
EOF
  expect 1 word_count "$scratch/missing" "$scratch/one" <<EOF
word_count.lua: $scratch/missing: No such file or directory
9 words, 7 different, in 1 of 2 files
       2  sea
       2  the
       1  don't
       1  d$(printf '\303\251j\303\240')
       1  it's
       1  panic
       1  vu
EOF
  expect 1 word_count "$scratch" <<EOF
word_count.lua: $scratch: Is a directory
0 words, 0 different, in 0 of 1 files
EOF
  # Without a file, it counts the words of its own source. An independent count:
  tr -cs "A-Za-z0-9'\200-\377" '\n' <examples/word_count.lua | tr '[:upper:]' '[:lower:]' |
    grep -a . | sort | uniq -c | sort -k1,1nr -k2,2 >"$scratch/counts"
  expect 0 word_count <<EOF
$(awk '{ n += $1 } END { print n }' "$scratch/counts") words, $(
    wc -l <"$scratch/counts"
  ) different, in 1 of 1 files
$(awk 'NR <= 10 { printf "%8d  %s\n", $1, $2 }' "$scratch/counts")
EOF
}

test_ping_pong() {
  expect 0 ping_pong 500 <<EOF
pong returned 500 balls to ping
#.# µs for a round trip
EOF
  local bad
  for bad in 0 -1 x 1.5; do
    expect 2 ping_pong "$bad" <<<"usage: ping_pong.lua [ROUNDS], ROUNDS at least 1"
  done
}

test_from_lanes() {
  expect 0 from_lanes 1000 3 <<EOF
871 has the longest sequence below 1000: 179 numbers
3 lanes, and one that is cancelled
EOF
  expect 0 from_lanes 2 1 <<EOF
1 has the longest sequence below 2: 1 numbers
1 lanes, and one that is cancelled
EOF
  local bad
  for bad in 1 ten 1.5 "100 0"; do
    # shellcheck disable=SC2086  # two arguments in one
    expect 2 from_lanes $bad <<EOF
usage: from_lanes.lua [LIMIT [LANES]], LIMIT at least 2, LANES at least 1
EOF
  done
}

test_from_luaproc() {
  expect 0 from_luaproc 30 <<EOF
the first 30 primes: 2 3 5 7 11 …
the last of them is 113
EOF
  expect 0 from_luaproc 1 <<EOF
the first 1 primes: 2 …
the last of them is 2
EOF
  local bad
  for bad in 0 ten 1.5; do
    expect 2 from_luaproc "$bad" <<<"usage: from_luaproc.lua [COUNT], COUNT at least 1"
  done
}

test_pipeline() {
  expect 0 pipeline 250 <<EOF
1 = 1²
4 = 2²
9 = 3²
121 = 11²
484 = 22²
676 = 26²
10201 = 101²
12321 = 111²
14641 = 121²
40804 = 202²
44944 = 212²
11 of 250 squares are palindromes
EOF
  expect 0 pipeline 1 <<EOF
1 = 1²
1 of 1 squares are palindromes
EOF
  local bad
  for bad in 0 -1 x; do
    expect 2 pipeline "$bad" <<<"usage: pipeline.lua [COUNT], COUNT at least 1"
  done
}

test_sieve() {
  expect 0 sieve 25 <<EOF
2 3 5 7 11 13 17 19 23 29
31 37 41 43 47 53 59 61 67 71
73 79 83 89 97
EOF
  expect 0 sieve 1 <<<2
  local bad
  for bad in 0 -1 x; do
    expect 2 sieve "$bad" <<<"usage: sieve.lua [COUNT], COUNT at least 1"
  done
}

test_supervisor() {
  expect 0 supervisor <<EOF
dish 1
dish 2
dish 1
dish 2
waiter	is there
cook	is there
dish 1
dish 2
the waiter goes home
nil	supervisor 'kitchen': more than 2 restarts within 60 s, the last of child 'cook': burnt
EOF
  expect 2 supervisor 5 <<<"usage: supervisor.lua, without arguments"
}

test_timeouts() {
  # A tab stands between the values that print is given.
  attempts=5 expect 0 timeouts <<EOF
receive, empty key:	nil	timeout
receive, no wait:  	nil	timeout
send, room:        	true
send, full key:    	nil	timeout
receive:           	first	1
receive_any:       	fast	here
receive_any, empty:	nil	timeout
join, too early:   	nil	timeout
result, too early: 	false	true
join:              	true	done
before expiry:     	secret
after expiry:      	nil
sum within #.# s:  	60
false	examples/timeouts.lua:$(
    grep -n '"mail", -1' examples/timeouts.lua | cut -d: -f1
  ): bad argument #2 to 'receive' (timeout must not be negative)
EOF
  expect 2 timeouts 5 <<<"usage: timeouts.lua, without arguments"
}

test_race() {
  # The simulator does not look at SHOAL_WORKERS. Some seed must fail, and again when it is alone.
  expect 0 race fixed <<<"the balance is 130"
  expect 2 race broke <<<"usage: race.lua [fixed]"
  local seed
  timeout 120 "$shoal" --sim=1..500 examples/race.lua >"$scratch/out" 2>"$scratch/err"
  seed=$(sed -nE 's/^shoal: seed ([0-9]+) fails .*: .* --sim=\1 examples\/race.lua$/\1/p' \
    "$scratch/err")
  if [[ -z $seed ]] || timeout 120 "$shoal" --sim="$seed" examples/race.lua >"$scratch/again" 2>&1 ||
    ! diff "$scratch/out" "$scratch/again" ||
    ! timeout 120 "$shoal" --sim=1..100 examples/race.lua fixed 2>"$scratch/none" ||
    [[ $(<"$scratch/none") != "shoal: no seed from 1 to 100 fails" ]]; then
    echo "FAILED: race, simulated"
    cat "$scratch/out" "$scratch/err"
    failed=1
  fi
}

test_download() {
  attempts=5 expect 0 download <<EOF
one      13000 bytes	200
two      13000 bytes	200
three    15000 bytes	200
four     14000 bytes	200
five     14000 bytes	200
5 pages in #.# s, #.# kB/s
EOF
  expect 1 download http://127.0.0.1:1/ <<EOF
http://#.#.#.#:1/	connection refused
0 pages in #.# s, #.# kB/s
EOF
}

test_echo_server() {
  expect 0 echo_server <<EOF
Ann got back 1000 lines
Bob got back 2000 lines
Cem got back 3000 lines
EOF
  expect 2 echo_server x <<<"usage: echo_server.lua [PORT]"
}

test_echo_pool() {
  expect 0 echo_pool <<EOF
Ann got back 1000 lines
Bob got back 2000 lines
Cem got back 3000 lines
EOF
  expect 2 echo_pool x <<<"usage: echo_pool.lua [PORT]"
}

test_chat() {
  expect 0 chat <<EOF
Hello Ann, you are number 1.
Bob has come
Bob: How are you?
Bob has gone
EOF
  expect 2 chat 1 2 <<<"usage: chat.lua [PORT]"
}

test_offload() {
  # The ends of blocks of 64 bytes, with and without room for the padding.
  local size paths=()
  for size in 0 3 55 56 64 1000; do
    head -c "$size" /dev/zero | tr '\0' x >"$scratch/$size"
    paths+=("$scratch/$size")
  done
  expect 0 offload "${paths[@]}" <<EOF
$(printf '\r%d of 6 files' 1 2 3 4 5 6)
$(sha256sum "${paths[@]}")
EOF
  expect 1 offload "$scratch/3" "$scratch/missing" <<EOF
$(printf '\r%d of 2 files' 1 2)
cannot read $scratch/missing
$(sha256sum "$scratch/3")
EOF
  expect 2 offload <<<"usage: offload.lua FILE..."
}

test_hundred_thousand() {
  expect 0 hundred_thousand 300 <<EOF
300 processes wait after #.# s
all were woken and have ended after #.# s
peak memory: # MB, #.# KB for a process
EOF
  local bad
  for bad in 0 -1 x; do
    expect 2 hundred_thousand "$bad" <<<"usage: hundred_thousand.lua [N], N at least 1"
  done
}

for SHOAL_WORKERS in 1 2; do
  export SHOAL_WORKERS
  for example in examples/*.lua; do
    name=$(basename "$example" .lua)
    if [[ $(type -t "test_$name") == function ]]; then
      "test_$name"
    else
      echo "FAILED: $example has no test"
      failed=1
    fi
  done
done
exit "$failed"
