// SPDX-License-Identifier: MIT
#include "runtime/lua/codec_scratch.h"

#include <new>

#include "runtime/lua/codec.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {
namespace {

// A scratch that has grown beyond this is not kept.
constexpr std::size_t kMaxKept = 64 * 1024;

// Not std::unique_ptr: the owner is a record that knows no type, and Lua's errors skip destructors.
template <class T>
T* Make(lua_State* L) {
  void* const memory = std::malloc(sizeof(T));
  if (memory == nullptr) RaiseNoMemory(L);
  return new (memory) T;
}

template <class T>
void Destroy(T* object) {
  object->~T();
  std::free(object);
}

CodecScratch* FindFree(CodecScratch& first, const void* user) {
  for (CodecScratch* scratch = &first; scratch != nullptr; scratch = scratch->next) {
    // The stack grows downwards: a frame below ours has ended. One above may still be running; if
    // not, a later call will see it.
    if (scratch->user == nullptr || scratch->user <= user) return scratch;
  }
  return nullptr;
}

}  // namespace

void CodecScratch::Clear() {
  for (RefCounted* reference : references) reference->Release();
  references.set_size(0);
  bytes.set_size(0);
  frames.set_size(0);
  modules.set_size(0);
  seen.Clear();
}

CodecMemory::~CodecMemory() {
  for (CodecScratch* scratch = first.next; scratch != nullptr;) {
    CodecScratch* const next = scratch->next;
    Destroy(scratch);
    scratch = next;
  }
}

CodecMemory& MemoryOf(lua_State* L) {
  void*& memory = RecordOf(L).codec_scratch;
  if (memory == nullptr) memory = Make<CodecMemory>(L);
  return *static_cast<CodecMemory*>(memory);
}

CodecScratch& AcquireScratch(lua_State* L, const void* user) {
  CodecMemory& memory = MemoryOf(L);
  CodecScratch* scratch = FindFree(memory.first, user);
  if (scratch == nullptr) {
    scratch = Make<CodecScratch>(L);
    scratch->next = memory.first.next;
    memory.first.next = scratch;
  }
  if (scratch->user != nullptr) scratch->Clear();
  scratch->user = user;
  return *scratch;
}

void ReleaseScratch(CodecScratch& scratch) {
  scratch.Clear();
  if (scratch.bytes.memory() > kMaxKept) scratch.bytes.Free();
  if (scratch.references.memory() > kMaxKept) scratch.references.Free();
  if (scratch.frames.memory() > kMaxKept) scratch.frames.Free();
  if (scratch.modules.memory() > kMaxKept) scratch.modules.Free();
  if (scratch.seen.memory() > kMaxKept) scratch.seen.Free();
  scratch.user = nullptr;
}

void RaiseNoMemory(lua_State* L) {
  lua_pushliteral(L, "not enough memory");  // Lua keeps this string, so it needs no memory
  lua_error(L);
  __builtin_unreachable();
}

void FreeCodecScratch(void* scratch) {
  if (scratch != nullptr) Destroy(static_cast<CodecMemory*>(scratch));
}

}  // namespace shoal::core
