// SPDX-License-Identifier: MIT
// FinalizerLayout says where Lua notes the objects of a state that have finalizers. Its headers do
// not tell; so it is found out by looking at a state in which there are some, and not found where
// Lua does something else than is expected here.
//
// Of Lua it is taken for granted that it keeps two lists: of the objects that have finalizers, the
// newest in front, and of those whose finalizer is about to be called. Their heads stand in the
// block that lua_newstate asks for first.
//
// Threads: any; one state is of one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <optional>

namespace shoal::core {

class FinalizerLayout {
 public:
  // Nothing: it has not been found, or memory is short.
  static std::optional<FinalizerLayout> Find();

  // The newest object with a finalizer, as an address; 0: there is none.
  [[nodiscard]] std::uintptr_t Newest(lua_State* main) const { return Word(main, newest_); }
  // Whether a finalizer is about to be called.
  [[nodiscard]] bool AnyDue(lua_State* main) const { return Word(main, due_) != 0; }

 private:
  FinalizerLayout(std::size_t newest, std::size_t due) : newest_(newest), due_(due) {}

  static std::uintptr_t Word(lua_State* main, std::size_t offset) {
    return *reinterpret_cast<const std::uintptr_t*>(reinterpret_cast<const char*>(main) + offset);
  }

  // In bytes, from the main thread.
  std::size_t newest_;
  std::size_t due_;
};

}  // namespace shoal::core
