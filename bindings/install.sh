#!/bin/bash
# SPDX-License-Identifier: MIT
# Puts what was built where the system looks for it.
#
# usage: install.sh SHOAL MODULE LIBRARY PREFIX
#
#   SHOAL    the program            to BINDIR (default: PREFIX/bin)
#   MODULE   shoal.so               to LUA_LIBDIR (PREFIX/lib/lua/5.4)
#   LIBRARY  libshoal.so            to LIBDIR (PREFIX/lib), with shoal.pc in LIBDIR/pkgconfig and the
#                                   package of CMake in LIBDIR/cmake/shoal
#   -        the headers of C++     to INCLUDEDIR (PREFIX/include)
#   -        shoal/*.lua            to LUA_SHAREDIR (PREFIX/share/lua/5.4)
#   -        the types for editors  to PREFIX/share/shoal/luals
#
# DESTDIR goes before each of them: for those who make packages. Each folder is a whole path.

set -euo pipefail

shoal=$1 module=$2 library=$3 prefix=$4
sources=$(dirname "${BASH_SOURCE[0]}")
version=$(sed -n 's/.*kVersion\[\] = "Shoal \(.*\)";.*/\1/p' "$sources/lua/shoal_library.h")

root=${DESTDIR:-}
lib=${LIBDIR:-$prefix/lib}
include=${INCLUDEDIR:-$prefix/include}

# Copies a file of the folder cpp/install with its blanks filled in.
fill_in() {
  install -d "$(dirname "$2")"
  sed -e "s|@PREFIX@|$prefix|; s|@LIBDIR@|$lib|; s|@INCLUDEDIR@|$include|; s|@VERSION@|$version|" \
    "$sources/cpp/install/$1" >"$2"
  chmod 644 "$2"
}

install -D -m 755 "$shoal" "$root${BINDIR:-$prefix/bin}/shoal"
install -D -m 644 "$module" "$root${LUA_LIBDIR:-$prefix/lib/lua/5.4}/shoal.so"
install -D -m 644 -t "$root${LUA_SHAREDIR:-$prefix/share/lua/5.4}/shoal" \
  "$sources"/lua/installed/*.lua
install -D -m 644 -t "$root$prefix/share/shoal/luals" "$sources"/lua/luals/*.lua

install -D -m 644 "$library" "$root$lib/libshoal.so.$version"
ln -sf "libshoal.so.$version" "$root$lib/libshoal.so.0"
ln -sf libshoal.so.0 "$root$lib/libshoal.so"
install -D -m 644 -t "$root$include/shoal" "$sources"/cpp/shoal/*.h
fill_in shoal.pc.in "$root$lib/pkgconfig/shoal.pc"
fill_in shoalConfigVersion.cmake.in "$root$lib/cmake/shoal/shoalConfigVersion.cmake"
install -D -m 644 -t "$root$lib/cmake/shoal" "$sources/cpp/install/shoalConfig.cmake"
