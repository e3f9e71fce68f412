// SPDX-License-Identifier: MIT
// A Gate lets the program's threads into a runtime, until it ends. It outlives the runtime: each
// handle has it.
//
// A thread enters the gate for each call that needs the runtime, and leaves it at the call's end.
// Once the gate is closed, nobody enters any more; those that wait inside are woken; and when the
// last one has left, the cells give up what they keep. From then on, nothing outside refers to the
// runtime, which can go.
//
//   1 Close        Enter fails from here on. Waits are claimed, with kClosed
//   2 AwaitEmpty   all who are inside have left
//   3 ClearCells   what handles stand for is released
//
// Threads:   any; the three above by the one that ends the runtime, in that order.
// Ownership: shared by the runtime and by all cells.
// Locks:     mu_ (kLeaf). References are released without it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/base/intrusive_list.h"
#include "runtime/base/lock_rank.h"
#include "runtime/base/mutex.h"
#include "runtime/runtime.h"

namespace shoal::embed {

class Cell;
class HostWait;
struct CellTag {};
struct HostWaitTag {};

class Gate final : public std::enable_shared_from_this<Gate> {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Before anybody else knows the gate.
  void Open(core::Runtime& runtime) { runtime_ = &runtime; }

  // True: the runtime stays until Leave. May be nested.
  [[nodiscard]] bool Enter() {
    if ((word_.fetch_add(kOne) & kClosed) == 0) return true;
    Leave();
    return false;
  }
  void Leave();
  // REQUIRES: inside.
  [[nodiscard]] core::Runtime& runtime() const { return *runtime_; }
  [[nodiscard]] core::Machine& machine() const { return runtime_->machine(); }
  // A hint.
  [[nodiscard]] bool closed() const { return (word_.load() & kClosed) != 0; }

  // --- The end.
  void Close();
  void AwaitEmpty();
  void ClearCells();

  // --- For cells. REQUIRES: inside.
  void Add(Cell& cell);
  // The last handle has gone. Deletes the cell, now or in ClearCells.
  static void Drop(Cell& cell);

  // --- For waits. False: the gate is closed, and the wait is not known here.
  [[nodiscard]] bool Add(HostWait& wait);
  void Remove(HostWait& wait);

 private:
  // word_: whether it is closed in bit 0, and how many are inside. seq_cst; what was done inside
  // comes before what AwaitEmpty's caller does.
  static constexpr std::uint32_t kClosed = 1;
  static constexpr std::uint32_t kOne = 2;

  std::atomic<std::uint32_t> word_{0};
  core::Runtime* runtime_ = nullptr;
  core::Mutex mu_{core::LockRank::kLeaf};
  core::List<Cell, CellTag> cells_ SHOAL_GUARDED_BY(mu_);
  core::List<HostWait, HostWaitTag> waits_ SHOAL_GUARDED_BY(mu_);
  bool waits_closed_ SHOAL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal::embed
