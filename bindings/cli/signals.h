// SPDX-License-Identifier: MIT
// Signals is what SIGINT (Ctrl-C), SIGTERM and SIGQUIT mean to the program:
//   SIGINT, SIGTERM   raise "interrupted" in the first process; the second one ends the program
//   SIGQUIT (Ctrl-\)  lists on stderr which processes there are, and what they wait for
//
// A thread of its own waits for them, so what is done on a signal is not bound to what may be done
// in a handler. All others block them, but those that run another program (os.execute, io.popen):
// from there a handler sends them on. Signals that were ignored when the program began still are.
//
// Threads: made, started, stopped and destroyed by the main thread; Forgive by any.
#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstdint>

#include "bindings/cli/line_reader.h"
#include "runtime/runtime.h"

namespace shoal::cli {

class Signals {
 public:
  // Blocks the signals in the calling thread, and in those that it starts from now on.
  explicit Signals(const LineReader& reader);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Starts the thread. If the system refuses it, the signals do what they do to any program.
  // REQUIRES: no script runs yet, which could send some to itself.
  void Start();
  // The script has been spawned: what has come meanwhile is done now.
  void Follow(core::Runtime& runtime);
  // Before the runtime goes.
  void Stop();

  // A signal that has come has done its work: the next one is again the first.
  void Forgive() { interrupts_.store(0); }

 private:
  static void SendOn(int signal);  // the handler
  static void* Main(void* signals);
  void Run();
  void Begin();
  void Interrupt(int signal);
  [[noreturn]] void EndProgram(int signal);

  const LineReader& reader_;
  core::Runtime* runtime_ = nullptr;
  // 1: runtime_ is there, or the end. What the thread sleeps on at first; publishes runtime_.
  std::atomic<std::uint32_t> begun_{0};
  sigset_t handled_{};
  sigset_t before_{};  // what the main thread blocked
  // For the handler, which has no other place: there is one such thread in the program.
  static std::atomic<pthread_t> receiver_;
  pthread_t thread_{};
  bool started_ = false;
  // How many have come since the last Forgive; publishes nothing else.
  std::atomic<int> interrupts_{0};
};

}  // namespace shoal::cli
