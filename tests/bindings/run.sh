#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the Lua tests with the shoal program and says how each went.
#
# usage: run.sh SHOAL MODULE VARIANT SCRIPT...
#
#   SHOAL     the program; or shoal.so, which scripts then use in the stock lua5.4, as hosts
#   MODULE    foreign.so, which the tests require
#   VARIANT   default: a worker for each processor; one: one, and states that are no copies of an image;
#             gc: a full collection at each switch of tasks; every: a slice ends at each instruction;
#             counted: without signals, and as one; sim: in the simulator, each script with two seeds
#   SCRIPT    a test passes if it exits with 0 in time; its output is shown if it does not.
#             Its second line may say what it needs: `-- needs: workers=2`; `-- needs: no
#             simulation`; `-- needs: the program`, since it is about what a host has not.
#
# The environment: SHOAL_TEST_SCALE, SHOAL_TEST_SEED (see support.lua), SHOAL_TEST_TIME (seconds for
# each script). A sanitizer makes the sizes smaller and the time longer. Scripts find the variant in
# SHOAL_TEST_VARIANT, and in SHOAL what runs a script; SHOAL_TEST_HOST is set if that is a host.

program=$(realpath "$1")
module=$(realpath "$2")
variant=$3
shift 3

# All processes begin as copies of an image, where they do not all open their libraries.
export SHOAL_TEST_IMAGES=first

scale=1
time=60
runs=("")  # options of the program, for one run of each script
case $variant in
  default) ;;
  one)
    export SHOAL_WORKERS=1 SHOAL_TEST_IMAGES=off
    scale=0.2
    ;;
  gc)
    export SHOAL_TEST_COLLECT=1
    scale=0.1
    ;;
  every)
    export SHOAL_TEST_SLICES=every
    scale=0.02
    ;;
  counted)
    export SHOAL_TEST_SLICES=counted SHOAL_TEST_IMAGES=off
    scale=0.2
    ;;
  sim)
    export SHOAL_WORKERS=1
    scale=0.1
    runs=(--sim=1 --sim=2)
    ;;
  *)
    echo "run.sh: no variant '$variant'"
    exit 2
    ;;
esac
if [[ -n ${SANITIZER_LIBRARY:-} ]]; then
  [[ $variant == every ]] || scale=0.05
  time=300
fi
export SHOAL_TEST_SCALE=${SHOAL_TEST_SCALE:-$scale}
export SHOAL_TEST_TIME=${SHOAL_TEST_TIME:-$time}
export SHOAL_TEST_VARIANT=$variant

output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
export TMPDIR=$output
unset LUA_INIT LUA_INIT_5_4 LUA_PATH_5_4 LUA_CPATH_5_4
export LUA_CPATH="$(dirname "$module")/?.so;;"

export SHOAL=$program
if [[ $program == *.so ]]; then
  export SHOAL=$output/host SHOAL_TEST_HOST=1
  LUA_CPATH="$(dirname "$program")/?.so;$LUA_CPATH"
  # The scripts require the drop-ins by their plain names.
  lua=$(command -v lua5.4)
  # By the loader, not by LD_PRELOAD, which a shell that it starts would inherit: that crashes.
  loader=$(ldd "$lua" | sed -n 's/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\).*/\1/p')
  cat >"$SHOAL" <<EOF
#!/bin/sh
exec $loader --preload '${SANITIZER_LIBRARY:-}' $lua -e 'require("shoal").compat("socket", "lanes", "luaproc")' "\$@"
EOF
  chmod +x "$SHOAL"
fi

# Whether the needs of the script are met here.
is_met() {
  local workers=${SHOAL_WORKERS:-$(nproc)} needs
  needs=$(sed -n '2s/^-- needs: //p' "$1")
  case $needs in
    "") ;;
    workers=*) ((workers >= ${needs#workers=})) ;;
    "no simulation") [[ $variant != sim ]] ;;
    "the program") [[ -z ${SHOAL_TEST_HOST:-} ]] ;;
    *)
      echo "run.sh: $1 needs '$needs', which means nothing"
      exit 2
      ;;
  esac
}

# Where support.lua is: this script is also run from elsewhere, in the folder of the runfiles.
support=$(dirname "${BASH_SOURCE[0]}")
[[ -e $support/support.lua ]] || support=tests/bindings

passed=0
failed=0

# run SCRIPT [OPTION]: runs it once.
run() {
  local script=$1 name start status took why
  name="$(basename "$script" .lua)${2:+ $2}"
  start=$EPOCHREALTIME
  LUA_PATH="$(dirname "$script")/?.lua;$support/?.lua;;" \
    timeout --kill-after=5 "$SHOAL_TEST_TIME" "$SHOAL" ${2:+"$2"} "$script" >"$output/log" 2>&1 </dev/null
  status=$?
  took=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
  if ((status == 0)); then
    passed=$((passed + 1))
    printf 'ok     %6d ms  %s\n' "$took" "$name"
    return
  fi
  failed=$((failed + 1))
  case $status in
    124 | 137) why="it hangs: ended after $SHOAL_TEST_TIME s" ;;
    1) why="it failed" ;;
    *) why="status $status" ;;
  esac
  printf 'FAILED %6d ms  %s: %s\n' "$took" "$name" "$why"
  sed 's/^/    /' "$output/log" | tail -n 60
}

for script; do
  if ! is_met "$script"; then
    echo "left out $(basename "$script" .lua): it $(sed -n '2s/^-- //p' "$script")"
    continue
  fi
  for option in "${runs[@]}"; do run "$script" "$option"; done
done

echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
