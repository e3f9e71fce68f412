#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks the models of this folder with spin: each must hold, and each broken variant must fail.
#
# usage: run.sh [--deep] [MODEL...]
#        MODEL: park, poll, process, queue, rendezvous, wait; default all
#        --deep: also larger sizes, about ten minutes
#
# Needs `spin` and `cc`. The last line is `N passed, N failed`; exit status 0 if none has failed.

set -u
export LC_ALL=C

models=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/models.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scratch"' EXIT
jobs=$(nproc)
((jobs > 4)) && jobs=4     # each takes up to 0.5 GB
deep=0
only=()
for argument; do
  case $argument in
    --deep) deep=1 ;;
    *) only+=("${argument%.pml}") ;;
  esac
done
for tool in spin cc; do
  if ! command -v "$tool" >/dev/null; then
    echo "$tool: not found"
    echo "0 passed, 1 failed"
    exit 1
  fi
done

# check FOLDER MODEL HOW WANTED FLAGS...: one run of the checker; prints one line.
#   HOW     safe: assertions and threads that wait for ever.  live: the ltl property, with fairness.
#   WANTED  holds: there is no error, and all states were seen.  fails: there is one at least.
check() {
  local folder=$1 model=$2 how=$3 wanted=$4 compile search errors states what verdict=FAILED
  shift 4
  mkdir "$folder" && cd "$folder" || return
  # Without -DNFAIR=3, fairness is for at most six threads.
  if [[ $how == live ]]; then
    compile=(-DNFAIR=3) search=(-a -f)
  else
    compile=(-DSAFETY -DNOCLAIM) search=()
  fi
  [[ $wanted == holds ]] && compile+=(-O1)
  cp "$models/$model.pml" . &&
    spin -a "$@" "$model.pml" >log 2>&1 &&
    cc -w -DCOLLAPSE -DMEMLIM=1800 "${compile[@]}" -o pan pan.c >>log 2>&1 &&
    ./pan "${search[@]}" -w23 -m1000000 -n >>log 2>&1
  errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' log)
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' log)
  # What was found: an assertion, an invalid end state (a thread waits for ever), a cycle.
  what=$(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' log)
  if grep -qE 'Error|too small|reached -DMEMLIM|truncated|aborted' log; then
    what="$(grep -m 1 -E 'Error|too small|reached -DMEMLIM|truncated|aborted' log)"
  elif [[ $wanted == holds && $errors == 0 ]]; then
    verdict=ok what=holds
  elif [[ $wanted == fails && ${errors:-0} != 0 ]]; then
    verdict=ok
  elif [[ $wanted == fails && $errors == 0 ]]; then
    what="is not found"
  elif [[ -z $what ]]; then
    what=$(tail -n 1 log)
  fi
  printf '%-6s %s %10s states  %-10s %s: %.60s\n' \
    "$verdict" "$how" "${states:-?}" "$model" "${*:-(as it is)}" "$what" >../"$folder.line"
  rm -f pan pan.c    # the folders add up
}

count=0
# plan MODEL HOW WANTED FLAGS...: starts a check, when there is room for one more.
plan() {
  if ((${#only[@]})) && [[ " ${only[*]} " != *" $1 "* ]]; then return; fi
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
  count=$((count + 1))
  (cd "$scratch" && check "$(printf 'run%03d' "$count")" "$@") &
}
holds() { plan "$1" safe holds "${@:2}"; }
lives() { plan "$1" live holds "${@:2}"; }
broken() { plan "$1" safe fails "-DBROKEN=$2" "${@:3}"; }

# --- park ----------------------------------------------------------------------------------------
# Only pushes, with a hog; a hog that has armed a timer, or sockets and a timer; a socket whose
# process is a hog; the same, and it arms more before; a hog from outside while something is armed.
pushes=(-DSOCKETS=0 -DTIMERS=0)
timer=(-DSOCKETS=0)
armed=(-DSOCKETS=2)
handler=(-DSOCKETS=2 -DARMER_HOGS=0 -DSOCKET_HOGS=1 -DPUSHES=0)
chain=("${handler[@]}" -DCHAIN=1)
outside=(-DARMER_HOGS=0 -DHOG_PUSHES=1 -DPUSHES=0)
holds park -DWORKERS=3 -DTIMERS=0 -DPUSHES=0
holds park -DWORKERS=3 -DHOG_PUSHES=1 "${pushes[@]}"
holds park "${armed[@]}"
holds park "${handler[@]}"
holds park "${chain[@]}"
holds park "${outside[@]}"
lives park "${timer[@]}"
lives park "${chain[@]}"
for n in 1 2 3 5 11 12 13 15; do broken park $n "${pushes[@]}"; done
for n in 4 6 7; do broken park $n "${handler[@]}"; done
broken park 8 "${chain[@]}"
for n in 9 10 14 16; do broken park $n "${timer[@]}"; done

# --- poll ----------------------------------------------------------------------------------------
holds poll
for n in 1 2 3 4 5 6 7 8 9; do broken poll $n; done

# --- queue ---------------------------------------------------------------------------------------
holds queue
lives queue
for n in 1 2; do broken queue $n; done

# --- process -------------------------------------------------------------------------------------
two=(-DPROCESSES=2 -DSEATS=1 -DVISITORS=0)
holds process
holds process "${two[@]}"
holds process -DPROCESSES=2 -DCOMPLETERS=1 -DVISITORS=0
lives process -DVISITORS=0
for n in 1 2 3 4 5 6 7 8 9 11; do broken process $n; done
for n in 12 13; do broken process $n -DCOMPLETERS=1; done
broken process 10 "${two[@]}"

# --- wait ----------------------------------------------------------------------------------------
holds wait -DDEADLINES=3 -DMESSAGES=3
lives wait
for n in 1 2 3 4 5 6 7 8 9 10 12 13 14 15; do broken wait $n; done
broken wait 11 -DDEADLINES=3 -DCANCEL=0

# --- rendezvous ----------------------------------------------------------------------------------
selects=(-DSCENE=3 -DDEADLINES=0)
holds rendezvous -DDEADLINES=13
holds rendezvous -DDEADLINES=0 -DEARLY=1
holds rendezvous -DDEADLINES=13 -DSCENE=2
holds rendezvous "${selects[@]}"
holds rendezvous -DPAIR
holds rendezvous -DPAIR -DSENDERS=1 -DDEADLINES=4 -DEARLY=1
holds rendezvous -DPAIR "${selects[@]}"
lives rendezvous -DSENDERS=1 -DDEADLINES=4 -DEARLY=1
lives rendezvous -DPAIR "${selects[@]}"
for n in 1 2 3 4 5 9; do broken rendezvous $n -DDEADLINES=10; done
broken rendezvous 6 -DSCENE=2
plan rendezvous live fails -DBROKEN=7 "${selects[@]}"
broken rendezvous 8 -DPAIR "${selects[@]}"

# --- larger --------------------------------------------------------------------------------------
if ((deep)); then
  holds park -DWORKERS=3 -DSOCKET_HOGS=1 -DPUSHES=0
  lives park "${armed[@]}"
  holds poll -DSENDS=5 -DLOOKS=4
  holds process -DCOMPLETERS=3 -DVISITORS=0
  lives process "${two[@]}"
  lives wait -DDEADLINES=3 -DMESSAGES=3
  holds rendezvous -DDEADLINES=15
  holds rendezvous -DDEADLINES=4 -DEARLY=1
  holds rendezvous -DPAIR -DDEADLINES=15
  lives rendezvous -DDEADLINES=12
fi

wait
cat "$scratch"/*.line 2>/dev/null
passed=$(cat "$scratch"/*.line 2>/dev/null | grep -c '^ok')
failed=$((count - passed))
echo "$passed passed, $failed failed"
((count > 0 && failed == 0))
