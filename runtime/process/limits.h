// SPDX-License-Identifier: MIT
// What a process may use and reach. Its descendants never may more: spawn sees to that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ref_counted.h"

namespace shoal::core {

struct Limits {
  static constexpr std::size_t kNoBytes = SIZE_MAX;  // no limit
  static constexpr Duration kNoTime = Duration::max();

  std::size_t memory = kNoBytes;   // of its Lua state; messages do not count
  std::size_t message = kNoBytes;  // of each message that it sends, as it is encoded
  Duration cpu = kNoTime;          // of the turns that it gets, all together

  // A message is made of what stands in the memory, some of it several times.
  [[nodiscard]] std::size_t of_message() const { return memory < message ? memory : message; }
};

// Names that are looked up, never changed: shared by a process and its descendants.
class NameSet final : public RefCounted {
 public:
  explicit NameSet(std::vector<std::string> names);
  [[nodiscard]] bool Contains(std::string_view name) const;

 private:
  std::vector<std::string> names_;  // sorted
};

struct Reach {
  // It sees only its descendants among the processes.
  bool confined = false;
  // The confined processes from which it descends, by id, ascending.
  std::vector<std::uint64_t> confined_ancestors;
  // The names of the channels that it may open; null: all.
  Ref<NameSet> channels;

  // Whether a process with this reach descends from the confined process `ancestor`.
  [[nodiscard]] bool DescendsFrom(std::uint64_t ancestor) const;
  [[nodiscard]] bool MayOpen(std::string_view channel) const {
    return !channels || channels->Contains(channel);
  }
};

// "cpu limit of 2 s reached"
std::string CpuLimitReached(Duration limit);
// "memory limit of 1000 bytes is too small for a process"
std::string MemoryLimitTooSmall(std::size_t limit);

}  // namespace shoal::core
