// SPDX-License-Identifier: MIT
#include "runtime/sched/interrupt.h"

#include <cerrno>
#include <csignal>

#include "runtime/base/mutex.h"
#include "runtime/sched/seats.h"

#ifdef SHOAL_THREAD_SANITIZER
// The sanitizer's sigaction puts off signals that arrive outside of system calls, for ever in a
// loop that makes none. The C library's own name for it is not replaced.
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*);
#define SHOAL_SIGACTION __sigaction
#else
#define SHOAL_SIGACTION sigaction
#endif

namespace shoal::core {

constinit thread_local Interruptible* InterruptSection::current_ = nullptr;

namespace {

// What the host had installed before, for each signal. Written before our handler is, by one thread
// at a time; read by the handler.
struct sigaction earlier_actions[NSIG];
bool installed[NSIG];
constinit Mutex install_mutex(LockRank::kLeaf);

SHOAL_IN_SIGNAL_HANDLER void CallEarlier(int signal, siginfo_t* cause, void* context) {
  const struct sigaction& earlier = earlier_actions[signal];
  if ((earlier.sa_flags & SA_SIGINFO) != 0) {
    earlier.sa_sigaction(signal, cause, context);
  } else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
    earlier.sa_handler(signal);
  }
}

SHOAL_IN_SIGNAL_HANDLER void OnSignal(int signal, siginfo_t* cause, void* context) {
  const int error = errno;
  if (WorkerThread* thread = WorkerThread::Current()) {
    thread->OnSignal();
  } else {
    CallEarlier(signal, cause, context);
  }
  errno = error;
}

}  // namespace

Status InstallInterruptHandler(int signal) {
  if (signal <= 0 || signal >= NSIG) return Status::kNotFound;
  MutexLock lock(install_mutex);
  if (installed[signal]) return Status::kOk;
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  // Calls that can be restarted are. No signal is blocked meanwhile: the handler is a few stores.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (SHOAL_SIGACTION(signal, nullptr, &earlier_actions[signal]) != 0 ||
      SHOAL_SIGACTION(signal, &action, nullptr) != 0) {
    return Status::kNotFound;
  }
  installed[signal] = true;
  return Status::kOk;
}

}  // namespace shoal::core
