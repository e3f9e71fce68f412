// SPDX-License-Identifier: MIT
#include "runtime/lua/codec.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "runtime/lua/codec_scratch.h"
#include "runtime/lua/decoder.h"
#include "runtime/lua/encoder.h"
#include "runtime/lua/module_names.h"
#include "runtime/lua/module_values.h"
#include "runtime/lua/scalar.h"
#include "runtime/lua/state_record.h"
#include "runtime/lua/wire_bytes.h"

namespace shoal::core {
namespace {

// A message of at most this many scalars is decoded without asking for stack.
constexpr std::uint64_t kFewValues = 8;

// Writes the values if they are all scalars or short strings and fit the kInlineBytes at `bytes`;
// else returns 0. Nothing raises in here.
std::size_t EncodeShort(lua_State* L, int first, int count, std::uint8_t* bytes) {
  const std::uint8_t* const end = bytes + Message::kInlineBytes;
  if (static_cast<std::size_t>(count) > Message::kInlineBytes) return 0;
  std::uint8_t* at = bytes + 1;
  std::uint8_t flags = wire::kPlain;
  at = PutVarint(at, static_cast<std::uint64_t>(count));
  for (int index = first; index < first + count; ++index) {
    if (static_cast<std::size_t>(end - at) < kMaxNumber) return 0;
    switch (lua_type(L, index)) {
      case LUA_TNIL:
        *at++ = wire::kNil;
        break;
      case LUA_TBOOLEAN:
        *at++ = lua_toboolean(L, index) ? wire::kTrue : wire::kFalse;
        break;
      case LUA_TNUMBER:
        at = lua_isinteger(L, index) ? PutInteger(at, lua_tointeger(L, index))
                                     : PutTagged(at, wire::kDouble, lua_tonumber(L, index));
        break;
      case LUA_TLIGHTUSERDATA:
        at = PutTagged(at, wire::kLightUserdata, lua_touserdata(L, index));
        break;
      case LUA_TSTRING: {
        std::size_t size = 0;
        const char* const text = lua_tolstring(L, index, &size);
        if (size > wire::kShortStringMax || size >= static_cast<std::size_t>(end - at)) return 0;
        *at++ = static_cast<std::uint8_t>(wire::kShortString | size);
        std::memcpy(at, text, size);
        at += size;
        flags = wire::kAllocates;
        break;
      }
      default:
        return 0;
    }
  }
  bytes[0] = flags;
  return static_cast<std::size_t>(at - bytes);
}

// Fills the scratch. Raises, with the scratch in whatever state. [-0, +?, e]
void EncodeAll(lua_State* L, CodecScratch& scratch, int first, int count, const char* root) {
  const int top = lua_gettop(L);
  Encoder::Knowledge knowledge;
  for (;;) {
    Encoder encoder(L, scratch, root, knowledge);
    const Encoder::Result result = encoder.Run(first, count);
    if (result == Encoder::Result::kDone) return;
    lua_settop(L, top);
    scratch.Clear();
    if (result == Encoder::Result::kNeedsObjects) {
      knowledge.keeps_objects = true;
    } else {
      MakeModuleNames(L, MemoryOf(L));
      knowledge.names_are_current = true;
      knowledge.names_are_new = true;
    }
  }
}

// Nothing raises in here. nullptr if memory is short.
Message* MakeMessage(const std::uint8_t* bytes, std::size_t size,
                     std::span<RefCounted* const> references) {
  return Message::New({reinterpret_cast<const std::byte*>(bytes), size}, references).release();
}

// The message of what the scratch holds; large ones take over its memory.
Message* TakeMessage(CodecScratch& scratch) {
  constexpr std::size_t kAdopted = std::size_t{16} * 1024;
  const std::span<RefCounted* const> references(scratch.references.begin(),
                                                scratch.references.size());
  const std::size_t size = scratch.bytes.size() - Message::kHeaderRoom;
  if (size < kAdopted) {
    return MakeMessage(scratch.bytes.begin() + Message::kHeaderRoom, size, references);
  }
  Message* const message = Message::Adopt(scratch.bytes.begin(), size, references).release();
  if (message != nullptr) scratch.bytes.Forget();
  return message;
}

// The message of the values, written in place; nullptr if it is none for EncodeShort, or too large,
// or memory is short.
Message* MakeShortMessage(lua_State* L, int first, int count) {
  MessagePtr message = Message::NewDraft();
  if (message == nullptr) return nullptr;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(message->draft());
  const std::size_t size = EncodeShort(L, first, count, bytes);
  if (size == 0 || size > RecordOf(L).message_limit) return nullptr;
  message->Finish(size);
  return message.release();
}

// Kept out of the way of short messages, which need no stack frame to speak of.
[[gnu::noinline]] Message* MakeLongMessage(lua_State* L, int first, int count, const char* root) {
  const int top = lua_gettop(L);
  CodecScratch& scratch = AcquireScratch(L, __builtin_frame_address(0));
  EncodeAll(L, scratch, first, count, root);
  lua_settop(L, top);
  Message* const message = TakeMessage(scratch);
  ReleaseScratch(scratch);
  if (message == nullptr) RaiseNoMemory(L);
  return message;
}

Message* EncodeTuple(lua_State* L, int first, int count, const char* root) {
  first = lua_absindex(L, first);
  if (Message* const message = MakeShortMessage(L, first, count)) return message;
  return MakeLongMessage(L, first, count, root);
}

// Calls f(name) for each module that the message names, till it returns false.
template <class F>
void ForEachModule(lua_State* L, const Message& message, F f) {
  MessageParts parts;
  if (!ReadParts(message, parts)) RaiseMalformed(L);
  std::uint64_t count = 0;
  if (parts.modules.left() == 0) return;
  if (!parts.modules.Varint(count)) RaiseMalformed(L);
  for (std::string_view module; count != 0; --count) {
    if (!parts.modules.Text(module)) RaiseMalformed(L);
    if (!f(module)) return;
  }
}

// The first module that is neither loaded nor known to fail; empty if there is none.
std::string_view FirstMissing(lua_State* L, const Message& message) {
  std::string_view missing;
  ForEachModule(L, message, [&](std::string_view module) {
    if (!IsModuleSettled(L, module)) missing = module;
    return missing.data() == nullptr;
  });
  return missing;
}

// What RequireModules must know after a wait: a userdata on the stack.
struct Requiring {
  const Message* message;
  std::string_view module;  // in the message
  lua_KContext context;
  lua_KFunction k;
  std::uint32_t unwinding;  // of the task when it began
};

int ContinueRequiring(lua_State* L, int status, lua_KContext index) {
  const int top = static_cast<int>(index);
  auto* const requiring = static_cast<Requiring*>(lua_touserdata(L, top));
  for (;;) {
    if (!requiring->module.empty()) {
      if (status != LUA_OK && status != LUA_YIELD) {
        if (status == LUA_ERRMEM || RecordOf(L).unwinding != requiring->unwinding) {
          return lua_error(L);
        }
        RememberModuleFailure(L, requiring->module);
      } else if (!IsModuleSettled(L, requiring->module)) {
        lua_pushliteral(L, "module was not loaded");
        RememberModuleFailure(L, requiring->module);
      }
    }
    lua_settop(L, top);
    requiring->module = FirstMissing(L, *requiring->message);
    if (requiring->module.empty()) break;
    lua_pushglobaltable(L);
    lua_pushliteral(L, "require");
    lua_rawget(L, -2);
    lua_pushlstring(L, requiring->module.data(), requiring->module.size());
    status = lua_pcallk(L, 1, 0, 0, index, ContinueRequiring);
  }
  const lua_KContext context = requiring->context;
  const lua_KFunction k = requiring->k;
  lua_settop(L, top - 1);
  return k(L, LUA_YIELD, context);
}

}  // namespace

Message* Encode(lua_State* L, int first, int count) {
  return EncodeTuple(L, first, count, nullptr);
}

Message* EncodeNamed(lua_State* L, int index, const char* root) {
  return EncodeTuple(L, index, 1, root);
}

bool DecodeScalars(lua_State* L, const Message& message, int* count) {
  const auto* const start = reinterpret_cast<const std::uint8_t*>(message.bytes().data());
  WireReader reader{start, start + message.bytes().size()};
  if (reader.left() < 2 || start[0] != wire::kPlain || start[1] > kFewValues) return false;
  reader.at += 2;
  for (int pushed = 0; pushed < start[1]; ++pushed) {
    std::uint8_t tag = 0;
    if (reader.Fixed(tag) && PushScalar(L, tag, reader) == ScalarRead::kPushed) continue;
    // Malformed.
    lua_pop(L, pushed);
    return false;
  }
  *count = start[1];
  return true;
}

bool NeedsModules(lua_State* L, const Message& message) {
  return !message.bytes().empty() &&
         (std::to_integer<std::uint8_t>(message.bytes()[0]) & wire::kNeedsModules) != 0 &&
         !FirstMissing(L, message).empty();
}

int RequireModules(lua_State* L, const Message& message, lua_KContext context, lua_KFunction k) {
  luaL_checkstack(L, 10, nullptr);
  auto* const requiring = static_cast<Requiring*>(lua_newuserdatauv(L, sizeof(Requiring), 0));
  *requiring = {&message, {}, context, k, RecordOf(L).unwinding};
  return ContinueRequiring(L, LUA_OK, lua_gettop(L));
}

int Decode(lua_State* L, const Message& message) {
  int count = 0;
  if (DecodeScalars(L, message, &count)) return count;
  MessageParts parts;
  if (!ReadParts(message, parts)) RaiseMalformed(L);
  if (parts.flags != wire::kPlain || parts.count > kFewValues) {
    const auto slots = static_cast<int>(std::min<std::uint64_t>(parts.count, LUAI_MAXSTACK));
    if (lua_checkstack(L, slots + Decoder::kSlots) == 0) {
      luaL_error(L, "stack overflow (a message of too many values)");
    }
  }
  Decoder decoder(L, message, parts, __builtin_frame_address(0));
  decoder.Run(parts.count);
  return static_cast<int>(parts.count);
}

int ValueCount(const Message& message) {
  MessageParts parts;
  return ReadParts(message, parts) ? static_cast<int>(parts.count) : 0;
}

void ForgetModuleNames(lua_State* L) {
  auto* const memory = static_cast<CodecMemory*>(RecordOf(L).codec_scratch);
  if (memory != nullptr) memory->loaded_modules = 0;
  ForgetModuleFailures(L);
}

}  // namespace shoal::core
