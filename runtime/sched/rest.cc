// SPDX-License-Identifier: MIT
#include "runtime/sched/rest.h"

#include "runtime/base/test_point.h"

namespace shoal::core {

Rest::Outcome Rest::Check(Worker& worker, std::uint32_t epoch, std::uint64_t* seen) {
  // 1 What is outside, before the queues.
  *seen = outside_.load();
  const bool outside = static_cast<std::uint32_t>(*seen) != 0 || source_.Armed();
  SHOAL_TEST_POINT("rest.sources_seen");
  // 2 The queues; and the slot, in case a timer was fired on this thread.
  if (queues_.AnyStands() || worker.next() != nullptr) return Outcome::kGoOn;
  // 3 The workers.
  if (idle_.activity().epoch != epoch) return Outcome::kGoOn;
  if (outside) return Outcome::kSettled;
  // 4 Everything is at rest. Is that new?
  const std::uint64_t asked = asked_.load();
  const std::uint64_t dispatches = Dispatches();
  if (asked == reported_asked_ && dispatches == reported_dispatches_) return Outcome::kSettled;
  reported_asked_ = asked;
  reported_dispatches_ = dispatches;
  rests_.Add();
  source_.OnQuiescent();
  const bool work = queues_.AnyStands() || worker.next() != nullptr;
  return work ? Outcome::kGoOn : Outcome::kSettled;
}

std::uint64_t Rest::Dispatches() {
  std::uint64_t sum = 0;
  for (int i = 0; i < queues_.size(); ++i) sum += queues_.worker(i).dispatches();
  return sum;
}

}  // namespace shoal::core
