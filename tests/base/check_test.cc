// SPDX-License-Identifier: MIT
#include "runtime/base/check.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

namespace {

// Runs `body` in a child process; returns how it ended and what it wrote to stderr.
template <class Body>
std::string StderrOfAborted(Body body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    body();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGABRT);
  return text;
}

}  // namespace

TEST_CASE("a check that holds does nothing and evaluates its condition once") {
  int count = 0;
  SHOAL_CHECK(++count == 1);
  REQUIRE(count == 1);
}

TEST_CASE("a check that fails names its place and condition and aborts") {
  const std::string text = StderrOfAborted([] { SHOAL_CHECK(1 + 1 == 3); });
  REQUIRE(text.find("check_test.cc:") != std::string::npos);
  REQUIRE(text.find("check failed: 1 + 1 == 3") != std::string::npos);
}
