// SPDX-License-Identifier: MIT
// QueueShare is what one shard has taken of the budget that the whole runtime shares.
//
// To keep that budget's counter out of each send, a shard reports in steps: up to a step of what
// stands in it is not reported. It never reports more than stands in it, so a shard from which
// everything was received holds nothing back from senders that wait for room elsewhere.
//
// Threads: the shard's lock guards it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/channel/budget.h"

namespace shoal::core {

class QueueShare {
 public:
  // The step for a budget: small budgets are exact to a thousandth.
  static std::uint32_t StepFor(const Budget& budget) {
    constexpr std::size_t kLargestStep = 4096;
    return static_cast<std::uint32_t>(std::min(budget.limit() / 1024, kLargestStep));
  }

  // False, and nothing is changed, if the budget has no room for `bytes` more.
  [[nodiscard]] bool TryAdd(std::size_t bytes, Budget& budget, std::uint32_t step) {
    const std::size_t unreported = unreported_ + bytes;
    if (unreported <= step) {
      unreported_ = static_cast<std::uint32_t>(unreported);
      return true;
    }
    // Half a step is left for what follows, if there is room for that.
    for (const std::uint32_t rest : {step / 2, step}) {
      if (!budget.TryReserve(unreported - rest)) continue;
      reported_ += unreported - rest;
      unreported_ = rest;
      return true;
    }
    return false;
  }

  // Adds also what is beyond the limit.
  void Add(std::size_t bytes, Budget& budget, std::uint32_t step) {
    if (TryAdd(bytes, budget, step)) return;
    budget.Reserve(bytes);
    reported_ += bytes;
  }

  // The budget has reserved them already.
  void AddReserved(std::size_t bytes) { reported_ += bytes; }

  void Remove(std::size_t bytes, Budget& budget, std::uint32_t step, WakeList& wakes) {
    if (bytes <= unreported_) {
      unreported_ -= static_cast<std::uint32_t>(bytes);
      return;
    }
    const std::size_t left = reported_ + unreported_ - bytes;
    unreported_ = static_cast<std::uint32_t>(std::min<std::size_t>(left, step / 2));
    const std::size_t before = reported_;
    reported_ = left - unreported_;
    budget.Return(before - reported_, wakes);
  }

  // All that stands in the shard.
  [[nodiscard]] std::size_t total() const { return reported_ + unreported_; }

 private:
  std::size_t reported_ = 0;
  std::uint32_t unreported_ = 0;  // at most a step
};

}  // namespace shoal::core
