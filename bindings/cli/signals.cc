// SPDX-License-Identifier: MIT
#include "bindings/cli/signals.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "bindings/cli/command_line.h"
#include "bindings/lua/stderr_log.h"
#include "runtime/base/futex.h"

namespace shoal::cli {

namespace {

// A program that was ended by a signal has this status, plus the signal, for a shell.
constexpr int kEndedBySignal = 128;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGQUIT};

// Ends the thread; nobody else sends it to that thread.
int StopSignal() { return SIGRTMIN; }

bool IsIgnored(int signal) {
  struct sigaction present;
  return sigaction(signal, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 &&
         present.sa_handler == SIG_IGN;
}

}  // namespace

// Lock-free, so that the handler may read it. Set before the handler is.
std::atomic<pthread_t> Signals::receiver_{};

Signals::Signals(const LineReader& reader) : reader_(reader) {
  sigemptyset(&handled_);
  for (const int signal : kSignals) {
    if (!IsIgnored(signal)) sigaddset(&handled_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &handled_, &before_);
}

Signals::~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void Signals::Start() {
  sigset_t all;
  sigset_t mine;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mine);
  started_ = pthread_create(&thread_, nullptr, &Signals::Main, this) == 0;
  if (started_) {
    receiver_.store(thread_);
    for (const int signal : kSignals) {
      if (sigismember(&handled_, signal) != 0) std::signal(signal, SendOn);
    }
  }
  pthread_sigmask(SIG_SETMASK, started_ ? &mine : &before_, nullptr);
}

void Signals::Follow(core::Runtime& runtime) {
  runtime_ = &runtime;
  Begin();
}

void Signals::Begin() {
  begun_.store(1);
  core::FutexWake(begun_, 1);
}

void Signals::SendOn(int signal) {
  const int error = errno;
  pthread_kill(receiver_.load(), signal);
  errno = error;
}

void Signals::Stop() {
  if (!started_) return;
  started_ = false;
  for (const int signal : kSignals) {
    if (sigismember(&handled_, signal) != 0) std::signal(signal, SIG_DFL);
  }
  pthread_kill(thread_, StopSignal());
  Begin();
  pthread_join(thread_, nullptr);
}

void* Signals::Main(void* signals) {
  static_cast<Signals*>(signals)->Run();
  return nullptr;
}

void Signals::Run() {
  pthread_setname_np(pthread_self(), "shoal-signals");
  while (begun_.load() == 0) core::FutexWait(begun_, 0);
  sigset_t awaited = handled_;
  sigaddset(&awaited, StopSignal());
  for (;;) {
    int signal = 0;
    if (sigwait(&awaited, &signal) != 0) continue;
    if (signal == StopSignal() || runtime_ == nullptr) return;
    if (signal == SIGQUIT) {
      bindings::WriteToStderr(std::string(kProgramName) + ": " + runtime_->ListProcesses());
    } else {
      Interrupt(signal);
    }
  }
}

void Signals::Interrupt(int signal) {
  if (interrupts_.fetch_add(1) > 0) EndProgram(signal);
  runtime_->InterruptScript(kEndedBySignal + signal);
}

void Signals::EndProgram(int signal) {
  reader_.RestoreTerminal();
  // As the signal does it to a program that knows nothing of it, so that a shell sees it.
  std::signal(signal, SIG_DFL);
  sigset_t unblocked;
  sigemptyset(&unblocked);
  sigaddset(&unblocked, signal);
  pthread_sigmask(SIG_UNBLOCK, &unblocked, nullptr);
  raise(signal);
  _exit(kEndedBySignal + signal);
}

}  // namespace shoal::cli
