// SPDX-License-Identifier: MIT
#include "bindings/cpp/gate.h"

#include <climits>

#include "bindings/cpp/cell.h"
#include "bindings/cpp/host_wait.h"
#include "runtime/base/futex.h"

namespace shoal::embed {

using core::MutexLock;

void Gate::Leave() {
  if (word_.fetch_sub(kOne) == kClosed + kOne) core::FutexWake(word_, INT_MAX);
}

// The end -----------------------------------------------------------------------------------------

void Gate::Close() {
  word_.fetch_or(kClosed);
  // Notified after the unlock.
  core::WakeList wakes;
  MutexLock lock(mu_);
  waits_closed_ = true;
  for (HostWait* wait = waits_.empty() ? nullptr : &waits_.front(); wait != nullptr;
       wait = waits_.Next(*wait)) {
    if (wait->TryEnd(core::Status::kClosed)) wakes.Add(wait->waiter());
  }
}

void Gate::AwaitEmpty() {
  for (;;) {
    const std::uint32_t word = word_.load();
    if (word == kClosed) return;
    core::FutexWait(word_, word);
  }
}

void Gate::ClearCells() {
  for (;;) {
    core::Ref<core::RefCounted> object;
    Cell* dropped = nullptr;
    {
      MutexLock lock(mu_);
      Cell* const cell = cells_.PopFront();
      if (cell == nullptr) return;
      object = std::move(cell->object_);
      if (cell->dropped_) dropped = cell;
    }
    delete dropped;
  }
}

// Cells -------------------------------------------------------------------------------------------

void Gate::Add(Cell& cell) {
  MutexLock lock(mu_);
  cells_.PushBack(cell);
}

void Gate::Drop(Cell& cell) {
  if (cell.gate_ == nullptr) {
    delete &cell;
    return;
  }
  // The cell's own share of it goes with the cell.
  const std::shared_ptr<Gate> gate = cell.gate_;
  if (gate->Enter()) {
    {
      MutexLock lock(gate->mu_);
      cell.Unlink();
    }
    // Inside: what it stands for may be freed by this.
    delete &cell;
    gate->Leave();
    return;
  }
  {
    MutexLock lock(gate->mu_);
    // If the end has not come to it yet, that frees it.
    cell.dropped_ = true;
    if (cell.linked()) return;
  }
  delete &cell;
}

// Waits -------------------------------------------------------------------------------------------

bool Gate::Add(HostWait& wait) {
  MutexLock lock(mu_);
  if (waits_closed_) return false;
  waits_.PushBack(wait);
  return true;
}

void Gate::Remove(HostWait& wait) {
  MutexLock lock(mu_);
  wait.Unlink();
}

}  // namespace shoal::embed
