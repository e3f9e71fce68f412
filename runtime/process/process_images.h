// SPDX-License-Identifier: MIT
// ProcessImages has the states of which those of new processes are copies: one for each set of
// libraries that many processes are given. The process whose start makes it worth while makes the
// image.
//
// Threads:   any thread may call any member.
// Ownership: the runtime's; it outlives all states.
// Locks:     none. An image is published once, with release.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/base/log.h"
#include "runtime/lua/state.h"
#include "runtime/lua/state_image.h"
#include "runtime/lua/state_slots.h"

namespace shoal::core {

class ScriptLibrary;

// When processes begin as copies of an image.
enum class StateImages : std::uint8_t {
  kOff,        // never
  kForMany,    // when the 16th with these libraries starts
  kFromFirst,  // always
};

class ProcessImages {
 public:
  // `lists`: see StateSlots.
  ProcessImages(const ScriptLibrary& library, Log& log, StateImages when, int lists);

  // For a process that starts with these libraries, whose state is then a copy. nullptr: its
  // libraries have to be opened.
  const StateImage* For(LibrarySet libraries);

 private:
  // The processes with one set.
  struct Row {
    // What is in the set, and the bit above all libraries'; 0: the row is free.
    std::atomic<LibrarySet> set{0};
    std::atomic<int> starts{0};
    // Written once; release, with the acquire in For: who sees it sees all of it.
    std::atomic<const StateImage*> image{nullptr};
    std::unique_ptr<StateImage> owned;  // of the one that makes it
  };
  static constexpr LibrarySet kTaken = kAllLibraries + 1;

  Row* RowOf(LibrarySet libraries);
  const StateImage* Make(Row& row, LibrarySet libraries);

  const ScriptLibrary& library_;
  Log& log_;
  const StateImages when_;
  std::optional<StateSlots> slots_;  // nothing: memory is short, or it is off
  std::array<Row, 8> rows_;          // other sets have no image
};

}  // namespace shoal::core
