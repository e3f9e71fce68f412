// SPDX-License-Identifier: MIT
// A Runnable is what workers run: a process.
#pragma once

namespace shoal::core {

// The place for the link of the inject queue; guarded by its lock.
class InjectLink {
 private:
  friend class InjectQueue;
  InjectLink* behind_ = nullptr;
};

// Invariant: a Runnable stands in at most one place at a time: a run queue, the inject queue or a
// `next` slot. Whoever takes it out of there owns it, until it is made ready again.
//
// Threads: Run on a worker; the same Runnable never on two at once, if it is made ready only by who
// owns it.
class Runnable : public InjectLink {
 public:
  Runnable() = default;
  Runnable(const Runnable&) = delete;
  Runnable& operator=(const Runnable&) = delete;

  // One dispatch. The Runnable may be made ready elsewhere, or be freed, before this returns; the
  // worker does not touch it again. The thread may have lost or changed its seat meanwhile.
  virtual void Run() = 0;

 protected:
  ~Runnable() = default;
};

}  // namespace shoal::core
