// SPDX-License-Identifier: MIT
// PushScalar reads the values that need no memory: nil, booleans, numbers, light userdata.
//
// Threads: the one that runs the state.
#pragma once

#include <cstdint>
#include <lua.hpp>

#include "runtime/lua/wire_bytes.h"
#include "runtime/message/wire.h"

namespace shoal::core {

enum class ScalarRead : std::uint8_t {
  kPushed,
  kNone,    // the tag is that of something else; nothing was read
  kCutOff,  // the message ends in the middle of it
};

template <class T, class Push>
ScalarRead PushFixed(lua_State* L, WireReader& reader, Push push) {
  T value;
  if (!reader.Fixed(value)) return ScalarRead::kCutOff;
  push(L, value);
  return ScalarRead::kPushed;
}

// Pushes the value of which `tag` has just been read. REQUIRES: a free stack slot. [-0, +(0|1), -]
[[gnu::always_inline]] inline ScalarRead PushScalar(lua_State* L, std::uint8_t tag,
                                                    WireReader& reader) {
  if (static_cast<std::int8_t>(tag) >= wire::kSmallIntegerMin) {
    lua_pushinteger(L, static_cast<std::int8_t>(tag));
    return ScalarRead::kPushed;
  }
  switch (tag) {
    case wire::kNil:
      lua_pushnil(L);
      return ScalarRead::kPushed;
    case wire::kFalse:
    case wire::kTrue:
      lua_pushboolean(L, tag == wire::kTrue ? 1 : 0);
      return ScalarRead::kPushed;
    case wire::kInt8:
      return PushFixed<std::int8_t>(L, reader, lua_pushinteger);
    case wire::kInt16:
      return PushFixed<std::int16_t>(L, reader, lua_pushinteger);
    case wire::kInt32:
      return PushFixed<std::int32_t>(L, reader, lua_pushinteger);
    case wire::kInt64:
      return PushFixed<std::int64_t>(L, reader, lua_pushinteger);
    case wire::kDouble:
      return PushFixed<double>(L, reader, lua_pushnumber);
    case wire::kLightUserdata:
      return PushFixed<void*>(L, reader, lua_pushlightuserdata);
    default:
      return ScalarRead::kNone;
  }
}

}  // namespace shoal::core
