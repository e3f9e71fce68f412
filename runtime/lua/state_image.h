// SPDX-License-Identifier: MIT
// A StateImage is a state in which libraries have been opened, of which copies are made: to copy
// its memory and to move the addresses in it takes a microsecond, to open the libraries forty times
// that.
//
// All of the original stands in one piece of memory, of which each word that is an address in it is
// known. What must not be the same in two states is refused when the image is made: coroutines,
// userdata but the standard streams and numbers of chance, and tables with other keys than strings,
// numbers, booleans and addresses of the program, since their place depends on where the key
// stands.
//
// The allocator of the original zeroes its blocks, so no address stands there by accident; but for
// one case. In front of seven bytes that Lua does not use it keeps the type of a value, and the
// compiler copies those seven along, from anywhere. If they are those of an address, they are moved
// like one; so copies stand at a multiple of 256 bytes from the original, and the type is left as
// it is.
//
// A copy is in all respects a state of its own; but states that are copies of one image have the
// same seed of string hashes. It is freed without a look at its objects, if nothing of it stands
// elsewhere and no finalizer is left to be called.
//
// Threads: any, once it is made. Ownership: outlives its copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <lua.hpp>
#include <memory>
#include <string>
#include <vector>

#include "runtime/lua/allocator.h"
#include "runtime/lua/finalizer_layout.h"
#include "runtime/lua/state_record.h"
#include "runtime/lua/state_slots.h"

namespace shoal::core {

class StateImage {
 public:
  // What makes the state of which copies are wanted, called with a new state and `context`, as in a
  // protected call. [-0, +?, e]
  using Open = void (*)(lua_State* L, void* context);

  // Opens a state and tries a copy of it. nullptr: that cannot be done, and `*why` says why. Throws
  // std::bad_alloc.
  static std::unique_ptr<StateImage> Make(StateSlots& slots, Open open, void* context,
                                          std::string* why);
  ~StateImage();
  StateImage(const StateImage&) = delete;
  StateImage& operator=(const StateImage&) = delete;

  // As NewState, with all that `open` has done; the record says of which image it is. nullptr: the
  // limit of `allocator` is too small for that, or memory is short. `list`: see StateSlots.
  lua_State* Copy(Allocator* allocator, StateRecord* record, int list) const;

  // Of a copy that will be used no more: frees what stands in the slot and the cache, which is all
  // of it, and returns true. Or does nothing, since there is more: then lua_close and FreeSlot have
  // to.
  bool Drop(lua_State* main, int list) const;
  void FreeSlot(Allocator& allocator, int list) const;

  // Bytes that are copied, and words of them that are moved.
  [[nodiscard]] std::size_t size() const { return original_.slot.used(); }
  [[nodiscard]] std::size_t moved() const { return addresses_.size(); }

 private:
  StateImage(StateSlots& slots, const FinalizerLayout& layout) : slots_(slots), layout_(layout) {}

  bool OpenOriginal(Open open, void* context, std::string* why);
  // How many words are the address of what is the state's own outside of the slot.
  int FindAddresses();

  struct Freed {
    void operator()(char* memory) const { std::free(memory); }
  };

  // Whether copies stand in slots: larger ones have memory of their own.
  [[nodiscard]] bool FitsIntoSlot() const { return size() + kLeastRoom <= StateSlots::kSize; }
  [[nodiscard]] std::size_t RoomOfCopy() const {
    if (FitsIntoSlot()) return StateSlots::kSize;
    const std::size_t room = size() + size() / 4 + kLeastRoom;
    return room - room % StateSlots::kAlignment;
  }

  static constexpr std::size_t kLeastRoom = 4096;

  StateSlots& slots_;
  const FinalizerLayout layout_;
  std::unique_ptr<char, Freed> memory_;  // of the original
  Allocator original_;
  StateRecord record_;  // of the original
  lua_State* main_ = nullptr;
  int native_modules_ = LUA_NOREF;  // of the table in which `package` keeps them, in the registry
  std::vector<std::uint32_t> addresses_;  // where they stand, in words
};

}  // namespace shoal::core
