// SPDX-License-Identifier: MIT
#include "runtime/channel/aftermath.h"

#include <utility>

namespace shoal::core {

namespace {
// The one that frees on this thread now.
thread_local Aftermath* outermost = nullptr;
}  // namespace

void Aftermath::Destroy(Key* keys) {
  while (keys != nullptr) {
    Key* next = std::exchange(keys->next, keys_);
    keys_ = std::exchange(keys, next);
  }
}

void Aftermath::Finish() {
  wakes.Flush();
  while (timers_ != nullptr) {
    TtlTimer* timer = timers_;
    timers_ = timer->next_;
    timer->Drop();
  }
  if (!dropped_.empty() || keys_ != nullptr) Free();
}

void Aftermath::Free() {
  if (outermost != nullptr) {
    outermost->Drop(std::move(dropped_));
    outermost->Destroy(std::exchange(keys_, nullptr));
    return;
  }
  outermost = this;
  while (!dropped_.empty() || keys_ != nullptr) {
    dropped_.PopFront();
    if (keys_ == nullptr) continue;
    Key* key = std::exchange(keys_, keys_->next);
    KeyTable::Destroy(key);
  }
  outermost = nullptr;
}

}  // namespace shoal::core
