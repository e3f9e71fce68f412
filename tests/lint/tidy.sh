#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: tidy.sh CACHE FILE.cc
#
# Runs clang-tidy on the file, unless it has passed before with the same content, the same
# headers of ours and the same checks. CACHE is a folder with an empty file for each pass.

set -euo pipefail

cache=$1 file=$2
flags=(-std=c++20 -I. -Ibindings/cpp)
# Headers of libraries are not ours to check.
for flag in $(pkg-config --cflags lua5.4 libedit); do flags+=("${flag/#-I/-isystem}"); done

# Prints "x.o: x.cc a.h \", with the headers that are not the system's.
sources=$(g++ "${flags[@]}" -MM "$file" | sed 's/^[^:]*://; s/\\$//')
# shellcheck disable=SC2086  # a list of words
key=$(cat .clang-tidy tests/.clang-tidy "${BASH_SOURCE[0]}" $sources | sha256sum | cut -c1-32)
[[ ! -e $cache/$key ]] || exit 0

clang-tidy-14 --quiet "$file" -- "${flags[@]}" 2> >(grep -v ' warnings generated.$' >&2)
mkdir -p "$cache"
touch "$cache/$key"
