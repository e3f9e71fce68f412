#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds and runs a small project outside with Bazel, which has Shoal as a local repository.

set -euo pipefail

work=$TEST_TMPDIR/consumer
shoal=$(dirname "$(readlink -f WORKSPACE)")
expected="42 from Lua 5.4"

mkdir -p "$work"
cp tests/cpp/consumer/main.cc "$work"
cat >"$work/WORKSPACE" <<END
workspace(name = "consumer")
local_repository(name = "shoal", path = "$shoal")
load("@shoal//:debian.bzl", "debian_repositories")
debian_repositories()
END
cat >"$work/BUILD" <<END
cc_binary(
    name = "consumer",
    srcs = ["main.cc"],
    deps = ["@shoal//bindings/cpp:shoal"],
)
END

export HOME
HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
bazel=(bazel "--output_base=$TEST_TMPDIR/bazel" --max_idle_secs=5)
trap 'cd "$work" && "${bazel[@]}" shutdown' EXIT

# Not optimised: it is to be built, not to be fast.
cd "$work"
"${bazel[@]}" build --cxxopt=-std=c++20 --disk_cache="$HOME/.cache/shoal/bazel" --noshow_progress \
  //:consumer
output=$(bazel-bin/consumer)
[[ $output == "$expected" ]] || {
  echo "bazel_test: it says '$output'"
  exit 1
}
echo "ok: Bazel"
