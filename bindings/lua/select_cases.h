// SPDX-License-Identifier: MIT
// The cases of a shoal.select, made of the list that is its argument. They stand on its stack.
//
// Threads: the owner of the process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <span>
#include <string>

#include "bindings/lua/socket_case.h"
#include "runtime/channel/select_case.h"
#include "runtime/process/end_case.h"

namespace shoal::bindings {

// The stack from MakeCases on.
inline constexpr int kParts = 1;  // a list of what the cases are about: three parts for each
inline constexpr int kCases = 2;  // Cases

// The parts of case `i`, from 0 on: the handle, the key, the list of values to send.
inline lua_Integer HandlePart(std::size_t i) { return static_cast<lua_Integer>(i) * 3 + 1; }
inline lua_Integer KeyPart(std::size_t i) { return HandlePart(i) + 1; }
inline lua_Integer ValuesPart(std::size_t i) { return HandlePart(i) + 2; }
inline constexpr lua_Integer kPartsOfCase = 3;

enum class CaseKind : std::uint8_t { kNone, kReceive, kSend, kProcess, kTask, kCall, kSocket };

// One case, in userdata.
struct Case {
  using ProcessCase = core::EndCase<core::Exit>;
  using TaskCase = core::EndCase<core::Task>;
  static constexpr std::size_t kSize =
      std::max({sizeof(core::ReceiveCase), sizeof(core::SendCase), sizeof(ProcessCase),
                sizeof(TaskCase), sizeof(SocketCase)});

  CaseKind kind;  // kNone: not made yet
  alignas(void*) std::byte storage[kSize];
};

// All of them; the two arrays stand behind it.
struct Cases {
  std::size_t count;
  core::SelectCase** pointers;
  Case* cases;
  [[nodiscard]] std::span<core::SelectCase* const> all() const { return {pointers, count}; }
};

inline Cases& CasesOf(lua_State* L) { return *static_cast<Cases*>(lua_touserdata(L, kCases)); }

// Puts the parts and the `count` cases of the list, which is alone on the stack, at their places.
// What it is about is copied: the caller may change it meanwhile. [-1, +2, v]
void MakeCases(lua_State* L, std::size_t count);
// The messages of all cases that send, in their order. [-0, +1, v]
core::MessageList& PushMessages(lua_State* L);
// A DescribeWait: " (receive on channel "jobs", key 1; join of a task)".
void DescribeCases(lua_State* L, std::string& text);

}  // namespace shoal::bindings
