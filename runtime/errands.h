// SPDX-License-Identifier: MIT
// Errands are what foreign threads leave for the runtime to do, without ever waiting: no lock, no
// memory, and at most one system call, which wakes the timekeeper.
//
// A push puts the errand on a stack, by one CAS. Who takes them takes all, and does them in the
// order of their pushes; one thread at a time, so that the order holds.
//
// Threads:   any thread may call any member.
// Ownership: an errand is the pusher's; from the push to its Run it stays where it is.
#pragma once

#include <atomic>

namespace shoal::core {

class Errand {
 public:
  // Once, on a thread of the runtime, which holds no lock. It may free the errand, or push it
  // again. Nothing in here waits or throws.
  virtual void Run() = 0;

 protected:
  virtual ~Errand() = default;

 private:
  friend class Errands;
  Errand* next_ = nullptr;
};

class Errands {
 public:
  Errands() = default;
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  // True: there was none before, so somebody has to be told.
  [[nodiscard]] bool Push(Errand& errand);
  [[nodiscard]] bool empty() const { return newest_.load() == nullptr; }
  // Whether any are there, or are being done.
  [[nodiscard]] bool Armed() const { return !empty() || busy_.load(); }
  // Does all that are there; nothing, if another thread is at it, which then does those as well.
  void Run();

 private:
  // seq_cst: who finds busy_ set after a push comes, in the one order of both, before its holder
  // clears it and looks at newest_ again. A push publishes the errand.
  std::atomic<Errand*> newest_{nullptr};
  std::atomic<bool> busy_{false};
};

}  // namespace shoal::core
