// SPDX-License-Identifier: MIT
#include "runtime/errands.h"

namespace shoal::core {

bool Errands::Push(Errand& errand) {
  Errand* newest = newest_.load(std::memory_order_relaxed);
  do {
    errand.next_ = newest;
  } while (!newest_.compare_exchange_weak(newest, &errand));
  return newest == nullptr;
}

void Errands::Run() {
  while (!empty()) {
    if (busy_.exchange(true)) return;
    // The newest is first: they are turned around.
    Errand* oldest = nullptr;
    for (Errand* errand = newest_.exchange(nullptr); errand != nullptr;) {
      Errand* const older = errand->next_;
      errand->next_ = oldest;
      oldest = errand;
      errand = older;
    }
    while (oldest != nullptr) {
      // It may be gone, or pushed again, when it has run.
      Errand* const errand = oldest;
      oldest = errand->next_;
      errand->Run();
    }
    busy_.store(false);
  }
}

}  // namespace shoal::core
