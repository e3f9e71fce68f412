// SPDX-License-Identifier: MIT
// ActiveHosts counts the hosts that do not wait: from them, work may come at any time.
//
// A host that waits has armed first what will wake it (a timer, a descriptor), and is counted again
// before that ends: so there is always one of the two. Who looks at both, one after the other, may
// still miss a host that goes from one to the other in between; hence the changes are counted, too.
//
//   const ActiveHosts::Look look = hosts.Begin();
//   if (look.any() || …anything is armed…) …work may come…;
//   else if (hosts.HasChangedSince(look)) …it may have been missed…;
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace shoal::core {

class ActiveHosts {
 public:
  class Look {
   public:
    [[nodiscard]] bool any() const { return static_cast<std::uint32_t>(word_) != 0; }

   private:
    friend class ActiveHosts;
    explicit Look(std::uint64_t word) : word_(word) {}
    std::uint64_t word_;
  };

  void Add() { word_.fetch_add(kOne + kOneChange); }
  void Remove() { word_.fetch_sub(kOne); }
  [[nodiscard]] Look Begin() const { return Look(word_.load()); }
  // Whether a host has become active since.
  [[nodiscard]] bool HasChangedSince(Look look) const { return word_.load() != look.word_; }

 private:
  // Hosts in bits 0 … 31, how often one was added in bits 32 … 63.
  static constexpr std::uint64_t kOne = 1;
  static constexpr std::uint64_t kOneChange = std::uint64_t{1} << 32;
  // seq_cst, as it is read along with what is armed elsewhere.
  std::atomic<std::uint64_t> word_{0};
};

}  // namespace shoal::core
