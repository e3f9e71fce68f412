// SPDX-License-Identifier: MIT
#include "bindings/lua/socket_buffer.h"

#include <algorithm>
#include <cstring>

namespace shoal::bindings {

namespace {

void* Reallocate(lua_State* L, void* block, std::size_t old_size, std::size_t new_size) {
  void* context = nullptr;
  const lua_Alloc allocate = lua_getallocf(L, &context);
  return allocate(context, block, old_size, new_size);
}

}  // namespace

char* SocketBuffer::Reserve(lua_State* L, std::size_t count) {
  if (room() < count) {
    // What was taken from the front makes room first, if that is most of the block.
    if (first_ >= size_ && capacity_ - size_ >= count) {
      std::memmove(block_, block_ + first_, size_);
      first_ = 0;
    } else {
      const std::size_t capacity = std::max(first_ + size_ + count, capacity_ + capacity_ / 2);
      void* const block = Reallocate(L, block_, capacity_, capacity);
      if (block == nullptr) luaL_error(L, "not enough memory");
      block_ = static_cast<char*>(block);
      capacity_ = capacity;
    }
  }
  return block_ + first_ + size_;
}

void SocketBuffer::Append(lua_State* L, const char* bytes, std::size_t count) {
  if (count == 0) return;
  std::memcpy(Reserve(L, count), bytes, count);
  size_ += count;
}

void SocketBuffer::Skip(lua_State* L, std::size_t count) {
  first_ += count;
  size_ -= count;
  if (size_ == 0) Free(L);
}

void SocketBuffer::Free(lua_State* L) {
  if (block_ != nullptr) Reallocate(L, block_, capacity_, 0);
  block_ = nullptr;
  capacity_ = first_ = size_ = 0;
}

}  // namespace shoal::bindings
