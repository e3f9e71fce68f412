// SPDX-License-Identifier: MIT
#include "runtime/lua/value_path.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace shoal::core {
namespace {

constexpr std::size_t kMaxKey = 40;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsIdentifier(const char* text, std::size_t size) {
  return size > 0 && IsLetter(text[0]) &&
         std::all_of(text, text + size, [](char c) { return IsLetter(c) || IsDigit(c); });
}

}  // namespace

void ValuePath::Add(const char* text, std::size_t size) {
  size = std::min(size, kMaxSize - size_);
  std::memcpy(text_ + size_, text, size);
  size_ += size;
  text_[size_] = '\0';
}

void ValuePath::Add(const char* text) { Add(text, std::strlen(text)); }

void ValuePath::AddPosition(lua_Integer position) {
  char number[32];
  std::snprintf(number, sizeof number, "[%lld]", static_cast<long long>(position));
  Add(number);
}

void ValuePath::AddUpvalue(const char* name) {
  Add("(upvalue ");
  Add(name, std::min(std::strlen(name), kMaxKey));
  Add(")");
}

void ValuePath::AddKey(lua_State* L, int index) {
  char number[64];
  switch (lua_type(L, index)) {
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* const text = lua_tolstring(L, index, &size);
      if (IsIdentifier(text, size)) {
        Add(".");
        Add(text, std::min(size, kMaxKey));
        if (size > kMaxKey) Add("…");
        return;
      }
      Add("[\"");
      for (std::size_t i = 0; i < std::min(size, kMaxKey); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c == '"' || c == '\\') {
          Add("\\");
          Add(text + i, 1);
        } else if (c < ' ' || c == 0x7f) {
          std::snprintf(number, sizeof number, "\\%03d", c);
          Add(number);
        } else {
          Add(text + i, 1);
        }
      }
      Add(size > kMaxKey ? "…\"]" : "\"]");
      return;
    }
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) {
        AddPosition(lua_tointeger(L, index));
      } else {
        std::snprintf(number, sizeof number, "[" LUA_NUMBER_FMT "]", lua_tonumber(L, index));
        Add(number);
      }
      return;
    case LUA_TBOOLEAN:
      Add(lua_toboolean(L, index) ? "[true]" : "[false]");
      return;
    case LUA_TNONE:  // the object itself has just begun
      return;
    default:
      Add("[");
      Add(lua_typename(L, lua_type(L, index)));
      Add("]");
  }
}

void ValuePath::AddFrame(lua_State* L, const CodecFrame& frame) {
  using Phase = CodecFrame::Phase;
  switch (frame.kind) {
    case CodecFrame::Kind::kTable:
      if (frame.phase == Phase::kMeta) {
        Add("(metatable)");
      } else if (frame.phase == Phase::kKey) {
        Add("(key)");
      } else {
        AddKey(L, frame.slot);
      }
      return;
    case CodecFrame::Kind::kFunction:
      if (const char* const name = lua_getupvalue(L, frame.base, static_cast<int>(frame.count))) {
        AddUpvalue(name);
        lua_pop(L, 1);
      }
      return;
    case CodecFrame::Kind::kTransfer:
      if (frame.phase == Phase::kLoader) Add("(loader)");
  }
}

void ValuePath::AddFrames(lua_State* L, const CodecFrame* frames, std::size_t depth) {
  constexpr std::size_t kFirst = 8;
  constexpr std::size_t kLast = 3;
  if (depth <= kFirst + kLast) {
    for (std::size_t i = 0; i < depth; ++i) AddFrame(L, frames[i]);
    return;
  }
  for (std::size_t i = 0; i < kFirst; ++i) AddFrame(L, frames[i]);
  Add("…");
  if (depth == kMaxDepth) return;  // that is the error, and the end says no more
  for (std::size_t i = depth - kLast; i < depth; ++i) AddFrame(L, frames[i]);
}

}  // namespace shoal::core
