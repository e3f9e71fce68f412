#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds and runs a small project outside with what `./dev install` installs: by pkg-config, by CMake,
# and from a folder to which all has been moved.
#
# usage: installed_test.sh SHOAL MODULE LIBRARY

set -euo pipefail

work=$TEST_TMPDIR
project=tests/cpp/consumer
expected="42 from Lua 5.4"

fail() {
  echo "installed_test: $*"
  exit 1
}

# expect WHAT COMMAND...: its output is that of the project.
expect() {
  local what=$1 output
  shift
  output=$("$@") || fail "$what: it does not run"
  [[ $output == "$expected" ]] || fail "$what: it says '$output'"
  echo "ok: $what"
}

bindings/install.sh "$1" "$2" "$3" "$work/prefix"
lib=$work/prefix/lib

# Each header stands alone, and has no warnings for people who want all of them.
export PKG_CONFIG_PATH=$lib/pkgconfig
read -ra cflags <<<"$(pkg-config --cflags shoal)"
read -ra libs <<<"$(pkg-config --libs shoal)"
strict=(-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror)
for header in "$work"/prefix/include/shoal/*.h; do
  echo "#include <shoal/$(basename "$header")>"
done >"$work/headers"
while read -r line; do
  echo "$line" | g++ "${strict[@]}" "${cflags[@]}" -fsyntax-only -x c++ - ||
    fail "$line does not compile on its own"
done <"$work/headers"
echo "ok: $(wc -l <"$work/headers") headers"

# pkg-config.
g++ "${strict[@]}" "${cflags[@]}" -o "$work/by_pkg_config" "$project/main.cc" "${libs[@]}"
expect pkg-config env LD_LIBRARY_PATH="$lib" "$work/by_pkg_config"
[[ $(pkg-config --modversion shoal) == 0.1 ]] || fail "the version is not 0.1"

# CMake.
by_cmake() {
  cmake -S "$project" -B "$work/$1" -DCMAKE_PREFIX_PATH="$2" >"$work/log" 2>&1 &&
    cmake --build "$work/$1" >>"$work/log" 2>&1 ||
    { cat "$work/log"; fail "CMake: it does not build in $1"; }
  expect "CMake, $1" "$work/$1/consumer"
}
by_cmake "build" "$work/prefix"

# The package of CMake goes where its files go; and DESTDIR is a folder before all others.
DESTDIR=$work/staged bindings/install.sh "$1" "$2" "$3" /opt/shoal
grep -q '^prefix=/opt/shoal$' "$work/staged/opt/shoal/lib/pkgconfig/shoal.pc" ||
  fail "shoal.pc has DESTDIR in it"
mv "$work/staged/opt/shoal" "$work/moved"
by_cmake "moved build" "$work/moved"

# No function of the core is exported.
! nm -DC --defined-only "$lib/libshoal.so" | grep -E ' T shoal::(core|bindings)::' ||
  fail "the core is exported"
# Nor is Lua inside: modules in C that the program loads use the program's.
! nm -D --defined-only "$lib/libshoal.so" | grep -E ' lua_' || fail "Lua is inside"
