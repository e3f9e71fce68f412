// SPDX-License-Identifier: MIT
// What the encoder does for __transfer: the metamethod gives a value and a loader, which travel in
// place of the table. The table's own place in the map of objects is that of both.
#include <cstring>
#include <string_view>

#include "runtime/lua/encoder.h"
#include "runtime/lua/module_names.h"
#include "runtime/lua/state_record.h"

namespace shoal::core {

// Stack: the metatable on top; above it, if there is one, its __transfer, or what the host has in
// its place.
bool Encoder::HasTransfer() {
  const void* const meta = lua_topointer(L_, -1);
  if (meta == plain_meta_) return false;
  PushTransferKey(L_);
  if (lua_rawget(L_, -2) != LUA_TNIL) return true;
  lua_pop(L_, 1);
  StateHost* const host = RecordOf(L_).host;
  if (host != nullptr && host->PushTransfer(L_)) return true;
  plain_meta_ = meta;
  return false;
}

// Stack: metatable and __transfer on top. The value and its loader take their places.
Encoder::Step Encoder::Transfer(int index, std::size_t at) {
  if (!knowledge_.keeps_objects) return Fails(Result::kNeedsObjects);
  lua_remove(L_, -2);
  CodecFrame& frame = Open(CodecFrame::Kind::kTransfer, index);
  frame.slot = lua_gettop(L_);
  frame.place = at;
  lua_pushvalue(L_, index);
  StateRecord& record = RecordOf(L_);
  ++record.barrier;
  const int status = lua_pcall(L_, 1, 2, 0);
  --record.barrier;
  plain_meta_ = nullptr;
  if (status != LUA_OK) {
    scratch_.Clear();
    lua_error(L_);
  }
  const int loader = frame.slot + 1;
  const bool is_name =
      lua_type(L_, loader) == LUA_TSTRING && std::strchr(lua_tostring(L_, loader), ':') != nullptr;
  if (!is_name && !lua_isfunction(L_, loader)) {
    RaiseAt("__transfer must return a value, and a function or \"module:function\"");
  }
  bool is_new = false;
  std::size_t* const entry = scratch_.seen.Insert(lua_topointer(L_, index), at, is_new);
  if (entry == nullptr) NoMemory();
  *entry |= kOpenTransfer;
  out_.Byte(wire::kTransfer);
  frame.phase = CodecFrame::Phase::kLoader;
  if (is_name) {
    Loader(loader);
    return Step::kOpened;
  }
  const Step step = Value(loader);
  return step == Step::kDone ? Step::kOpened : step;
}

// Writes "module:function" as a value by name.
void Encoder::Loader(int index) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(L_, index, &size);
  const std::string_view name(text, size);
  const std::size_t colon = name.find(':');
  out_.Field(text, colon, text + colon + 1, size - colon - 1);
}

Encoder::Step Encoder::ContinueTransfer() {
  CodecFrame& frame = scratch_.frames.back();
  if (frame.phase == CodecFrame::Phase::kLoader) {
    frame.phase = CodecFrame::Phase::kValue;
    if (const Step step = Value(frame.slot); step != Step::kDone) return step;
  }
  CodecFrame& done = scratch_.frames.back();
  bool is_new = false;
  std::size_t* const entry = scratch_.seen.Insert(lua_topointer(L_, done.base), done.place, is_new);
  if (entry == nullptr) NoMemory();
  *entry &= ~kOpenTransfer;
  lua_settop(L_, done.slot - 1);
  return Step::kDone;
}

}  // namespace shoal::core
