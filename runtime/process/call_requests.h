// SPDX-License-Identifier: MIT
// CallRequests are the calls that a process has been asked to cancel.
//
// Threads: Ask from any thread, the rest by the owner of the process.
// Locks:   mu_ (kLeaf).
#pragma once

#include <utility>

#include "runtime/base/intrusive_list.h"
#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/process/call.h"

namespace shoal::core {

class CallRequests {
 public:
  ~CallRequests() { Close(); }

  // True if the owner has to be told: it has not been told of any since it took the last one.
  [[nodiscard]] bool Ask(Call& call) {
    MutexLock lock(mu_);
    if (closed_ || static_cast<ListLink<CallTag>&>(call).linked()) return false;
    call.AddRef();
    calls_.PushBack(call);
    return !std::exchange(told_, true);
  }

  // The oldest; null: there are no more.
  [[nodiscard]] Ref<Call> Take() {
    MutexLock lock(mu_);
    Call* const call = calls_.PopFront();
    if (call == nullptr) told_ = false;
    return Ref<Call>::Adopt(call);
  }

  // The process has ended.
  void Close() {
    {
      MutexLock lock(mu_);
      closed_ = true;
    }
    while (Take()) {
    }
  }

 private:
  Mutex mu_{LockRank::kLeaf};
  List<Call, CallTag> calls_ SHOAL_GUARDED_BY(mu_);  // with a reference each
  bool told_ SHOAL_GUARDED_BY(mu_) = false;
  bool closed_ SHOAL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal::core
