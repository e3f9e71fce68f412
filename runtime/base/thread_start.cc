// SPDX-License-Identifier: MIT
#include "runtime/base/thread_start.h"

#include <csignal>
#include <cstdio>
#include <initializer_list>

#include "runtime/base/test_point.h"

namespace shoal::core {

Status StartThread(void* (*main)(void*), void* argument, pthread_t* thread, int unblocked) {
  if (SHOAL_TEST_FAULT("thread.start")) return Status::kNoThread;
  // The new thread takes over the mask, so there is no moment at which a signal could hit it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // What a thread brings on itself is not blocked: it would be lost, or end the program anyhow. A
  // write to a closed pipe ends a script as it ends any other program.
  for (const int own : {SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&all, own);
  }
  if (unblocked != 0) sigdelset(&all, unblocked);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(thread, nullptr, main, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0 ? Status::kOk : Status::kNoThread;
}

void NameThread(const char* role, int number) {
  char name[16];  // the system's limit
  if (number < 0) {
    std::snprintf(name, sizeof name, "shoal-%s", role);
  } else {
    std::snprintf(name, sizeof name, "shoal-%s%d", role, number % 10000);
  }
  pthread_setname_np(pthread_self(), name);
}

}  // namespace shoal::core
