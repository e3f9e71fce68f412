// SPDX-License-Identifier: MIT
// The ProcessTable holds the processes of a runtime that have not exited.
//
// Threads: any thread may call any member.
// Locks:   mu_ (kProcessTable).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/ref_counted.h"
#include "runtime/base/status.h"
#include "runtime/wait/waiter.h"

namespace shoal::core {

class Process;

class ProcessTable final : public WaitPlace {
 public:
  ProcessTable();
  ~ProcessTable();

  // Gives `process` its id and holds a reference until Unlist. kClosed after Refuse; kNoMemory.
  Status Add(Process& process);
  // The same for a host. The first one has the id 0.
  Status AddHost(Process& process);
  // The process is about to publish its exit, and cannot be found any more: who joins it may rely
  // on that. The caller's own reference keeps it during the call.
  void Unlist(Process& process);
  // It has: those who wait for all others are told if it was the last.
  void Leave(const Process& process);

  // Null if there is none (any more). Of several of one name, the oldest.
  Ref<Process> Find(std::uint64_t id);
  Ref<Process> Find(const std::string& name);
  // In the order of their ids.
  std::vector<Ref<Process>> All();

  // No further Add succeeds.
  void Refuse();

  // Processes that the end of the program waits for: no daemons, not the first one.
  [[nodiscard]] std::size_t live();
  [[nodiscard]] std::size_t size();
  // How many there have been in all, and at one time.
  struct Totals {
    std::uint64_t spawned = 0;
    std::uint64_t peak = 0;
  };
  [[nodiscard]] Totals totals();
  // kOk if live() is 0; else publishes `node` and returns kPending; completes with kOk when it is.
  Status WaitAllOrPublish(WaitNode& node);
  void Withdraw(WaitNode& node) override;

 private:
  Status AddAs(Process& process, std::uint64_t id) SHOAL_REQUIRES_LOCK(mu_);

  Mutex mu_{LockRank::kProcessTable};
  std::uint64_t next_id_ SHOAL_GUARDED_BY(mu_) = 1;
  std::uint64_t peak_ SHOAL_GUARDED_BY(mu_) = 0;
  std::size_t live_ SHOAL_GUARDED_BY(mu_) = 0;
  bool refusing_ SHOAL_GUARDED_BY(mu_) = false;
  std::unordered_map<std::uint64_t, Ref<Process>> by_id_ SHOAL_GUARDED_BY(mu_);
  std::unordered_multimap<std::string, Process*> by_name_ SHOAL_GUARDED_BY(mu_);
  List<WaitNode, WaitTag> waiting_ SHOAL_GUARDED_BY(mu_);
};

}  // namespace shoal::core
