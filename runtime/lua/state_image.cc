// SPDX-License-Identifier: MIT
#include "runtime/lua/state_image.h"

#include <cstring>

#include "runtime/base/check.h"
#include "runtime/lua/image_trial.h"
#include "runtime/lua/state.h"

namespace shoal::core {
namespace {

using Word = std::uintptr_t;

Word WordAt(const char* memory, std::size_t index) {
  Word word = 0;
  std::memcpy(&word, memory + index * sizeof(Word), sizeof(Word));
  return word;
}

struct Opening {
  StateImage::Open open;
  void* context;
  int native_modules;
};

// The argument is an Opening.
int OpenIt(lua_State* L) {
  auto& opening = *static_cast<Opening*>(lua_touserdata(L, 1));
  lua_settop(L, 0);
  opening.open(L, opening.context);
  lua_settop(L, 0);
  // So that it can be looked at without asking for memory. The name is lua5.4's.
  if (lua_getfield(L, LUA_REGISTRYINDEX, "_CLIBS") == LUA_TTABLE) {
    opening.native_modules = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  lua_settop(L, 0);
  return 0;
}

}  // namespace

std::unique_ptr<StateImage> StateImage::Make(StateSlots& slots, Open open, void* context,
                                             std::string* why) {
  const std::optional<FinalizerLayout> layout = FinalizerLayout::Find();
  if (!layout) {
    *why = "this Lua does not keep finalizers where they are expected";
    return nullptr;
  }
  std::unique_ptr<StateImage> image(new StateImage(slots, *layout));
  if (!image->OpenOriginal(open, context, why)) return nullptr;
  const int ours = image->FindAddresses();
  // Where that finds something, it can say where it is.
  if (!CheckImage(*image, why)) return nullptr;
  // The extra space of the main thread, and what lua_setallocf changes.
  if (ours != 2) {
    *why = "something in it refers to its state";
    return nullptr;
  }
  if (!TryImage(*image, open, context, why)) return nullptr;
  return image;
}

StateImage::~StateImage() {
  // All of the original stands in its memory, and its finalizers are those of the standard streams.
  original_.slot.End();
}

bool StateImage::OpenOriginal(Open open, void* context, std::string* why) {
  // While libraries are opened, there is garbage. What is not written to takes no memory.
  constexpr std::size_t kRoom = std::size_t{1} << 20;
  memory_.reset(static_cast<char*>(std::aligned_alloc(StateSlots::kAlignment, kRoom)));
  if (memory_ == nullptr) {
    *why = "not enough memory";
    return false;
  }
  original_.slot.Begin(memory_.get(), kRoom);
  main_ = NewStateWith(AllocateZeroed, &original_, &record_);
  if (main_ == nullptr) {
    *why = "not enough memory";
    return false;
  }
  lua_gc(main_, LUA_GCSTOP);
  Opening opening{open, context, LUA_NOREF};
  lua_pushcfunction(main_, OpenIt);
  lua_pushlightuserdata(main_, &opening);
  if (lua_pcall(main_, 1, 0, 0) != LUA_OK) {
    const char* const text = lua_tostring(main_, -1);
    *why = text != nullptr ? text : "an error that is no string";
    return false;
  }
  native_modules_ = opening.native_modules;
  // In this order, so that the copies do not begin with a collection.
  lua_gc(main_, LUA_GCRESTART);
  lua_gc(main_, LUA_GCCOLLECT);
  original_.slot.EndOriginal();
  if (record_.handles != 0 || record_.outside_memory != 0 || record_.codec_scratch != nullptr ||
      record_.loads != nullptr || record_.raises != nullptr) {
    *why = "something in it belongs to one process";
    return false;
  }
  return true;
}

int StateImage::FindAddresses() {
  const char* const memory = original_.slot.begin();
  const auto begin = reinterpret_cast<Word>(memory);
  int ours = 0;
  for (std::size_t i = 0; i < size() / sizeof(Word); ++i) {
    const Word word = WordAt(memory, i);
    // The end of what stands last is an address, too.
    if (word - begin <= size()) {
      addresses_.push_back(static_cast<std::uint32_t>(i));
    } else if (word == reinterpret_cast<Word>(&record_) ||
               word == reinterpret_cast<Word>(&original_)) {
      ++ours;
    }
  }
  return ours;
}

lua_State* StateImage::Copy(Allocator* allocator, StateRecord* record, int list) const {
  const std::size_t used = original_.used.load(std::memory_order_relaxed);
  if (used > allocator->limit) return nullptr;
  char* const memory =
      FitsIntoSlot() ? slots_.Take(list)
                     : static_cast<char*>(std::aligned_alloc(StateSlots::kAlignment, RoomOfCopy()));
  if (memory == nullptr) return nullptr;
  const char* const original = original_.slot.begin();
  std::memcpy(memory, original, size());
  const Word shift = reinterpret_cast<Word>(memory) - reinterpret_cast<Word>(original);
  SHOAL_DCHECK(shift % StateSlots::kAlignment == 0);
  // No type of the language stands there yet: they are Lua's objects, of which this is a copy.
  auto* const words = reinterpret_cast<Word*>(memory);
  for (const std::uint32_t address : addresses_) words[address] += shift;
  allocator->slot.BeginCopy(original_.slot, memory, RoomOfCopy());
  allocator->used.store(used, std::memory_order_relaxed);
  const std::ptrdiff_t place = reinterpret_cast<const char*>(main_) - original;
  auto* const main = reinterpret_cast<lua_State*>(memory + place);
  lua_setallocf(main, AllocateInSlot, allocator);
  record->image = this;
  SetMain(main, record);
  return main;
}

bool StateImage::Drop(lua_State* main, int list) const {
  Allocator& allocator = *AllocatorOf(main);
  if (allocator.outside != 0 || lua_status(main) != LUA_OK || layout_.AnyDue(main)) return false;
  const Word shift = reinterpret_cast<Word>(main) - reinterpret_cast<Word>(main_);
  if (layout_.Newest(main) != layout_.Newest(main_) + shift) return false;
  if (native_modules_ != LUA_NOREF) {
    if (lua_checkstack(main, 1) == 0) return false;
    lua_rawgeti(main, LUA_REGISTRYINDEX, native_modules_);
    const bool none = lua_istable(main, -1) && lua_rawlen(main, -1) == 0;
    lua_pop(main, 1);
    if (!none) return false;
  }
  FreeSlot(allocator, list);
  allocator.used.store(0, std::memory_order_relaxed);
  return true;
}

void StateImage::FreeSlot(Allocator& allocator, int list) const {
  allocator.cache.Drop();
  char* const memory = allocator.slot.begin();
  allocator.slot.End();
  if (FitsIntoSlot()) {
    slots_.GiveBack(memory, list);
  } else {
    std::free(memory);
  }
}

}  // namespace shoal::core
