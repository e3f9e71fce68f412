// SPDX-License-Identifier: MIT
// CodecScratch is the memory in which the codec works on one message: bytes, open tables, objects
// seen. It is kept for the next one, as making it costs more than most messages.
//
// Lua's errors are longjmp, so a call of the codec may end at any place without a word; whatever it
// left here is cleared by the next one. And a call may begin while another is under way in the same
// state (a finalizer sends a message, a __transfer does). See AcquireScratch for how they are told
// apart.
//
// Threads: the one that runs the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <lua.hpp>
#include <type_traits>

#include "runtime/base/ref_counted.h"
#include "runtime/lua/pointer_map.h"

namespace shoal::core {

// A growing array of plain values that reports a lack of memory.
template <class T>
class PlainArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  PlainArray() = default;
  PlainArray(const PlainArray&) = delete;
  PlainArray& operator=(const PlainArray&) = delete;
  ~PlainArray() { std::free(items_); }

  [[nodiscard]] T* begin() { return items_; }
  [[nodiscard]] T* end() { return items_ + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t memory() const { return capacity_ * sizeof(T); }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[i]; }
  [[nodiscard]] T& back() { return items_[size_ - 1]; }

  // Makes room for `count` items in all. False if memory is short.
  [[nodiscard]] bool Reserve(std::size_t count) { return count <= capacity_ || Grow(count); }
  // A new item at the end, not initialised; nullptr if memory is short.
  [[nodiscard]] T* Add() { return Reserve(size_ + 1) ? items_ + size_++ : nullptr; }
  void Pop() { --size_; }
  // REQUIRES: size <= capacity().
  void set_size(std::size_t size) { size_ = size; }
  void Free() {
    std::free(items_);
    Forget();
  }
  // Leaves the items to somebody who frees them.
  void Forget() {
    items_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  static constexpr std::size_t kFirst = sizeof(T) == 1 ? 512 : 16;

  bool Grow(std::size_t count) {
    std::size_t capacity = capacity_ == 0 ? kFirst : capacity_ * 2;
    if (capacity < count) capacity = count;
    if (capacity > SIZE_MAX / 2 / sizeof(T)) return false;
    void* const items = std::realloc(items_, capacity * sizeof(T));
    if (items == nullptr) return false;
    items_ = static_cast<T*>(items);
    capacity_ = capacity;
    return true;
  }

  T* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// An object that is being written or read: a level of nesting.
struct CodecFrame {
  enum class Kind : std::uint8_t { kTable, kFunction, kTransfer };
  // What the frame does when the value above it is complete.
  enum class Phase : std::uint8_t {
    kItem,    // tables: a value of the sequence; functions: the next upvalue
    kKey,     // tables: the value of this key
    kValue,   // tables: the next pair; transfers: the end
    kMeta,    // tables: the end
    kLoader,  // transfers: the value
  };
  Kind kind;
  Phase phase;
  bool has_meta;
  std::uint8_t width;   // of the count at `place`
  int base;             // where the object stands on the stack
  int slot;             // where its key, upvalue, … stands
  std::size_t place;    // in the bytes: what is written or registered at the end
  std::uint64_t limit;  // of the sequence; number of upvalues
  std::uint64_t count;  // so far
  std::uint64_t pairs;  // so far
};

// Tables deeper than this do not travel.
inline constexpr std::size_t kMaxDepth = 10'000;

struct CodecScratch {
  // nullptr: free. Else the frame (of C, not Lua) of the call that uses it, or that has ended by an
  // error.
  const void* user = nullptr;
  CodecScratch* next = nullptr;

  PlainArray<std::uint8_t> bytes;      // of the message, behind room for its header
  PlainArray<RefCounted*> references;  // counted
  PlainArray<CodecFrame> frames;
  struct Place {
    std::size_t place;
    std::size_t size;
  };
  PlainArray<Place> modules;  // where in `bytes` their names stand
  PointerMap seen;            // tables, functions, upvalues → place

  CodecScratch() = default;
  CodecScratch(const CodecScratch&) = delete;
  CodecScratch& operator=(const CodecScratch&) = delete;
  ~CodecScratch() { Clear(); }

  // Empties all and releases the references.
  void Clear();
};

// What the codec keeps for a state, behind StateRecord::codec_scratch.
struct CodecMemory {
  CodecScratch first;
  PointerMap named_tables;           // those that may have a name (module_names.h)
  std::uint64_t loaded_modules = 0;  // stands for what was loaded when the names were made; 0: none
  bool has_stand_ins = false;        // this state has made some

  CodecMemory() = default;
  CodecMemory(const CodecMemory&) = delete;
  CodecMemory& operator=(const CodecMemory&) = delete;
  ~CodecMemory();
};

// Made at first use. [-0, +0, m]
CodecMemory& MemoryOf(lua_State* L);

// A clear scratch for the call whose frame is at `user`. None that a call uses which is still under
// way: such a call has its frame on the same stack, further up. [-0, +0, m]
CodecScratch& AcquireScratch(lua_State* L, const void* user);
// Gives it back, and frees what is large.
void ReleaseScratch(CodecScratch& scratch);

// Raises what Lua raises if its allocator fails.
[[noreturn]] void RaiseNoMemory(lua_State* L);

}  // namespace shoal::core
