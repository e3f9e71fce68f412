// SPDX-License-Identifier: MIT
// A C++ program owns the runtime: its processes greet the world and the moon.
//
//   bazel run //examples/embed:hello
#include <shoal/shoal.h>

#include <cstdio>
#include <string>

namespace {

constexpr char kGreeter[] = R"lua(
  local function greet(name)
    return "Hello, " .. name .. ", from " .. tostring(require("shoal").self())
  end
  return { greet = greet }
)lua";

}  // namespace

int main() {
  shoal::Runtime runtime({.workers = 2});
  const shoal::Pool pool = runtime.MakePool({.body = kGreeter, .size = 2});

  // Two calls at the same time, in two processes.
  const shoal::Future world = pool.Async("greet", "world");
  const shoal::Future moon = pool.Async("greet", "moon");
  for (const shoal::Future& greeting : {world, moon}) {
    const shoal::Result<shoal::Values> result = greeting.Join();
    if (!result) {
      std::fprintf(stderr, "%s\n", std::string(result.error().message()).c_str());
      return 1;
    }
    std::printf("%s\n", result->get<std::string>(0).value_or("?").c_str());
  }
}
