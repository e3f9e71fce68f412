// SPDX-License-Identifier: MIT
#include "runtime/base/thread_start.h"

#include <pthread.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

namespace shoal::core {
namespace {

struct Seen {
  char name[16] = "";
  bool blocked = true;
};

void* Look(void* argument) {
  auto& seen = *static_cast<Seen*>(argument);
  NameThread("w", 7);
  pthread_getname_np(pthread_self(), seen.name, sizeof seen.name);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (int signal : {SIGINT, SIGTERM, SIGURG, SIGCHLD, SIGALRM}) {
    if (sigismember(&mask, signal) != 1) seen.blocked = false;
  }
  // A write to a closed pipe has to end the program as it ends others.
  if (sigismember(&mask, SIGPIPE) != 0) seen.blocked = false;
  return nullptr;
}

TEST_CASE("threads of the runtime have a name and block what others send") {
  Seen seen;
  pthread_t thread;
  REQUIRE(StartThread(&Look, &seen, &thread) == Status::kOk);
  pthread_join(thread, nullptr);
  CHECK(std::string(seen.name) == "shoal-w7");
  CHECK(seen.blocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGINT) == 0);
}

}  // namespace
}  // namespace shoal::core
