// SPDX-License-Identifier: MIT
// A SocketBuffer holds the bytes that have come in and that nobody has received yet. It has memory
// only while it holds some, so that an idle connection costs little; the memory counts as that of
// the Lua state.
//
// It stands in userdata, so it has neither constructor nor destructor: zeroed memory is an empty
// one, and Free ends it.
//
// Threads: the owner of the process.
#pragma once

#include <cstddef>
#include <lua.hpp>

namespace shoal::bindings {

class SocketBuffer {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] char* data() const { return block_ + first_; }

  // Room for at least `count` bytes behind the last one; raises if memory is short. It grows by
  // factors, so that a long message is copied a bounded number of times. [-0, +0, m]
  char* Reserve(lua_State* L, std::size_t count);
  // How many bytes fit behind the last one.
  [[nodiscard]] std::size_t room() const { return capacity_ - first_ - size_; }
  // `count` bytes have been written there.
  void Grow(std::size_t count) { size_ += count; }
  // Appends. [-0, +0, m]
  void Append(lua_State* L, const char* bytes, std::size_t count);
  // Takes the first `count` bytes away; gives the memory back with the last one.
  void Skip(lua_State* L, std::size_t count);
  void Free(lua_State* L);

 private:
  char* block_;
  std::size_t capacity_;
  std::size_t first_;
  std::size_t size_;
};

}  // namespace shoal::bindings
